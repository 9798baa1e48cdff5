//! What goes over the daemon's socket: one JSON value a line.
//!
//! The daemon speaks first ([`Hello`]), so a caller knows whom it reached before it sends anything.
//! Then a caller sends one [`Ask`] a line and reads [`Line`]s until the answer. `hello`,
//! `{"shutdown":true}` and `refused` keep their shape in every version of the protocol.
use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::config::environment::Environment;
use crate::config::span::Span;
use crate::control::verbs::{Globals, Verb};
use crate::domain::outcome::OutcomeKind;

/// The version of this protocol; raised by every change that an older peer would misread.
pub const PROTOCOL: u32 = 1;

/// What a caller may say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Do this; answered once, by [`Line::Answer`].
    Request(Box<Request>),
    /// Say what became of a request whose connection was lost: its answer, once there is one, or
    /// [`Line::Unknown`].
    Became(String),
    /// End, unless a run is under way: [`Line::Ending`] or [`Line::Refused`].
    Shutdown(bool),
}

/// One command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// [`PROTOCOL`] of the caller.
    pub v: u32,
    /// Made by the caller, never used twice.
    pub id: String,
    pub build: Build,
    pub verb: Verb,
    pub globals: Globals,
    pub context: Context,
    /// How long the whole command may take; none for verbs that end by themselves.
    #[serde(default)]
    pub deadline: Option<Span>,
}

/// Where a command comes from. The daemon uses this, never its own environment or folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// The caller's working folder; relative paths of the command are below it.
    pub folder: PathBuf,
    pub environment: Environment,
    /// Whether a person sits before it.
    pub terminal: bool,
}

/// Which program speaks. Two builds of one version differ in the stamp of their common file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    pub version: String,
    /// The program's file.
    #[serde(default)]
    pub executable: Option<PathBuf>,
    /// When that file was last written, in nanoseconds; only compared, never read as a time.
    #[serde(default)]
    pub stamp: Option<u64>,
}

impl Build {
    /// Whether one may serve the other: same version, and the same file only if it is unchanged.
    pub fn serves(&self, other: &Self) -> bool {
        let rebuilt = self.executable == other.executable && self.stamp != other.stamp;
        self.version == other.version && !rebuilt
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.version)
    }
}

/// What the daemon says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// First on every connection.
    Hello(Hello),
    /// A live step of a request under way.
    Progress {
        text: String,
        json: Value,
    },
    Answer(Box<Answer>),
    /// No such request is known here; it may have been begun by a daemon that is gone.
    Unknown(String),
    /// The daemon ends now.
    Ending(bool),
    /// Nothing was done, and the connection is closed.
    Refused(Refusal),
}

/// Who answers at the socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    pub pid: u32,
    /// Absent when a foreign version writes it in a way that this one cannot read.
    #[serde(default)]
    pub build: Option<Build>,
    /// What would be lost if the daemon ended now, such as `run r7`.
    #[serde(default)]
    pub busy: Option<String>,
}

/// Why a line was not acted on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub kind: RefusalKind,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// The line is no JSON of this protocol, or too long.
    BadLine,
    /// Another version of the protocol.
    ForeignProtocol,
    /// The caller is another build of the program.
    ForeignBuild,
    /// A shutdown while a run is under way.
    Busy,
    /// The daemon is ending; ask the next one.
    Ending,
}

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
    /// What a person reads; without a final line break.
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub error: Option<Failure>,
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// A word of the contract, or `usage`, `config`, `daemon`, `browser`, `store`, `model`.
    pub kind: String,
    pub message: String,
    /// The next thing to do.
    #[serde(default)]
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

/// How live steps reach the caller, and how one learns that the caller has gone.
#[derive(Debug, Clone)]
pub struct Progress {
    lines: Option<mpsc::Sender<Line>>,
    gone: watch::Receiver<bool>,
}

impl Progress {
    /// For the server: lines go to `lines`, `gone` turns true when the caller's end is closed.
    pub fn new(lines: mpsc::Sender<Line>, gone: watch::Receiver<bool>) -> Self {
        Self { lines: Some(lines), gone }
    }

    /// For work that nobody watches: steps are dropped, and the caller never goes.
    pub fn unwatched() -> Self {
        let (_, gone) = watch::channel(false);
        Self { lines: None, gone }
    }

    /// Shows a step. Never waits: a caller that does not read misses steps, the answer keeps them.
    pub fn step(&self, text: impl Into<String>, json: Value) {
        if let Some(lines) = &self.lines {
            let _ = lines.try_send(Line::Progress { text: text.into(), json });
        }
    }

    /// Resolves when the caller has gone; a foreground run is stopped then.
    pub async fn closed(&self) {
        let mut gone = self.gone.clone();
        if gone.wait_for(|gone| *gone).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// What carries out commands. Made by the composition root, called by the server.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Carries out one command. Dropped when the request's deadline has passed; a caller that goes
    /// away is only told through `progress`.
    async fn handle(&self, request: Request, progress: Progress) -> Answer;
    /// Says what would be lost if the daemon ended now, such as `run r7`.
    fn busy(&self) -> Option<String>;
    /// Ends browsers and closes the store, in good order.
    async fn shut_down(&self);
}
