//! One page target: the hands and eyes that a tab actor works with.
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::keys::Chord;

/// The browser's own name for a page target.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetKey(pub String);

/// Why a page could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The page is fine; this request is not.
    #[error("the browser refused {what}: {why}")]
    Refused { what: &'static str, why: String },
    /// A script threw; the text is the page's own.
    #[error("the script threw: {0}")]
    Threw(String),
    /// The page did not answer. What was asked for may still happen.
    #[error("the page did not answer {what} within {patience:?}")]
    TimedOut { what: &'static str, patience: Duration },
    /// A dialog is open; nothing that runs in the page answers before it is.
    #[error("a dialog is open")]
    DialogOpen,
    /// The document that the call ran in was replaced meanwhile.
    #[error("the page navigated away during {what}")]
    Navigated { what: &'static str },
    /// A navigation failed before a document came.
    #[error("{}: {detail}", .why.says())]
    Unreachable { why: Unreachable, detail: String },
    /// The renderer died. The target can be revived.
    #[error("the page's process died")]
    Crashed,
    /// The target is gone: closed, or detached from us for good.
    #[error("the page was closed")]
    Gone,
    /// The browser or the connection to it is gone.
    #[error("the browser is gone")]
    Lost,
}

/// Why a site could not be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unreachable {
    DnsFailed,
    ConnectionRefused,
    TlsFailed,
    EmptyReply,
    BadUrl,
    Aborted,
    Other,
}

impl Unreachable {
    /// Returns what a person reads.
    pub fn says(self) -> &'static str {
        match self {
            Self::DnsFailed => "the host name does not resolve",
            Self::ConnectionRefused => "the connection was refused",
            Self::TlsFailed => "the TLS connection is not trusted",
            Self::EmptyReply => "the server sent nothing",
            Self::BadUrl => "the address is not valid",
            Self::Aborted => "the navigation was aborted",
            Self::Other => "the page could not be loaded",
        }
    }
}

/// What a page says by itself. The adapter coalesces: nothing here comes per byte or per frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageEvent {
    Crashed,
    /// Closed by its page, a person or another client.
    Gone,
    DialogOpened(Dialog),
    DialogClosed,
    /// The main frame shows another document, or another URL of the same document.
    Navigated {
        url: String,
        same_document: bool,
    },
    /// A request with a method other than GET, HEAD or OPTIONS began.
    Sent {
        method: String,
        url: String,
        kind: RequestKind,
    },
    /// It was answered.
    Answered {
        method: String,
        url: String,
        status: u16,
    },
}

/// What a request is for, as far as effects are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    Document,
    Fetch,
    /// Pings and beacons: never an effect.
    Ping,
    Other,
}

/// An open `alert`, `confirm`, `prompt` or `beforeunload`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    pub message: String,
}

/// Where a navigation ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landing {
    pub url: String,
    pub title: String,
    /// The HTTP status of the document; none for `about:blank`, or when it came from a cache.
    pub status: Option<u16>,
}

/// Where a page stands, as the browser process knows it: needs no answer of the page itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub url: String,
    pub title: String,
}

/// A press of the main button at a point of the viewport, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Press {
    pub x: f64,
    pub y: f64,
}

/// How loud a line of the console is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Debug,
    Log,
    Info,
    Warning,
    Error,
    /// Not the page's: it says that another document came.
    Mark,
}

impl Level {
    /// Returns what a person reads.
    pub fn word(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Log => "log",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Mark => "mark",
        }
    }
}

/// One line of a page's console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleLine {
    pub level: Level,
    /// At most [`ConsoleLine::LONGEST`] characters.
    pub text: String,
    pub at: Option<Timestamp>,
    /// `URL:line` of the script that wrote it, where that is known.
    pub place: Option<String>,
}

impl ConsoleLine {
    /// Characters of its text.
    pub const LONGEST: usize = 500;
}

impl fmt::Display for ConsoleLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.level, &self.place) {
            (Level::Mark, _) => f.write_str(&self.text),
            (level, None) => write!(f, "[{}] {}", level.word(), self.text),
            (level, Some(place)) => write!(f, "[{}] {} ({place})", level.word(), self.text),
        }
    }
}

/// The newest lines of a page's console, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleLines {
    pub lines: Vec<ConsoleLine>,
    /// How many older lines are kept no longer.
    pub dropped: u64,
}

/// What of a page to take a picture of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shot {
    Viewport,
    /// The whole page, as far down as a picture can go.
    FullPage,
    /// x, y, width, height in CSS pixels of the page.
    Box([f64; 4]),
}

/// A picture of a part of a page.
#[derive(Clone, PartialEq)]
pub struct Taken {
    pub png: Vec<u8>,
    /// What it shows: x, y, width, height in CSS pixels of the page.
    pub area: [f64; 4],
    /// What was asked for is larger, and was cut at the bottom or on the right.
    pub cut: bool,
}

#[async_trait]
pub trait Page: Send + Sync + 'static {
    fn target(&self) -> TargetKey;
    /// Goes to `url`; answers when the document can be read (its DOM is complete), and waits for
    /// its resources only for a moment.
    async fn navigate(&self, url: &str, patience: Duration) -> Result<Landing, PageError>;
    /// Answers when no navigation is under way and the DOM is complete.
    async fn settled(&self, patience: Duration) -> Result<Landing, PageError>;
    async fn location(&self) -> Result<Location, PageError>;
    /// Evaluates in the page's own world; awaits a promise; returns the value as JSON text.
    async fn evaluate(&self, script: &str, patience: Duration) -> Result<String, PageError>;
    /// Calls `strawmanus.<function>(<argument>)` of the library, in the isolated world of the main
    /// frame's document. `argument` is JSON text, and so is the answer, if it is not plain text.
    async fn call(
        &self,
        function: &'static str,
        argument: &str,
        patience: Duration,
    ) -> Result<String, PageError>;
    async fn click(&self, press: Press, patience: Duration) -> Result<(), PageError>;
    /// Moves the mouse to a point, and presses nothing.
    async fn hover(&self, at: Press, patience: Duration) -> Result<(), PageError>;
    async fn press(&self, chord: &Chord, patience: Duration) -> Result<(), PageError>;
    /// Types text where the focus is, as an input method would.
    async fn insert_text(&self, text: &str, patience: Duration) -> Result<(), PageError>;
    async fn answer_dialog(&self, accept: bool, text: Option<&str>) -> Result<(), PageError>;
    /// Returns at most the `most` newest lines of the console. Asks nothing of the page: what it
    /// wrote is kept as it comes, and stays when the page navigates.
    fn console(&self, most: usize) -> ConsoleLines;
    /// Takes a picture, as PNG. Nothing is painted over here.
    async fn screenshot(&self, shot: Shot, patience: Duration) -> Result<Taken, PageError>;
}
