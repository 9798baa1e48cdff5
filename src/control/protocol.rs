//! What goes over the daemon's socket: one JSON value a line.
//!
//! The daemon speaks first ([`Hello`]), so a caller knows whom it reached before it sends anything.
//! Then a caller sends one [`Ask`] a line and reads [`Line`]s until the answer. `hello`,
//! `{"shutdown":true}` and `refused` keep their shape in every version of the protocol.
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::config::Settings;
use crate::config::environment::Environment;
use crate::config::home::Home;
use crate::config::layers::ConfigError;
use crate::config::span::Span;
use crate::control::answer::Answer;
use crate::control::build::Build;
use crate::control::flags::Globals;
use crate::control::verbs::Verb;

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

impl Request {
    /// Lays together the settings of this command: those of `home`, of the caller's environment and
    /// of its flags.
    pub fn settings(&self, home: &Home) -> Result<Settings, ConfigError> {
        Settings::load(home, &self.context.environment, &self.globals.settings())
    }
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
    #[serde(default, deserialize_with = "if_readable")]
    pub build: Option<Build>,
    /// What would be lost if the daemon ended now, such as `run r7`.
    #[serde(default)]
    pub busy: Option<String>,
}

fn if_readable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Build>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
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
