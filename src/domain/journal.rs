//! A run's truth: what was asked, answered, intended and what came of it. Intent is written before
//! an act, the outcome after it; a step with an intent and no outcome is *in doubt*.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::guard::Judgement;
use crate::domain::ids::{HoldId, RunId};
use crate::domain::tool::ToolCall;

/// The format of entries that this version writes.
pub const VERSION: u32 = 1;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub v: u32,
    pub at: Timestamp,
    #[serde(flatten)]
    pub what: Event,
}

/// What happened. Steps count from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Began {
        run: RunId,
        task: String,
        model: String,
        url: Option<String>,
    },
    /// The model is about to be asked.
    Asked {
        step: u32,
        url: String,
        observation_chars: usize,
    },
    /// Its raw answer, stored before it is used.
    Answered { step: u32, raw: String, call: ToolCall, input_tokens: u64,
        output_tokens: u64,
    },
    /// The call is about to be carried out.
    Intended {
        step: u32,
        call: ToolCall,
        what: String,
    },
    /// It was judged before dispatch.
    Judged {
        step: u32,
        what: String,
        url: String,
        judgement: Judgement,
        verdict: Verdict,
    },
    /// What came of it.
    Came {
        step: u32,
        outcome: String,
        delta: Vec<String>,
        url: String,
    },
    /// Something of the runtime died under the run and was started again.
    Restarted {
        step: u32,
        what: String,
        why: String,
    },
    /// The run's own loop was started again, from this journal.
    Resumed {
        step: u32,
    },
    Ended {
        status: Status,
        why: String,
        answer: Option<String>,
    },
}

/// What the guard let happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    Passed,
    /// Irreversible, but its host is one that the user allows without asking.
    Allowed,
    Held {
        id: HoldId,
    },
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Complete,
    /// Some of it was done; held acts alone make a run Partial too.
    Partial,
    /// Something outside stopped it: a site, a missing tab, a limit.
    Blocked,
    Failed,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "Complete",
            Self::Partial => "Partial",
            Self::Blocked => "Blocked",
            Self::Failed => "Failed",
        }
    }
}

/// Where a run stands, as its journal tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standing {
    pub task: String,
    pub model: String,
    pub began: Option<Timestamp>,
    pub last: Option<Timestamp>,
    pub steps: Vec<Step>,
    pub restarts: BTreeMap<String, u32>,
    pub resumed: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub ended: Option<Ending>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    pub status: Status,
    pub why: String,
    pub answer: Option<String>,
}

/// One step, as far as it came.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Step {
    pub number: u32,
    pub began: Option<Timestamp>,
    pub url: String,
    /// The model's raw answer, and what it means.
    pub answered: Option<(String, ToolCall)>,
    pub call: Option<ToolCall>,
    /// In words: `click button 'Add to cart'`.
    pub what: String,
    pub judged: Vec<Judged>,
    pub outcome: Option<String>,
    pub delta: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub what: String,
    pub url: String,
    pub judgement: Judgement,
    pub verdict: Verdict,
}

impl Step {
    /// An act was begun, and nobody knows what came of it.
    pub fn in_doubt(&self) -> bool {
        self.call.is_some() && self.outcome.is_none()
    }
}

impl Standing {
    /// Folds a journal, oldest first.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        entries.into_iter().fold(Self::default(), |mut standing, entry| {
            standing.take(entry);
            standing
        })
    }

    pub fn take(&mut self, entry: &Entry) {
        self.last = Some(entry.at);
        match &entry.what {
            Event::Began { task, model, .. } => {
                self.began = Some(entry.at);
                (self.task, self.model) = (task.clone(), model.clone());
            }
            Event::Asked { step, url, .. } => {
                let step = self.step(*step);
                (step.began, step.url) = (Some(entry.at), url.clone());
            }
            Event::Answered { step, raw, call, input_tokens, output_tokens } => {
                self.step(*step).answered = Some((raw.clone(), call.clone()));
                self.input_tokens += input_tokens;
                self.output_tokens += output_tokens;
            }
            Event::Intended { step, call, what } => {
                let step = self.step(*step);
                (step.call, step.what) = (Some(call.clone()), what.clone());
            }
            Event::Judged { step, what, url, judgement, verdict } => {
                let (what, url) = (what.clone(), url.clone());
                let (judgement, verdict) = (judgement.clone(), verdict.clone());
                self.step(*step).judged.push(Judged { what, url, judgement, verdict });
            }
            Event::Came { step, outcome, delta, url } => {
                let step = self.step(*step);
                (step.outcome, step.delta) = (Some(outcome.clone()), delta.clone());
                step.url.clone_from(url);
            }
            Event::Restarted { what, .. } => *self.restarts.entry(what.clone()).or_default() += 1,
            Event::Resumed { .. } => self.resumed += 1,
            Event::Ended { status, why, answer } => {
                let (why, answer) = (why.clone(), answer.clone());
                self.ended = Some(Ending { status: *status, why, answer });
            }
        }
    }

    /// The acts that wait for a person.
    pub fn held(&self) -> impl Iterator<Item = (&Step, &Judged)> {
        self.steps.iter().flat_map(|step| {
            let held = step.judged.iter().filter(|j| matches!(j.verdict, Verdict::Held { .. }));
            held.map(move |judged| (step, judged))
        })
    }

    fn step(&mut self, number: u32) -> &mut Step {
        let at = self.steps.iter().position(|step| step.number == number).unwrap_or_else(|| {
            self.steps.push(Step { number, ..Step::default() });
            self.steps.len() - 1
        });
        &mut self.steps[at]
    }
}
