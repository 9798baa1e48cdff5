//! The loop of a run: exactly one tool a turn.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::actors::orchestrator::deeds::{Deed, Worker};
use crate::actors::world::World;
use crate::domain::ids::RunId;
use crate::domain::journal::{Entry, Event, Standing, Status, Step};
use crate::domain::outcome::OutcomeKind;
use crate::domain::plan::{Next, Progress, Setback, after, limit_reached};
use crate::domain::report;
use crate::domain::run::RunOrder;
use crate::domain::tool::ToolCall;
use crate::messages::board::Desk;
use crate::messages::books::RunNote;
use crate::messages::ledger::LedgerMsg;
use crate::messages::orchestrator::RunError;
use crate::messages::supervisor::Seat;
use crate::ports::model::{Answer, Conversation, Turn, Usage};

/// How long the ledger may take to write an entry.
const WRITING: Duration = Duration::from_secs(30);

pub struct Loop {
    pub order: RunOrder,
    pub world: World,
    note: RunNote,
    desk: Desk,
    stopped: watch::Receiver<Option<String>>,
    standing: Standing,
    worker: Worker,
    began: Instant,
    errors_in_a_row: u32,
    /// How many deaths were seen so far.
    deaths: usize,
}

/// How the loop ends.
struct End {
    status: Status,
    why: String,
    answer: Option<String>,
}

impl Loop {
    /// Returns the loop of a run that the books know.
    pub fn new(
        run: RunId,
        world: World,
        desk: Desk,
        stopped: watch::Receiver<Option<String>>,
    ) -> Option<Self> {
        let note = world.books.runs.get(&run).map(|note| note.clone())?;
        let worker = Worker::new(&note.order, &world);
        let (_, deaths) = world.books.obituaries.since(0);
        Some(Self {
            order: note.order.clone(),
            worker,
            world,
            note,
            desk,
            stopped,
            standing: Standing::default(),
            began: Instant::now(),
            errors_in_a_row: 0,
            deaths,
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
        if self.standing.began.is_none() {
            let RunOrder { id: run, task, url, .. } = self.order.clone();
            let model = self.note.model.name();
            self.record(Event::Began { run, task, model, url }).await
        } else if self.standing.ended.is_none() {
            let step = self.standing.steps.last().map_or(0, |step| step.number);
            self.record(Event::Resumed { step }).await
        } else {
            Ok(())
        }
    }

    async fn turn_after_turn(&mut self) -> Result<End, RunError> {
        if let Err(why) = self.worker.begin().await {
            return Ok(End { status: Status::Blocked, why, answer: None });
        }
        loop {
            self.note_deaths().await?;
            if let Some(end) = self.due() {
                return Ok(end);
            }
            let step = self.standing.steps.iter().filter(|step| step.outcome.is_some()).count();
            let step = u32::try_from(step).unwrap_or(u32::MAX) + 1;
            let mut stopped = self.stopped.clone();
            let end = tokio::select! {
                end = self.turn(step) => end?,
                // What was dispatched is in doubt then, and the journal says so.
                _ = stopped.wait_for(Option::is_some) => None,
            };
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    /// Says whether the run is over before another turn.
    fn due(&self) -> Option<End> {
        if let Some(why) = self.stopped.borrow().clone() {
            return Some(End { status: Status::Partial, why, answer: None });
        }
        let done = self.standing.steps.iter().filter(|step| step.outcome.is_some()).count();
        let progress = Progress {
            steps: u32::try_from(done).unwrap_or(u32::MAX),
            time: self.began.elapsed(),
            errors_in_a_row: self.errors_in_a_row,
        };
        let why = limit_reached(progress, &self.order.limits)?;
        Some(End { status: Status::Blocked, why, answer: None })
    }

    /// One turn: observe, ask, do, write down.
    async fn turn(&mut self, step: u32) -> Result<Option<End>, RunError> {
        self.desk.post(format!("step {step}: observing"));
        let observation = match self.worker.observe().await {
            Ok(observation) => observation,
            Err(error) => {
                let why = format!("the page cannot be read: {error}");
                return Ok(Some(End { status: Status::Blocked, why, answer: None }));
            }
        };
        let doubt = self.doubt(step);
        let call = match self.standing_call(step) {
            Some(call) => call,
            None => {
                let conversation = self.conversation(step, observation, doubt.clone());
                match self.ask(step, conversation).await? {
                    Ok(call) => call,
                    Err(end) => return Ok(Some(end)),
                }
            }
        };
        if let Some(doubt) = doubt {
            // The act of the last incarnation is never repeated; its step ends here.
            let came = Deed::told("in_doubt", vec![doubt]);
            self.came(step, came).await?;
            return Ok(None);
        }
        let what = call.what();
        self.record(Event::Intended { step, call: call.clone(), what: what.clone() }).await?;
        self.desk.post(format!("step {step}: {what}"));
        if let ToolCall::Finish { answer, .. } = call {
            self.came(step, Deed::told("finished", vec![])).await?;
            return Ok(Some(self.finished(answer)));
        }
        let deed = self.worker.carry_out(&call).await;
        for judged in &deed.judged {
            let (what, url) = (judged.what.clone(), judged.url.clone());
            let (judgement, verdict) = (judged.judgement.clone(), judged.verdict.clone());
            self.record(Event::Judged { step, what, url, judgement, verdict }).await?;
        }
        self.errors_in_a_row = if deed.failed { self.errors_in_a_row + 1 } else { 0 };
        self.came(step, deed).await?;
        Ok(None)
    }

    fn finished(&self, answer: String) -> End {
        let (status, why) = report::verdict(&self.standing);
        End { status, why, answer: Some(answer) }
    }

    /// Asks the model; its answer is on disk before it is used.
    async fn ask(
        &mut self,
        step: u32,
        conversation: Conversation,
    ) -> Result<Result<ToolCall, End>, RunError> {
        let url = self.worker.url();
        let observation_chars = conversation.observation.chars().count();
        self.record(Event::Asked { step, url, observation_chars }).await?;
        self.desk.post(format!("step {step}: asking {}", self.note.model.name()));
        let answer = match self.note.model.answer(&conversation).await {
            Ok(answer) => answer,
            Err(error) => {
                let why = error.to_string();
                return Ok(Err(End { status: Status::Failed, why, answer: None }));
            }
        };
        let Answer { raw, call, usage: Usage { input, output } } = answer;
        let (input_tokens, output_tokens) = (input, output);
        let kept = call.clone();
        self.record(Event::Answered { step, raw, call, input_tokens, output_tokens }).await?;
        Ok(Ok(kept))
    }

    fn conversation(&self, step: u32, observation: String, doubt: Option<String>) -> Conversation {
        let turns = self.standing.steps.iter().filter_map(|step| {
            let (raw, call) = step.answered.clone()?;
            let mut result = step.outcome.clone()?;
            for line in &step.delta {
                result.push('\n');
                result.push_str(line);
            }
            let answer = Answer { raw, call, usage: Usage::default() };
            Some(Turn { answer, result })
        });
        let number = usize::try_from(step).unwrap_or(usize::MAX).saturating_sub(1);
        let observation = match doubt {
            Some(doubt) => format!("{doubt}\n\n{observation}"),
            None => observation,
        };
        Conversation { task: self.order.task.clone(), turns: turns.collect(), observation, number }
    }

    /// The call of a step that an earlier incarnation had an answer for.
    fn standing_call(&self, step: u32) -> Option<ToolCall> {
        let step = self.standing.steps.iter().find(|other| other.number == step)?;
        step.answered.as_ref().map(|(_, call)| call.clone())
    }

    fn doubt(&self, step: u32) -> Option<String> {
        let step = self.standing.steps.iter().find(|other| other.number == step)?;
        // What is the same twice as once is simply done.
        let broken_off = Setback { kind: OutcomeKind::TabRestarted, dispatched: true, repeated: 0 };
        let harmless =
            step.call.as_ref().is_some_and(|call| after(broken_off, call) == Next::Repeat);
        (step.in_doubt() && !harmless).then(|| {
            format!("`{}` was begun and broken off; its effect is unknown: look first", step.what)
        })
    }

    async fn came(&mut self, step: u32, deed: Deed) -> Result<(), RunError> {
        let Deed { outcome, delta, .. } = deed;
        self.record(Event::Came { step, outcome, delta, url: self.worker.url() }).await
    }

    /// Writes down who died since the last look, as far as it concerns this run.
    async fn note_deaths(&mut self) -> Result<(), RunError> {
        let (new, mark) = self.world.books.obituaries.since(self.deaths);
        self.deaths = mark;
        let step = self.standing.steps.last().map_or(0, |step: &Step| step.number);
        let ours: Vec<_> = new.into_iter().filter(|death| self.concerns(&death.seat)).collect();
        for death in ours {
            let what = match death.seat {
                Seat::Session(_) => "browser".to_owned(),
                Seat::Tab(_) => "tab".to_owned(),
                Seat::Perception(_) => "perception".to_owned(),
                seat => seat.to_string(),
            };
            self.record(Event::Restarted { step, what, why: death.why }).await?;
        }
        Ok(())
    }

    fn concerns(&self, seat: &Seat) -> bool {
        match seat {
            Seat::Session(name) => *name == self.order.session,
            Seat::Tab(tab) | Seat::Perception(tab) => self.worker.owns(*tab),
            Seat::Guard => true,
            Seat::Ledger(run) | Seat::Orchestrator(run) => *run == self.order.id,
            _ => false,
        }
    }

    async fn record(&mut self, event: Event) -> Result<(), RunError> {
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
