//! The verbs of runs: begun, watched, listed, told, stopped.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::broadcast;

use crate::actors::world::World;
use crate::app::lines::line;
use crate::app::rows::{RunRow, RunState};
use crate::app::told::{not_answered, trouble, usage};
use crate::app::{App, Call, Told};
use crate::control::answer::{Answer, Failure};
use crate::domain::address::address;
use crate::domain::cost::Usage;
use crate::domain::ids::{RunId, SessionName};
use crate::domain::journal::{
    Ending, Entry, Event, Judged, Need, Standing, Status, VERSION, Verdict,
};
use crate::domain::report;
use crate::domain::run::{Consent, ContextBounds, Limits, OnHold, RunOrder};
use crate::messages::books::RunNote;
use crate::messages::orchestrator::RunMsg;
use crate::messages::session::SessionMsg;
use crate::messages::supervisor::{Seat, SupervisorMsg};
use crate::model::script::Script;
use crate::ports::model::Model;
use crate::ports::store::{Counter, Durability};

/// How long a stop may take to reach its run.
const STOPPING: Duration = Duration::from_secs(10);
/// How many entries a watcher may lag behind before it misses some.
const FEED: usize = 1_000;

/// What a run is begun with.
pub struct Begin {
    pub task: String,
    pub url: Option<String>,
    pub session: SessionName,
    pub consent: Consent,
    pub model: Arc<dyn Model>,
    /// A script's text, kept in the run's folder.
    pub script: Option<String>,
    pub on_hold: OnHold,
    /// Somebody sits before it, and can be asked.
    pub attended: bool,
}

impl Call<'_> {
    pub async fn run(&self, task: &str, url: Option<&str>) -> Told<Answer> {
        let url = match url.map(address).transpose() {
            Ok(url) => url.map(String::from),
            Err(error) => return usage(error.to_string()),
        };
        if task.trim().is_empty() {
            return usage("the task is empty; say what is to be done");
        }
        let (model, script) = self.model().await?;
        let session = self.session_name();
        // The browser is there before the run is: one that cannot start is no run.
        let address = self.session().await?;
        self.ask_session(&address, |reply| SessionMsg::Describe { reply }).await?;
        let attended = self.request.context.terminal && !self.request.globals.json;
        let usual = if attended { OnHold::Ask } else { OnHold::Skip };
        let on_hold = self.request.globals.on_hold.unwrap_or(usual);
        let (task, consent) = (task.to_owned(), self.consent());
        let begin = Begin { task, url, session, consent, model, script, on_hold, attended };
        let (order, feed) = self.begin(begin).await?;
        self.watch(&order, feed, |_| {}).await
    }

    /// Takes a run on.
    pub async fn begin(&self, begin: Begin) -> Told<(RunOrder, broadcast::Receiver<Entry>)> {
        let world = &self.app.world;
        let Begin { task, url, session, consent, model, script, on_hold, attended } = begin;
        let stored = |error: crate::ports::store::StoreError| {
            Box::new(Answer::failed(4, Failure::new("store", error.to_string())))
        };
        let id = RunId(world.store.next(Counter::Run).await.map_err(stored)?);
        let began = world.clock.now();
        let folder = self.app.home.folder().join("runs").join(folder_name(began, id, &task));
        let (limits, expect) = (self.limits(), self.request.globals.expect);
        let context = self.context();
        let price = self.config.price_of(&model.name());
        let order = RunOrder {
            id,
            task,
            url,
            session,
            folder: folder.clone(),
            limits,
            expect,
            consent,
            on_hold,
            attended,
            display: self.request.context.environment.has_display(),
            named: script.as_deref().map(addresses).unwrap_or_default(),
            price,
            context,
        };
        if let Some(script) = script {
            let written = world.files.write(&folder.join("script.jsonl"), script.as_bytes()).await;
            written.or_else(|error| trouble("disk", error.to_string()))?;
        }
        let row = RunRow {
            id,
            task: order.task.clone(),
            session: order.session.to_string(),
            state: RunState::Running,
            folder,
            began,
            ended: None,
            why: String::new(),
            price: order.price,
        };
        row.keep(world).await.map_err(stored)?;
        let (feed, heard) = broadcast::channel(FEED);
        world.books.runs.insert(id, RunNote { order: order.clone(), model, feed });
        let seat = Seat::RunGroup(id);
        let add = |reply| SupervisorMsg::Add { seat, reply };
        let Some(runs) = world.doors.supervisors.find(&Seat::Runs) else {
            return trouble("daemon", "the daemon is ending; try again");
        };
        match runs.ask(add, STOPPING).await {
            Ok(Ok(())) => Ok((order, heard)),
            Ok(Err(error)) => trouble("daemon", error.to_string()),
            Err(error) => Err(not_answered("the runs' supervisor", error)),
        }
    }

    fn context(&self) -> ContextBounds {
        let context = &self.config.context;
        ContextBounds {
            recent_steps: context.recent_steps.get(),
            text: context.text.get(),
            markdown: context.markdown.get(),
            fold_at: context.fold_at.get(),
        }
    }

    fn limits(&self) -> Limits {
        let limits = &self.config.limits;
        Limits {
            steps: limits.steps.get(),
            time: Duration::from_secs(60) * limits.minutes.get(),
            errors_in_a_row: limits.errors_in_a_row.get(),
            without_progress: limits.without_progress.get(),
            step_time: limits.step.0,
            action_time: limits.action.0,
            navigation_time: limits.navigation.0,
            tokens: Some(limits.tokens).filter(|tokens| *tokens > 0),
            cost: Some(limits.cost).filter(|dollars| *dollars > 0.0),
        }
    }

    /// Shows a run's steps until it is over, and answers with its report. A caller that goes away
    /// stops it.
    pub async fn watch(
        &self,
        order: &RunOrder,
        mut feed: broadcast::Receiver<Entry>,
        mut seen: impl FnMut(&Entry),
    ) -> Told<Answer> {
        let over = self.app.over(order.id);
        tokio::pin!(over);
        let (mut told, mut usage) = (false, Usage::default());
        loop {
            tokio::select! {
                biased;
                entry = feed.recv() => match entry {
                    Ok(entry) => {
                        seen(&entry);
                        if let Event::Answered { usage: more, .. }
                        | Event::Unanswered { usage: more, .. } = &entry.what
                        {
                            usage += *more;
                        }
                        self.show(&entry, order, usage).await;
                    }
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => {
                        (&mut over).await;
                        break;
                    }
                },
                () = &mut over => break,
                () = self.progress.closed(), if !told => {
                    told = true;
                    self.app.stop_run(order.id, "the caller went away").await;
                }
            }
        }
        self.app.finish(order).await
    }

    /// Tells an entry, with what the run used so far, and with all that a person needs to decide.
    async fn show(&self, entry: &Entry, order: &RunOrder, usage: Usage) {
        let Some(text) = line(entry) else { return };
        let mut told = json!(entry);
        told["tokens"] = json!(usage.tokens());
        told["cost"] = json!(order.price.map(|price| price.of(usage)));
        if let Event::Waiting { need: Need::Approval { hold, .. }, .. } = &entry.what {
            told["payload"] = json!(self.payload_of(*hold).await);
        }
        self.progress.step(text, told);
    }

    pub async fn runs(&self) -> Told<Answer> {
        let mut rows = match RunRow::all(&self.app.world).await {
            Ok(rows) => rows,
            Err(error) => return trouble("store", error.to_string()),
        };
        rows.reverse();
        let line = |row: &RunRow| {
            let (id, state) = (row.id.to_string(), row.state.word());
            format!("{id:<4} {state:<11} {} {}", minute(row.began), row.task)
        };
        let text = rows.iter().map(line).collect::<Vec<_>>().join("\n");
        let text = if text.is_empty() { "no runs yet".to_owned() } else { text };
        let told: Vec<_> = rows
            .iter()
            .map(|row| {
                json!({
                    "id": row.id.to_string(), "task": row.task, "state": row.state,
                    "session": row.session, "folder": row.folder, "began": row.began,
                    "ended": row.ended, "why": row.why,
                })
            })
            .collect();
        Ok(Answer::told(text, json!({ "runs": told })))
    }

    pub async fn logs(&self, id: RunId) -> Told<Answer> {
        let row = self.row(id).await?;
        let entries = self.app.journal(id).await;
        let lines: Vec<_> = entries.iter().filter_map(line).collect();
        let data = json!({ "id": id.to_string(), "state": row.state, "entries": entries });
        Ok(Answer::told(lines.join("\n"), data))
    }

    pub async fn stop(&self, id: RunId) -> Told<Answer> {
        let row = self.row(id).await?;
        if row.state != RunState::Running || !self.app.stop_run(id, "stopped by a person").await {
            let why = format!("{id} is not running: it is {}", row.state.word());
            return Err(Box::new(Answer::failed(1, Failure::new("refused", why))));
        }
        self.app.over(id).await;
        let text = format!("{id} is stopped; its report is in {}", row.folder.display());
        Ok(Answer::told(text, json!({ "id": id.to_string(), "folder": row.folder })))
    }

    pub async fn row(&self, id: RunId) -> Told<RunRow> {
        match RunRow::find(&self.app.world, id).await {
            Ok(Some(row)) => Ok(row),
            Ok(None) => {
                let failure = Failure::new("not_found", format!("there is no run {id}"));
                Err(Box::new(Answer::failed(1, failure.hint("see `strawmanus runs`"))))
            }
            Err(error) => trouble("store", error.to_string()),
        }
    }
}

impl App {
    /// Tells a run to end. Says whether there was one to tell.
    pub async fn stop_run(&self, id: RunId, why: &str) -> bool {
        let Some(run) = self.world.doors.orchestrators.find(&id) else {
            return false;
        };
        let why = why.to_owned();
        run.ask(|reply| RunMsg::Stop { why, reply }, STOPPING).await.is_ok()
    }

    /// Resolves when the loop of a run is over, however it ended.
    pub async fn over(&self, id: RunId) {
        if let Some(run) = self.world.doors.orchestrators.find(&id) {
            run.closed().await;
        }
    }

    pub async fn stop_runs(&self) {
        let runs: Vec<_> = self.world.books.runs.iter().map(|note| *note.key()).collect();
        for id in &runs {
            self.stop_run(*id, "the daemon is ending").await;
        }
        for id in &runs {
            // A run that does not end is seen as interrupted by the next daemon.
            let _ = tokio::time::timeout(STOPPING, self.over(*id)).await;
        }
    }

    pub async fn journal(&self, id: RunId) -> Vec<Entry> {
        let lines = self.world.store.journal(id).await.unwrap_or_else(|error| {
            tracing::warn!(%id, %error, "a journal cannot be read");
            Vec::new()
        });
        lines.iter().filter_map(|line| Entry::parse(line).ok()).collect()
    }

    /// Settles a run whose loop is over: one that broke off gets its end and its report here.
    async fn finish(&self, order: &RunOrder) -> Told<Answer> {
        let world = &self.world;
        let mut entries = self.journal(order.id).await;
        let mut standing = Standing::of(&entries);
        let mut warnings = Vec::new();
        if standing.ended.is_none() {
            let why = "the run's loop broke off; see `strawmanus logs` and the daemon's log".into();
            let what = Event::Ended { status: Status::Failed, why, answer: None };
            let entry = Entry { v: VERSION, at: world.clock.now(), what };
            let line = serde_json::to_string(&entry).expect("an entry is plain data");
            if let Err(error) = world.store.append(order.id, line, Durability::Synced).await {
                warnings.push(format!("the end was not written to the journal: {error}"));
            }
            standing.take(&entry);
            entries.push(entry);
            warnings.extend(write_reports(world, order, &standing, &entries).await);
        }
        self.dismiss_run(order.id).await;
        let ending = standing.ended.clone().unwrap_or_else(|| Ending {
            status: Status::Failed,
            why: String::new(),
            answer: None,
        });
        if let Ok(Some(row)) = RunRow::find(world, order.id).await
            && let Err(error) = row.ended(&ending, world.clock.now()).keep(world).await
        {
            warnings.push(format!("the run's row was not written: {error}"));
        }
        let mut answer = told(order, &standing, &ending);
        answer.warnings = warnings;
        Ok(answer)
    }

    async fn dismiss_run(&self, id: RunId) {
        if let Some(runs) = self.world.doors.supervisors.find(&Seat::Runs) {
            let remove = |reply| SupervisorMsg::Remove { seat: Seat::RunGroup(id), reply };
            // Unknown when it was given up already.
            let _ = runs.ask(remove, STOPPING).await;
        }
        self.world.books.runs.remove(&id);
    }
}

async fn write_reports(
    world: &World,
    order: &RunOrder,
    standing: &Standing,
    entries: &[Entry],
) -> Option<String> {
    let files = match report::files(order, standing, entries) {
        Ok(files) => files,
        Err(error) => return Some(error.to_string()),
    };
    for (name, text) in files {
        if let Err(error) = world.files.write(&order.folder.join(name), text.as_bytes()).await {
            return Some(error.to_string());
        }
    }
    None
}

fn told(order: &RunOrder, standing: &Standing, ending: &Ending) -> Answer {
    let path = order.folder.join("report.md");
    let last = report::status_line(order, standing);
    let mut text = ending.answer.clone().unwrap_or_default();
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(&format!("{last}\nreport: {}", path.display()));
    let hold = |judged: &Judged| match judged.verdict {
        Verdict::Held { id } => id.to_string(),
        Verdict::Passed | Verdict::Allowed | Verdict::Approved { .. } => String::new(),
    };
    let held: Vec<_> = standing
        .held()
        .map(|(_, judged)| {
            json!({
                "id": hold(judged), "what": judged.what, "url": judged.url,
                "why": judged.judgement.why,
            })
        })
        .collect();
    let data = json!({
        "id": order.id.to_string(),
        "status": ending.status.word(),
        "why": ending.why,
        "answer": ending.answer,
        "steps": standing.steps.len(),
        "held": held,
        "restarts": standing.restarts,
        "report": path,
        "folder": order.folder,
    });
    let exit = report::exit_code(standing);
    let outcome = RunState::from(ending.status).word().to_owned();
    let error = match exit {
        0 => None,
        3 => {
            let act =
                |judged: &Judged| format!("{} {} at {}", hold(judged), judged.what, judged.url);
            let acts: Vec<_> = standing.held().map(|(_, judged)| act(judged)).collect();
            let failure = Failure::new("held", format!("held for a person: {}", acts.join("; ")));
            Some(failure.hint(HELD))
        }
        _ => Some(Failure::new(outcome.clone(), ending.why.clone())),
    };
    Answer { exit, outcome: Some(outcome), data, text, error, ..Answer::default() }
}

/// The addresses of a script, which was read before.
fn addresses(script: &str) -> Vec<String> {
    Script::parse("", script).map(|script| script.addresses()).unwrap_or_default()
}

const HELD: &str = "a person says `strawmanus approve ID` or `strawmanus deny ID`";

fn minute(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// `20261130-164512-r7-book-a-table`.
fn folder_name(at: jiff::Timestamp, id: RunId, task: &str) -> PathBuf {
    let mut slug = String::new();
    for c in task.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
        if slug.chars().count() >= 40 {
            break;
        }
    }
    let stamp = at.strftime("%Y%m%d-%H%M%S");
    Path::new(&format!("{stamp}-{id}-{}", slug.trim_matches('-'))).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_safely() {
        let at = "2026-11-30T16:45:12Z".parse().unwrap();
        let name = |task: &str| folder_name(at, RunId(7), task).display().to_string();
        assert_eq!(name("Book a table!"), "20261130-164512-r7-book-a-table");
        assert_eq!(name("../../etc/passwd"), "20261130-164512-r7-etc-passwd");
        assert_eq!(name("가격 비교"), "20261130-164512-r7-가격-비교");
        assert!(name(&"long ".repeat(40)).chars().count() < 65);
    }
}
