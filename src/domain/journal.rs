//! A run's truth: what was asked, answered, intended and what came of it. Intent is written before
//! an act, the outcome after it; a step with an intent and no outcome is *in doubt*.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::cost::Usage;
use crate::domain::guard::Judgement;
use crate::domain::ids::{HoldId, RunId};
use crate::domain::outcome::OutcomeKind;
use crate::domain::told::Told;
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

/// Why a line is no entry that can be read here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEntry {
    #[error(
        "it was written by a newer version (format {found}, this one reads up to {VERSION}); update strawmanus"
    )]
    Newer { found: u32 },
    #[error("it is no entry of a journal: {0}")]
    Unreadable(String),
}

impl Entry {
    /// Reads one line of a journal, of this version or an older one.
    ///
    /// # Errors
    /// `Newer` when a later version wrote it, even if it looks the same; `Unreadable` otherwise.
    pub fn parse(json: &str) -> Result<Self, BadEntry> {
        #[derive(Deserialize)]
        struct Format {
            v: u32,
        }
        let unreadable = |error: serde_json::Error| BadEntry::Unreadable(error.to_string());
        // First, as nothing else of a newer entry need be what we know.
        let Format { v } = serde_json::from_str(json).map_err(unreadable)?;
        if v > VERSION {
            return Err(BadEntry::Newer { found: v });
        }
        serde_json::from_str(json).map_err(unreadable)
    }
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
        /// How many entities are expected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expect: Option<u32>,
    },
    /// The model is about to be asked.
    Asked {
        step: u32,
        url: String,
        told: Told,
    },
    /// Its raw answer, stored before it is used.
    Answered {
        step: u32,
        raw: String,
        /// None where the answer could not be used; `note` says why.
        call: Option<ToolCall>,
        /// What was mended in it, or what is wrong with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        #[serde(flatten)]
        usage: Usage,
    },
    /// No answer came, but tries at it cost something.
    Unanswered {
        step: u32,
        why: String,
        #[serde(flatten)]
        usage: Usage,
    },
    /// What was told before this turn (counted from 0) is told in short from now on.
    Folded {
        before: usize,
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
    /// A person is waited for.
    Waiting {
        step: u32,
        need: Need,
    },
    /// The wait is over.
    Met {
        step: u32,
        how: String,
    },
    /// The model stated a fact, and its source was really read.
    Recorded {
        step: u32,
        fact: Fact,
    },
    /// Something was said to the user.
    Notified {
        step: u32,
        text: String,
    },
    /// What came of it.
    Came {
        step: u32,
        outcome: String,
        delta: Vec<String>,
        url: String,
        /// A picture that was taken: a file in the run's folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        picture: Option<String>,
        #[serde(default, skip_serializing_if = "Spent::is_nothing")]
        spent: Spent,
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

/// What a step waited for, in microseconds. The rest of the time since the step before is our own,
/// or a person's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// For the model's answers.
    pub model_us: u64,
    /// For the page: its answers, and what it does next.
    pub page_us: u64,
    /// Of that, for its answers.
    pub page_calls_us: u64,
}

impl Spent {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What a person is waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "need")]
pub enum Need {
    /// To approve or deny a held act.
    Approval { hold: HoldId, what: String, why: String, url: String },
    /// To answer a question.
    Answer { question: String },
    /// To do something in the browser's window.
    Takeover { reason: String, suggestion: Option<String> },
}

/// A fact of the run's ledger: stated by the model, from pages that were really opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub claim: String,
    pub entity: String,
    pub attribute: String,
    pub value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    pub sources: Vec<Source>,
}

/// A page that was really opened in this run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub url: String,
    pub title: String,
    pub at: Timestamp,
}

/// What the guard let happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    Passed,
    /// Irreversible, but its host is one that the user allows without asking.
    Allowed,
    /// Held before, and approved by a person.
    Approved {
        id: HoldId,
    },
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
    pub expect: Option<u32>,
    pub began: Option<Timestamp>,
    pub last: Option<Timestamp>,
    pub steps: Vec<Step>,
    pub restarts: BTreeMap<String, u32>,
    pub resumed: u32,
    pub usage: Usage,
    /// Turns before this one are told in short.
    pub folded: usize,
    pub facts: Vec<Fact>,
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
    /// What the model was told before it answered.
    pub told: Option<Told>,
    pub answered: Option<Answered>,
    pub call: Option<ToolCall>,
    /// In words: `click button 'Add to cart'`.
    pub what: String,
    pub judged: Vec<Judged>,
    /// How a wait for a person ended.
    pub met: Option<String>,
    pub outcome: Option<String>,
    pub delta: Vec<String>,
    pub picture: Option<String>,
}

/// A model's answer, as it was bought.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub raw: String,
    pub call: Option<ToolCall>,
    pub note: Option<String>,
    pub output_tokens: u64,
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
        let acts = |call: &ToolCall| !call.only_looks();
        self.call.as_ref().is_some_and(acts) && self.outcome.is_none()
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
            Event::Began { task, model, expect, .. } => {
                (self.began, self.expect) = (Some(entry.at), *expect);
                (self.task, self.model) = (task.clone(), model.clone());
            }
            Event::Asked { step, url, told } => {
                let step = self.step(*step);
                (step.began, step.url) = (Some(entry.at), url.clone());
                step.told = Some(told.clone());
            }
            Event::Answered { step, raw, call, note, usage } => {
                let (raw, call, note) = (raw.clone(), call.clone(), note.clone());
                let output_tokens = usage.output;
                self.step(*step).answered = Some(Answered { raw, call, note, output_tokens });
                self.usage += *usage;
            }
            Event::Unanswered { usage, .. } => self.usage += *usage,
            Event::Folded { before } => self.folded = *before,
            Event::Recorded { fact, .. } => self.facts.push(fact.clone()),
            Event::Met { step, how } => self.step(*step).met = Some(how.clone()),
            Event::Waiting { .. } | Event::Notified { .. } => {}
            Event::Intended { step, call, what } => {
                let step = self.step(*step);
                (step.call, step.what) = (Some(call.clone()), what.clone());
            }
            Event::Judged { step, what, url, judgement, verdict } => {
                let (what, url) = (what.clone(), url.clone());
                let (judgement, verdict) = (judgement.clone(), verdict.clone());
                self.step(*step).judged.push(Judged { what, url, judgement, verdict });
            }
            Event::Came { step, outcome, delta, url, picture, .. } => {
                let step = self.step(*step);
                step.picture.clone_from(picture);
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

    /// The acts that wait for a person: held, and not approved and done since.
    pub fn held(&self) -> impl Iterator<Item = (&Step, &Judged)> {
        let all = || self.steps.iter().flat_map(|step| &step.judged);
        let done = move |id: HoldId| all().any(|j| j.verdict == Verdict::Approved { id });
        self.steps.iter().flat_map(move |step| {
            let held = move |j: &&Judged| match j.verdict {
                Verdict::Held { id } => !done(id),
                Verdict::Passed | Verdict::Allowed | Verdict::Approved { .. } => false,
            };
            step.judged.iter().filter(held).map(move |judged| (step, judged))
        })
    }

    /// Acts whose effect nobody knows, and after which the page was not looked at again.
    pub fn in_doubt(&self) -> impl Iterator<Item = &Step> {
        let looked = self.steps.iter().filter_map(|step| step.began.map(|_| step.number)).max();
        let unknown = |step: &&Step| {
            step.in_doubt() || step.outcome.as_deref() == Some(OutcomeKind::InDoubt.word())
        };
        self.steps.iter().filter(unknown).filter(move |step| Some(step.number) >= looked)
    }

    /// What the model finished with: its answer, and what it says is missing.
    pub fn finished(&self) -> Option<(&str, Option<&str>)> {
        self.steps.iter().rev().find_map(|step| match &step.call {
            Some(ToolCall::Finish { answer, incomplete_reason, .. }) => {
                Some((answer.as_str(), incomplete_reason.as_deref()))
            }
            _ => None,
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

#[cfg(test)]
mod tests;
