//! A language model, or what stands in for one.
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::domain::cost::Usage;
use crate::domain::tool::ToolCall;

/// What the model is asked with. Each message reads the same in every later turn, until it is
/// folded, so that the service's prompt cache can serve what stands before the newest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversation {
    /// Turns that are over, oldest first.
    pub turns: Vec<Turn>,
    pub newest: Message,
    /// The number of this turn, from 0.
    pub number: usize,
    /// How long the answer may be, in tokens, where little is left of the run's budget.
    pub most_tokens: Option<u32>,
}

/// One turn that is over: what the model was told, and what it answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub message: Message,
    /// The answer as it came, in the words of its service.
    pub raw: String,
    /// What it meant; none where it could not be used.
    pub call: Option<ToolCall>,
}

/// What the model is told: the task and the first page, or what came of its call. Page text in it
/// is fenced already.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Message {
    pub text: String,
    pub picture: Option<Arc<Picture>>,
}

/// A PNG.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture(pub Vec<u8>);

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({} bytes)", self.0.len())
    }
}

/// What a model answered: raw, so that it is never bought twice, and what it means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The answer as it came, JSON.
    pub raw: String,
    pub meaning: Meaning,
    /// With what earlier tries at this answer cost.
    pub usage: Usage,
    /// What was mended in it, to be told to the model: such as a second call that was left out.
    pub note: Option<String>,
}

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    Call(ToolCall),
    /// It was paid for, and is no call: the model is told why.
    Fault {
        kind: FaultKind,
        why: String,
    },
}

/// What is wrong with an answer that is no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    Empty,
    /// Words, and no call in them.
    NoCall,
    NoSuchTool,
    BadArguments,
    /// Longer than an answer may be.
    CutOff,
}

/// Why there is no answer, and what the tries cost all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    pub error: ModelError,
    pub usage: Usage,
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Self {
        Self { error, usage: Usage::default() }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("no key for the model: set {variable}, or use --model script:FILE")]
    NoKey { variable: &'static str },
    #[error("the model's service refused the key ({status}); check {variable}")]
    Denied { status: u16, variable: &'static str },
    #[error("the model's service answered {status}: {detail}")]
    Status { status: u16, detail: String },
    #[error("the model's service cannot be reached: {0}; check --base-url and the network")]
    Unreachable(String),
    #[error("the model's service broke off its answer: {0}")]
    BrokenOff(String),
    #[error("the model's service sent nothing for {seconds} s; check it, or try again later")]
    Silent { seconds: u64 },
    #[error("the conversation is longer than the model can read: {detail}")]
    TooLong { detail: String },
    #[error("the model refused to answer: {detail}")]
    Refused { detail: String },
    #[error("the model's service answered what cannot be read: {0}")]
    Unreadable(String),
    #[error("the script is over, and turn {} has no line; end it with `finish`", .turn + 1)]
    ScriptOver { turn: usize },
    #[error("the script {path} cannot be read: {why}")]
    NoScript { path: String, why: String },
    #[error("line {line} of the script is no tool call: {why}")]
    BadScript { line: usize, why: String },
}

#[async_trait]
pub trait Model: Send + Sync + 'static {
    /// Returns the model's name, for reports.
    fn name(&self) -> String;
    /// Whether pictures mean anything to it.
    fn sees(&self) -> bool;
    async fn answer(&self, conversation: &Conversation) -> Result<Answer, Failed>;
}
