//! `demo`: the main job on the bundled practice web; then once more while a tab's process and the
//! whole browser are killed under it. With no key and no network a script plays, behind a model's
//! service of ours; with a key or `--base-url`, the user's own model does.

use std::sync::Arc;

use serde_json::json;

use crate::app::demo::processes::{kill, renderers_of};
use crate::app::models::behind;
use crate::app::running::Begin;
use crate::app::told::trouble;
use crate::app::{Call, Told};
use crate::control::answer::{Answer, Failure};
use crate::domain::ids::SessionName;
use crate::domain::journal::{Entry, Event};
use crate::domain::run::{Consent, OnHold};
use crate::messages::session::SessionMsg;
use crate::ports::browser::{LaunchSpec, ProfileMode};
use crate::ports::model::Model;
use crate::practice::demo as task;
use crate::practice::model::ModelService;
use crate::practice::server::{Options, Practice};

pub mod processes;

/// After which steps of the second run what is killed.
const TAB_DIES_AFTER: u32 = 4;
const BROWSER_DIES_AFTER: u32 = 8;

/// Held acts are what the demo's task is to end with.
const HELD_ONLY: u8 = 3;

/// One play of the task, and what the practice web received.
struct Play {
    answer: Answer,
    ledger: Result<(), Vec<String>>,
}

impl Call<'_> {
    pub async fn demo(&self) -> Told<Answer> {
        let name: SessionName = "demo".parse().expect("`demo` is a session name");
        let played = self.play_both(&name).await;
        if let Err(error) = self.app.close_session(&name).await {
            tracing::warn!(%error, "the demo's browser was not closed");
        }
        let (first, second) = played?;
        Ok(verdict(&first, &second))
    }

    async fn play_both(&self, name: &SessionName) -> Told<(Play, Play)> {
        let spec = self.launch_spec(name)?;
        let spec = LaunchSpec { profile: ProfileMode::Fresh, ..spec };
        let session = self.session_named(name, spec).await?;
        let about = self.ask_session(&session, |reply| SessionMsg::Describe { reply }).await?;
        self.say(format!("browser: {} (pid {})", about.product, about.pid.unwrap_or_default()));
        let who = if self.has_model() {
            &self.config.model.orchestrator
        } else {
            "a script, asked over HTTP as any model"
        };
        self.say(format!("model: {who}"));
        self.say("first, as it comes".into());
        let first = self.play(name, |_| {}).await?;
        self.say("once more, while a tab's process and then the browser are killed".into());
        let killer = Killer { pid: about.pid };
        let second = self.play(name, |entry| killer.strike(entry, self)).await?;
        Ok((first, second))
    }

    async fn play(&self, session: &SessionName, seen: impl FnMut(&Entry)) -> Told<Play> {
        let practice = match Practice::start(Options::default()) {
            Ok(practice) => practice,
            Err(error) => return trouble("daemon", format!("no practice web: {error}")),
        };
        let (model, _service) = self.player(&task::script(&practice)).await?;
        let begin = Begin {
            task: task::task(&practice),
            url: None,
            session: session.clone(),
            consent: Consent::default(),
            model,
            script: None,
            // The held act is what the task is to end with.
            on_hold: OnHold::Skip,
            attended: false,
        };
        let (order, feed) = self.begin(begin).await?;
        let answer = self.watch(&order, feed, seen).await?;
        Ok(Play { answer, ledger: task::verdict(&practice.ledger()) })
    }

    /// Returns who plays: the user's own model where there is one, else a script behind a service
    /// of ours, which serves as long as it is held.
    async fn player(&self, script: &str) -> Told<(Arc<dyn Model>, Option<ModelService>)> {
        if self.has_model() {
            let (model, _) = self.model().await?;
            return Ok((model, None));
        }
        let service = match ModelService::start(script) {
            Ok(service) => service,
            Err(error) => return trouble("daemon", format!("no practice model: {error}")),
        };
        match behind(&service.anthropic()) {
            Ok(model) => Ok((Arc::new(model), Some(service))),
            Err(error) => trouble("model", error.to_string()),
        }
    }

    fn say(&self, text: String) {
        let json = json!({ "said": text });
        self.progress.step(format!("\n── {text}"), json);
    }
}

/// Kills what the second run works with, at its steps.
struct Killer {
    pid: Option<u32>,
}

impl Killer {
    fn strike(&self, entry: &Entry, call: &Call<'_>) {
        let (Event::Came { step, .. }, Some(browser)) = (&entry.what, self.pid) else {
            return;
        };
        let (what, pids) = match *step {
            TAB_DIES_AFTER => ("kill -9 of the tab's process", renderers_of(browser)),
            BROWSER_DIES_AFTER => ("kill -9 of the browser", vec![browser]),
            _ => return,
        };
        call.progress.step(format!("     ✗ {what} {pids:?}"), json!({ "killed": pids }));
        pids.into_iter().for_each(kill);
    }
}

fn verdict(first: &Play, second: &Play) -> Answer {
    let mut faults = Vec::new();
    for (name, play) in [("first", first), ("second", second)] {
        if play.answer.exit != HELD_ONLY {
            faults.push(format!("the {name} run ended otherwise: {}", play.answer.text));
        }
        if let Err(lines) = &play.ledger {
            faults.extend(lines.iter().map(|line| format!("{name} run, site's ledger: {line}")));
        }
    }
    let restarts = &second.answer.data["restarts"];
    for what in ["tab", "browser"] {
        if restarts[what].as_u64().unwrap_or_default() == 0 {
            faults.push(format!("no restart of the {what} stands in the second report"));
        }
    }
    let data = json!({
        "first": first.answer.data, "second": second.answer.data, "faults": faults,
    });
    if !faults.is_empty() {
        let failure = Failure::new("failed", faults.join("\n"));
        return Answer { data, ..Answer::failed(1, failure) };
    }
    let report = |play: &Play| play.answer.data["report"].as_str().unwrap_or_default().to_owned();
    let text = format!(
        "\nBoth runs did the task; `Send` was held for a person each time, and the practice web's \
         own ledger received no message.\nThe second lost its tab {} and its browser {} on the way, \
         and sent nothing twice.\nreports: {}\n         {}",
        times(&restarts["tab"]),
        times(&restarts["browser"]),
        report(first),
        report(second),
    );
    Answer::told(text, data)
}

fn times(count: &serde_json::Value) -> String {
    match count.as_u64().unwrap_or_default() {
        1 => "once".into(),
        count => format!("{count} times"),
    }
}
