//! A language model, or what stands in for one.
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::domain::tool::ToolCall;

/// What the model is asked with: the task, and what came of each turn so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversation {
    pub task: String,
    /// Oldest first.
    pub turns: Vec<Turn>,
    /// The newest observation, as text.
    pub observation: String,
    /// The number of this turn, from 0.
    pub number: usize,
}

/// One turn that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub answer: Answer,
    /// What the tool answered.
    pub result: String,
}

/// What a model answered: raw, so that it is never bought twice, and what it means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The answer as it came, JSON.
    pub raw: String,
    pub call: ToolCall,
    pub usage: Usage,
}

/// Tokens of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("no key for the model: set ANTHROPIC_API_KEY, or use --model script:FILE")]
    NoKey,
    #[error("the model's service refused the key ({status}); check ANTHROPIC_API_KEY")]
    Denied { status: u16 },
    #[error("the model's service answered {status}: {detail}")]
    Status { status: u16, detail: String },
    #[error("the model's service cannot be reached: {0}; check --base-url and the network")]
    Unreachable(String),
    #[error("the model's answer cannot be used: {0}")]
    Unusable(String),
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
    async fn answer(&self, conversation: &Conversation) -> Result<Answer, ModelError>;
}
