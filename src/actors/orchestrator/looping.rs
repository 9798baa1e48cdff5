//! The loop of a run: exactly one tool a turn.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::actors::orchestrator::deeds::{Deed, NO_CALL, has_failed};
use crate::actors::orchestrator::people::{APPROVED, People};
use crate::actors::orchestrator::tally::Tally;
use crate::actors::orchestrator::telling::Asked;
use crate::actors::orchestrator::worker::Worker;
use crate::actors::world::World;
use crate::domain::discretion::is_hidden;
use crate::domain::ids::RunId;
use crate::domain::journal::{
    Answered, Entry, Event, Judged, Source, Standing, Status, Step, Verdict,
};
use crate::domain::known::Known;
use crate::domain::outcome::OutcomeKind;
use crate::domain::page::observation::Observation;
use crate::domain::plan::{Next, Progress, Setback, after, limit_reached, without_progress};
use crate::domain::report;
use crate::domain::run::RunOrder;
use crate::domain::tool::ToolCall;
use crate::messages::board::Desk;
use crate::messages::books::RunNote;
use crate::messages::ledger::LedgerMsg;
use crate::messages::orchestrator::RunError;
use crate::messages::supervisor::Seat;
use crate::messages::tab::TabError;

/// How long the ledger may take to write an entry.
const WRITING: Duration = Duration::from_secs(30);

pub struct Loop {
    pub order: RunOrder,
    pub world: World,
    pub note: RunNote,
    pub desk: Desk,
    stopped: watch::Receiver<Option<String>>,
    pub people: People,
    pub standing: Standing,
    pub worker: Worker,
    /// The page as the model knows it.
    pub shown: Option<Observation>,
    /// Where the run may go.
    known: Known,
    /// The pages that it really read, oldest first.
    pub read_pages: Vec<Source>,
    /// What the step under way waited for.
    pub tally: Tally,
    begun: bool,
    born: Instant,
    /// How long earlier incarnations took.
    earlier: Duration,
}

/// How the loop ends.
pub struct End {
    pub status: Status,
    pub why: String,
    pub answer: Option<String>,
}

/// How the loop is reached while it runs.
pub struct Line {
    /// Why the run is to end, once somebody wants it to.
    pub stopped: watch::Receiver<Option<String>>,
    pub people: People,
}

impl Loop {
    /// Returns the loop of a run that the books know.
    pub fn new(
        run: RunId,
        world: World,
        desk: Desk,
        Line { stopped, people }: Line,
    ) -> Option<Self> {
        let note = world.books.runs.get(&run).map(|note| note.clone())?;
        let worker = Worker::new(&note.order, &world);
        let mut tally = Tally::default();
        // What earlier incarnations waited is no part of a step to come.
        tally.close(worker.waited());
        let (_, mark) = world.books.obituaries.since(0);
        world.books.deaths_noted.entry(run).or_insert(mark);
        Some(Self {
            order: note.order.clone(),
            worker,
            world,
            known: known(&note.order),
            note,
            desk,
            stopped,
            people,
            standing: Standing::default(),
            shown: None,
            read_pages: Vec::new(),
            tally,
            begun: false,
            born: Instant::now(),
            earlier: Duration::ZERO,
        })
    }

    /// Runs to the end, with a report.
    pub async fn run(mut self) -> Result<(), RunError> {
        self.recall().await?;
        if self.standing.ended.is_none() {
            let End { status, why, answer } = self.turn_after_turn().await?;
            self.desk.post("writing the report");
            self.note_deaths().await?;
            self.record(Event::Ended { status, why, answer }).await?;
        }
        // A turn that was stopped may have written more than this loop has seen.
        let entries = self.replay().await?;
        self.write_reports(&Standing::of(&entries), &entries).await?;
        self.worker.leave().await;
        Ok(())
    }

    /// Reads where the run stands, and says that it begins or goes on.
    async fn recall(&mut self) -> Result<(), RunError> {
        self.standing = Standing::of(&self.replay().await?);
        self.remember();
        if let (Some(began), Some(last)) = (self.standing.began, self.standing.last) {
            self.earlier = last.duration_since(began).try_into().unwrap_or_default();
        }
        if self.standing.began.is_none() {
            let RunOrder { id: run, task, url, expect, .. } = self.order.clone();
            let model = self.note.model.name();
            self.record(Event::Began { run, task, model, url, expect }).await
        } else if self.standing.ended.is_none() {
            let step = self.standing.steps.last().map_or(0, |step| step.number);
            self.record(Event::Resumed { step }).await
        } else {
            Ok(())
        }
    }

    /// Knows the pages again that earlier incarnations read.
    fn remember(&mut self) {
        for step in &self.standing.steps {
            self.known.saw(&step.url);
            if let (Some(at), Some(_)) = (step.began, &step.told) {
                let (url, title) = (step.url.clone(), String::new());
                self.read_pages.push(Source { url, title, at });
            }
        }
    }

    /// Looks at the page, and remembers where it leads.
    async fn observe(&mut self) -> Result<(), TabError> {
        self.worker.observe().await?;
        let Some(page) = &self.worker.newest else { return Ok(()) };
        self.known.saw(&page.url);
        page.links.iter().for_each(|link| self.known.saw(link));
        if self.read_pages.last().is_none_or(|last| last.url != page.url) {
            let (url, title, at) = (page.url.clone(), page.title.clone(), self.world.clock.now());
            self.read_pages.push(Source { url, title, at });
        }
        Ok(())
    }

    async fn turn_after_turn(&mut self) -> Result<End, RunError> {
        loop {
            self.note_deaths().await?;
            if let Some(end) = self.due() {
                return Ok(end);
            }
            let step = self.standing.steps.iter().filter(|step| step.outcome.is_some()).count();
            let step = u32::try_from(step).unwrap_or(u32::MAX) + 1;
            let mut stopped = self.stopped.clone();
            let left = self.order.limits.time.saturating_sub(self.time());
            let end = tokio::select! {
                end = self.turn(step) => end?,
                // What was dispatched is in doubt then, and the journal says so.
                _ = stopped.wait_for(Option::is_some) => None,
                () = sleep(left) => None,
            };
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    /// How long the run takes so far, over all incarnations.
    fn time(&self) -> Duration {
        self.earlier.saturating_add(self.born.elapsed())
    }

    /// Says whether the run is over before another turn.
    fn due(&self) -> Option<End> {
        let last = self.standing.steps.last().filter(|step| step.outcome.is_some());
        if let Some(ToolCall::Finish { answer, .. }) = last.and_then(|step| step.call.as_ref()) {
            // An earlier incarnation finished, and died before it said so.
            return Some(self.finished(answer.clone()));
        }
        if let Some(why) = self.stopped.borrow().clone() {
            return Some(End { status: Status::Partial, why, answer: None });
        }
        let done = self.standing.steps.iter().filter(|step| step.outcome.is_some());
        let errors = done.clone().rev().take_while(|step| {
            step.outcome.as_ref().is_some_and(|outcome| has_failed(outcome, &step.delta))
        });
        let counted = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let progress = Progress {
            errors_in_a_row: counted(errors.count()),
            steps: counted(done.count()),
            time: self.time(),
            without_progress: without_progress(&self.standing.steps),
        };
        let why = limit_reached(progress, &self.order.limits)?;
        Some(End { status: Status::Blocked, why, answer: None })
    }

    /// One turn: observe, ask, do, write down.
    async fn turn(&mut self, step: u32) -> Result<Option<End>, RunError> {
        if !self.begun {
            if let Err(why) = self.worker.begin(self.standing.steps.is_empty()).await {
                return Ok(Some(End { status: Status::Blocked, why, answer: None }));
            }
            self.begun = true;
        }
        if let Some(deed) = self.loose_end(step) {
            // The act of the last incarnation is never repeated; its step ends here.
            self.came(step, deed).await?;
            return Ok(None);
        }
        self.desk.post(format!("step {step}: observing"));
        if let Err(error) = self.observe().await {
            return Ok(Some(End::blocked(format!("the page cannot be read: {error}"))));
        }
        let call = match self.standing_call(step) {
            Some(call) => call,
            None => match self.ask(step).await? {
                Asked::Call(call) => call,
                Asked::Fault => return Ok(None),
                Asked::Over(end) => return Ok(Some(end)),
            },
        };
        let (_, shown) = self.worker.discreet(String::new(), &call);
        let what = self.worker.in_words(&shown);
        self.record(Event::Intended { step, call: shown, what: what.clone() }).await?;
        self.desk.post(format!("step {step}: {what}"));
        if let ToolCall::Finish { answer, .. } = call {
            self.came(step, Deed::told("finished", vec![])).await?;
            return Ok(Some(self.finished(answer)));
        }
        let deed = match self.beside(step, &call).await? {
            Some(deed) => deed,
            None => self.carry_out(step, &call).await?,
        };
        self.came(step, deed).await?;
        Ok(None)
    }

    /// Does what a call wants of the browser, and writes down what the guard made of it.
    async fn carry_out(&mut self, step: u32, call: &ToolCall) -> Result<Deed, RunError> {
        if let Some(guessed) = opens(call).and_then(|url| self.known.may_open(url).err()) {
            let hint = "a search or a link on the page leads on";
            return Ok(Deed::refused(guessed.to_string(), hint));
        }
        let mut deed = self.try_out(call).await;
        if deed.held().is_some() {
            deed = self.decide(step, call, deed).await?;
        }
        self.note_judged(step, &deed.judged).await?;
        Ok(deed)
    }

    /// Does it, within the time of a step.
    pub async fn try_out(&mut self, call: &ToolCall) -> Deed {
        let patience = self.order.limits.step_time;
        let deed = timeout(patience, self.worker.carry_out(call)).await;
        deed.unwrap_or_else(|_elapsed| {
            let why = format!("the step did not end within {patience:?}");
            Deed::told(OutcomeKind::InDoubt.word(), vec![why])
        })
    }

    pub async fn note_judged(&mut self, step: u32, judged: &[Judged]) -> Result<(), RunError> {
        for judged in judged {
            let (what, url) = (judged.what.clone(), judged.url.clone());
            let (judgement, verdict) = (judged.judgement.clone(), judged.verdict.clone());
            self.record(Event::Judged { step, what, url, judgement, verdict }).await?;
        }
        Ok(())
    }

    fn finished(&self, answer: String) -> End {
        let (status, why) = report::verdict(&self.standing);
        End { status, why, answer: Some(answer) }
    }

    /// The call of a step that an earlier incarnation had an answer for.
    fn standing_call(&self, step: u32) -> Option<ToolCall> {
        let step = self.standing.steps.iter().find(|other| other.number == step)?;
        let call = step.answered.as_ref().and_then(|answered| answered.call.clone())?;
        // A secret was not kept: the model is asked for it once more.
        (!is_hidden(&call)).then_some(call)
    }

    /// How a step ends that an earlier incarnation began and did not see the end of; one whose act
    /// is the same twice as once is simply done.
    fn loose_end(&self, step: u32) -> Option<Deed> {
        let step = self.standing.steps.iter().find(|other| other.number == step)?;
        if let Some(Answered { call: None, note, .. }) = &step.answered {
            return Some(Deed::told(NO_CALL, note.iter().cloned().collect()));
        }
        let broken_off = Setback { kind: OutcomeKind::TabRestarted, dispatched: true, repeated: 0 };
        let call = step.call.as_ref().filter(|_| step.in_doubt())?;
        if after(broken_off, call) == Next::Repeat {
            return None;
        }
        // Approved, and perhaps done: whoever was to write that down died.
        let approved = step.met.as_deref() == Some(APPROVED);
        let judged = step.judged.iter().filter(|_| !approved);
        let held = judged.into_iter().find_map(|judged| match judged.verdict {
            Verdict::Held { id } => Some(format!("held for a person as {id}: {}", judged.what)),
            Verdict::Passed | Verdict::Allowed | Verdict::Approved { .. } => None,
        });
        let unknown = || {
            let what = &step.what;
            format!("`{what}` was begun and broken off; its effect is unknown: look first")
        };
        Some(match held {
            Some(held) => Deed::told(OutcomeKind::Held.word(), vec![held]),
            None => Deed::told(OutcomeKind::InDoubt.word(), vec![unknown()]),
        })
    }

    pub async fn came(&mut self, step: u32, deed: Deed) -> Result<(), RunError> {
        let Deed { outcome, delta, picture, .. } = deed;
        let url = self.worker.url();
        let spent = self.tally.close(self.worker.waited());
        self.record(Event::Came { step, outcome, delta, url, picture, spent }).await
    }

    /// Writes down who died since the last look, as far as it concerns this run; what an earlier
    /// incarnation has written down is not written again.
    async fn note_deaths(&mut self) -> Result<(), RunError> {
        self.worker.note_tabs();
        let books = self.world.books.clone();
        let run = self.order.id;
        let noted = books.deaths_noted.get(&run).map_or(0, |noted| *noted);
        let (new, end) = books.obituaries.since(noted);
        let step = self.standing.steps.last().map_or(0, |step: &Step| step.number);
        for (mark, death) in (end - new.len() + 1..).zip(new) {
            if self.concerns(&death.seat) {
                let what = named(&death.seat);
                self.record(Event::Restarted { step, what, why: death.why }).await?;
            }
            books.deaths_noted.insert(run, mark);
        }
        Ok(())
    }

    fn concerns(&self, seat: &Seat) -> bool {
        match seat {
            Seat::Session(name) => *name == self.order.session,
            Seat::Tab(tab) | Seat::Perception(tab) => self.worker.had(*tab),
            Seat::Guard => true,
            Seat::Ledger(run) | Seat::Orchestrator(run) => *run == self.order.id,
            _ => false,
        }
    }

    pub async fn record(&mut self, event: Event) -> Result<(), RunError> {
        let ledger = self.world.doors.ledgers.find(&self.order.id);
        let ledger = ledger.ok_or_else(|| RunError::Journal("its ledger is gone".into()))?;
        let ask = |reply| LedgerMsg::Record { event: Box::new(event), reply };
        let entry = ledger.ask(ask, WRITING).await;
        let entry = entry.map_err(|error| RunError::Journal(error.to_string()))?;
        let entry = entry.map_err(|error| RunError::Journal(error.to_string()))?;
        self.standing.take(&entry);
        Ok(())
    }

    async fn replay(&self) -> Result<Vec<Entry>, RunError> {
        let ledger = self.world.doors.ledgers.find(&self.order.id);
        let ledger = ledger.ok_or_else(|| RunError::Journal("its ledger is gone".into()))?;
        let entries = ledger.ask(|reply| LedgerMsg::Replay { reply }, WRITING).await;
        let entries = entries.map_err(|error| RunError::Journal(error.to_string()))?;
        entries.map_err(|error| RunError::Journal(error.to_string()))
    }
}

/// What the user named in the order.
fn known(order: &RunOrder) -> Known {
    let mut known = Known::default();
    known.named(&order.task);
    order.url.iter().chain(&order.named).for_each(|url| known.named(url));
    known
}

/// Where a call would go by itself.
fn opens(call: &ToolCall) -> Option<&str> {
    match call {
        ToolCall::Navigate { url } | ToolCall::Restart { url } => Some(url),
        ToolCall::Tabs { url: Some(url), .. } => Some(url),
        _ => None,
    }
}

/// What a report counts a death as.
fn named(seat: &Seat) -> String {
    match seat {
        Seat::Session(_) => "browser".into(),
        Seat::Tab(_) => "tab".into(),
        Seat::Perception(_) => "perception".into(),
        Seat::Ledger(_) => "ledger".into(),
        Seat::Orchestrator(_) => "orchestrator".into(),
        seat => seat.to_string(),
    }
}
