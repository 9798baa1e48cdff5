//! What a run's caller sees and says: live steps, questions to the person, Ctrl-C. Pure: what is to be
//! done in the world is returned as [`Deed`]s.
use std::time::Duration;

use serde_json::Value;

use crate::cli::plain::{harmless, one_line};
use crate::cli::run::steps::{StepLine, Steps};
use crate::control::answer::{Answer, Failure};
use crate::control::verbs::Verb;
use crate::domain::ids::RunId;
use crate::domain::journal::{Entry, Event, Need};

/// The daemon's answer to a stop is waited for this long, then the person is told what to do.
const STOPPING: Duration = Duration::from_secs(10);
/// As shells write it: ended by an interrupt.
const INTERRUPTED: u8 = 130;

/// What comes to the face.
#[derive(Debug)]
pub enum Heard<'a> {
    /// The daemon tells of a step.
    Step(&'a str, &'a Value),
    /// The person typed a line.
    Typed(String),
    /// There is nobody to type.
    EndOfInput,
    /// Ctrl-C.
    Interrupt,
    /// What came of a verb that was sent beside the run.
    Told(Box<Answer>),
    /// Time has gone by.
    Tick,
}

/// What is to be done in the world.
#[derive(Debug, PartialEq)]
pub enum Deed {
    /// Show a step.
    Step(StepLine),
    /// Show a line as it is; also where live steps are not shown.
    Say(String),
    /// Read what the person types; what was typed before does not count.
    Listen,
    /// Ask the daemon for this, beside the run.
    Send(Verb),
    /// End the program with this answer.
    Leave(Box<Answer>),
}

/// What stands below the last line, for now.
#[derive(Debug, Clone, PartialEq)]
pub enum Tail {
    Nothing,
    Doing(StepLine),
    /// A question; the person types behind it.
    Prompt(&'static str),
}

/// One run, as its caller knows it.
#[derive(Debug, Default)]
pub struct Face {
    /// Somebody sits before it.
    attended: bool,
    steps: Steps,
    run: Option<RunId>,
    asking: Option<Need>,
    /// When the person wanted it to stop, and whether they were told that it takes long.
    stopping: Option<(Duration, bool)>,
}

impl Face {
    pub fn new(attended: bool) -> Self {
        Self { attended, ..Self::default() }
    }

    /// Takes in what was heard, `time` after the run was asked for.
    pub fn update(&mut self, heard: Heard<'_>, time: Duration) -> Vec<Deed> {
        self.steps.spent.time = time;
        match heard {
            Heard::Step(text, json) => self.step(text, json, time),
            Heard::Typed(line) => self.answer(line.trim()),
            Heard::EndOfInput => self.answer(""),
            Heard::Interrupt => self.interrupt(time),
            Heard::Told(answer) => complaint(&answer).map(Deed::Say).into_iter().collect(),
            Heard::Tick => self.grow_impatient(time).into_iter().collect(),
        }
    }

    pub fn tail(&self) -> Tail {
        match &self.asking {
            Some(Need::Approval { .. }) => Tail::Prompt("   approve? [y/N] "),
            Some(Need::Answer { .. }) => Tail::Prompt("   answer: "),
            Some(Need::Takeover { .. }) => Tail::Prompt("   Enter when it is done: "),
            None => self.steps.doing().map_or(Tail::Nothing, Tail::Doing),
        }
    }

    fn step(&mut self, text: &str, json: &Value, time: Duration) -> Vec<Deed> {
        let event = serde_json::from_value::<Entry>(json.clone()).ok().map(|entry| entry.what);
        match event {
            Some(Event::Began { run, .. }) => self.run = Some(run),
            Some(Event::Waiting { need, .. }) if self.attended && self.stopping.is_none() => {
                return self.ask(need, json);
            }
            Some(Event::Met { .. } | Event::Ended { .. }) => self.asking = None,
            _ => {}
        }
        self.steps.take(text, json, time).map(Deed::Step).into_iter().collect()
    }

    fn ask(&mut self, need: Need, json: &Value) -> Vec<Deed> {
        let block = block(&need, json["payload"].as_str().unwrap_or_default());
        self.asking = Some(need);
        vec![Deed::Say(block), Deed::Listen]
    }

    /// Only a yes in so many words approves.
    fn answer(&mut self, line: &str) -> Vec<Deed> {
        let (Some(need), Some(id)) = (self.asking.take(), self.run) else { return Vec::new() };
        let text = line.to_owned();
        vec![Deed::Send(match need {
            Need::Approval { hold, .. } => match line.to_lowercase().as_str() {
                "y" | "yes" => Verb::Approve { id: Some(hold) },
                _ => Verb::Deny { id: hold },
            },
            Need::Answer { .. } => Verb::Reply { id, text },
            Need::Takeover { .. } => Verb::Reply { id, text: String::new() },
        })]
    }

    fn interrupt(&mut self, time: Duration) -> Vec<Deed> {
        let Some(id) = self.run.filter(|_| self.stopping.is_none()) else {
            return vec![Deed::Leave(Box::new(self.left()))];
        };
        let mut deeds = Vec::new();
        // At a question it is a no.
        if let Some(Need::Approval { hold, .. }) = self.asking.take() {
            deeds.push(Deed::Send(Verb::Deny { id: hold }));
        }
        self.stopping = Some((time, false));
        let said = format!("stopping {id}: it ends with a report; Ctrl-C again leaves at once");
        deeds.extend([Deed::Say(said), Deed::Send(Verb::Stop { id })]);
        deeds
    }

    fn left(&self) -> Answer {
        let (what, hint) = match self.run {
            Some(id) => {
                (format!("left {id}; the daemon stops it"), format!("`strawmanus logs {id}`"))
            }
            None => ("left before the run began".into(), "`strawmanus runs`".into()),
        };
        Answer::failed(INTERRUPTED, Failure::new("interrupted", what).hint(format!("see {hint}")))
    }

    fn grow_impatient(&mut self, time: Duration) -> Option<Deed> {
        let (since, told) = self.stopping.as_mut()?;
        if *told || time < *since + STOPPING {
            return None;
        }
        *told = true;
        let id = self.run?;
        Some(Deed::Say(format!(
            "{id} has not ended yet; wait for it, or press Ctrl-C to leave: the daemon stops it all \
             the same; `strawmanus attach` shows what it does"
        )))
    }
}

/// The contract's block: what a person reads before they answer.
fn block(need: &Need, payload: &str) -> String {
    match need {
        Need::Approval { what, why, url, .. } => {
            let sends = match one_line(payload) {
                sends if sends.is_empty() => sends,
                sends => format!("\n  sends: {sends}"),
            };
            let (what, url, why) = (one_line(what), one_line(url), one_line(why));
            format!(
                "⚠  irreversible action held for confirmation\n   what: {what} on {url}\n    why: {why}{sends}"
            )
        }
        Need::Answer { question } => format!("?  {}", harmless(question)),
        Need::Takeover { reason, suggestion } => {
            let suggestion = suggestion.iter().map(|text| format!("\n   {}", harmless(text)));
            let suggestion = suggestion.collect::<String>();
            format!("✋ yours now, in the browser's window: {}{suggestion}", harmless(reason))
        }
    }
}

/// Why what the person wanted was not done.
fn complaint(answer: &Answer) -> Option<String> {
    let Failure { message, hint, .. } = answer.error.as_ref()?;
    let hint = hint.iter().map(|hint| format!("; {hint}")).collect::<String>();
    Some(format!("✗ {}{hint}", one_line(message)))
}
