//! What comes of a command, and the envelope that programs read.
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::config::home::HomeError;
use crate::config::layers::ConfigError;
use crate::domain::outcome::OutcomeKind;

/// What came of a command, for people and for programs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// 0 to 4, by the contract.
    pub exit: u8,
    /// A word of the contract, such as `changed`.
    #[serde(default)]
    pub outcome: Option<String>,
    #[serde(default)]
    pub data: Value,
    /// One line each: what the action changed.
    #[serde(default)]
    pub delta: Vec<String>,
    #[serde(default)]
    pub warnings: Vec<String>,
    /// What a person reads, without a final line break; `delta` and `warnings` are shown below it.
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub error: Option<Failure>,
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// A word of the contract, or `usage`, `config`, `home`, `daemon`, `browser`, `store`,
    /// `model`, `internal`.
    pub kind: String,
    pub message: String,
    /// The next thing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), hint: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Bad settings are the user's to mend: exit code 2.
impl From<ConfigError> for Answer {
    fn from(error: ConfigError) -> Self {
        Self::failed(2, Failure::new("config", error.to_string()))
    }
}

/// Without a home folder nothing works: exit code 4.
impl From<HomeError> for Answer {
    fn from(error: HomeError) -> Self {
        Self::failed(4, Failure::new("home", error.to_string()))
    }
}

impl Answer {
    /// An answer of a command that only tells something.
    pub fn told(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data, ..Self::default() }
    }

    /// The answer of an action; its exit code is the outcome's. Kinds that are no success become
    /// an error with `message`.
    pub fn acted(kind: OutcomeKind, message: impl Into<String>) -> Self {
        let (exit, message) = (kind.exit_code(), message.into());
        let outcome = Some(kind.word().to_owned());
        if exit == 0 {
            return Self { outcome, text: message, ..Self::default() };
        }
        Self { exit, outcome, error: Some(Failure::new(kind.word(), message)), ..Self::default() }
    }

    pub fn failed(exit: u8, failure: Failure) -> Self {
        Self { exit, error: Some(failure), ..Self::default() }
    }

    pub fn with_data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }

    pub fn with_delta(mut self, delta: Vec<String>) -> Self {
        self.delta = delta;
        self
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.error = self.error.map(|failure| failure.hint(hint));
        self
    }

    /// Returns the versioned envelope that programs read (`docs/json.md`).
    pub fn envelope(&self) -> Value {
        let ok = self.exit == 0;
        let mut envelope = json!({ "v": 1, "ok": ok });
        let mut put = |key: &str, value: Value| envelope[key] = value;
        if let Some(outcome) = &self.outcome {
            put("outcome", json!(outcome));
        }
        if ok || !self.data.is_null() {
            put("data", if self.data.is_null() { json!({}) } else { self.data.clone() });
        }
        if ok || !self.delta.is_empty() {
            put("delta", json!(self.delta));
        }
        if ok || !self.warnings.is_empty() {
            put("warnings", json!(self.warnings));
        }
        if !ok {
            let failure = self.error.clone().unwrap_or_else(|| self.unexplained());
            put("error", json!(failure));
        }
        envelope
    }

    /// A report that is only partial has no failure of its own; its outcome and text say it.
    fn unexplained(&self) -> Failure {
        let kind = self.outcome.as_deref().unwrap_or("failed");
        let first = self.text.lines().next().unwrap_or("it did not succeed");
        Failure::new(kind, first)
    }
}
