//! What a tab actor takes, and what it answers.
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::action::Action;
use crate::domain::guard::Judgement;
use crate::domain::ids::HoldId;
use crate::domain::outcome::{Outcome, OutcomeKind};
use crate::domain::page::observation::{Observation, View};
use crate::domain::run::Consent;
use crate::domain::target::Target;
use crate::messages::Reply;
use crate::messages::guard::GuardError;
use crate::ports::page::{ConsoleLines, Dialog, PageError, PageEvent, Unreachable};

/// The tab protocol.
#[derive(Debug)]
pub enum TabMsg {
    /// Go to a URL and answer where the tab landed.
    Navigate { url: String, patience: Duration, reply: Reply<Landed, TabError> },
    /// Read the page.
    Observe { view: View, patience: Duration, reply: Reply<Observation, TabError> },
    /// Do something to the page, unless the guard holds it.
    Act { order: Box<Order>, patience: Duration, reply: Reply<Acted, TabError> },
    /// Evaluate a script in the page, unless the guard holds it; answers JSON text.
    Evaluate {
        script: String,
        consent: Consent,
        patience: Duration,
        reply: Reply<String, TabError>,
    },
    /// Ask one thing of the page.
    Get { question: Question, patience: Duration, reply: Reply<String, TabError> },
    /// Take a picture, with what is secret painted over; none where that cannot be told.
    Picture { order: PictureOrder, patience: Duration, reply: Reply<Picture, TabError> },
    /// Show the newest lines of the console. Never waits behind other work, nor for the page.
    Console { most: usize, reply: Reply<ConsoleLines, TabError> },
    /// Wait until something holds.
    Wait { until: Until, patience: Duration, reply: Reply<(), TabError> },
    /// Answer the open dialog, unless the guard holds it. Never waits behind other work.
    AnswerDialog {
        accept: bool,
        text: Option<String>,
        consent: Consent,
        reply: Reply<Dialog, TabError>,
    },
    /// Say where the tab is. Never waits behind other work, nor for the page.
    Describe { reply: Reply<TabCard, TabError> },
    /// The page did something by itself. Posted by the browser.
    PageSaid(PageEvent),
    /// The work under way has ended, and its caller has been answered. Posted by the tab to itself.
    JobEnded(JobEnd),
}

/// What a job's end means for its tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    /// The page goes on.
    Alive,
    /// The page's process died.
    Crashed,
    /// The page was closed.
    Gone,
    /// The browser is gone; whoever owns it starts it again, and this tab with it.
    Lost,
}

/// One action, and what the user allows without being asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    pub action: Action,
    pub consent: Consent,
    /// A person's approval of this very act, used up by it.
    pub ticket: Option<HoldId>,
}

impl Order {
    /// An act that nobody approved.
    pub fn new(action: Action, consent: Consent) -> Self {
        Self { action, consent, ticket: None }
    }
}

/// What came of an action: its outcome, and what the guard made of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Acted {
    pub outcome: Outcome,
    /// In words: `click button 'Add to cart'`.
    pub what: String,
    pub url: String,
    pub judgement: Judgement,
    /// Irreversible, and let through because the user allows it on this host.
    pub allowed: bool,
    /// Irreversible, and let through because a person approved it as this.
    #[serde(default)]
    pub approved: Option<HoldId>,
    /// What it answered, as JSON text: of a script.
    #[serde(default)]
    pub value: Option<String>,
}

/// Of what to take a picture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureOrder {
    /// Of this element alone; it is brought into view.
    pub target: Option<Target>,
    /// Of the whole page, where no element is named.
    pub full_page: bool,
    /// Outline what can be operated, with its number.
    pub marks: bool,
}

/// A picture that may be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub png: Vec<u8>,
    /// In pixels.
    pub width: u32,
    pub height: u32,
    /// What was asked for is larger than a picture can be.
    pub cut: bool,
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Picture({}x{}, {} bytes)", self.width, self.height, self.png.len())
    }
}

/// Where a navigation ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landed {
    pub url: String,
    pub title: String,
    /// The HTTP status of the document, where there was one.
    pub status: Option<u16>,
    /// Element numbers read in an earlier generation are stale.
    pub generation: Generation,
}

/// Which of a tab's pages: its incarnation, and the landings within it. Later is greater.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Generation {
    pub incarnation: u32,
    pub landing: u32,
}

/// Where a tab is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabCard {
    pub url: String,
    pub title: String,
    pub dialog: Option<Dialog>,
    pub generation: Generation,
}

/// What can be asked of a page or of one of its elements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "get", rename_all = "snake_case")]
pub enum Question {
    Url,
    Title,
    Text {
        target: Option<Target>,
    },
    Html {
        target: Option<Target>,
    },
    Value {
        target: Target,
    },
    Attribute {
        target: Target,
        name: String,
    },
    /// How many elements fit.
    Count {
        target: Target,
    },
    /// x, y, width, height as JSON, in CSS pixels of the viewport.
    Bounds {
        target: Target,
    },
}

/// What can be waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "wait", rename_all = "snake_case")]
pub enum Until {
    /// An element that fits is visible.
    Visible { target: Target },
    /// No element that fits is visible.
    Gone { target: Target },
    /// The page's visible text holds the words.
    Text { words: String },
    /// The URL holds the words.
    Url { words: String },
}

/// Why a tab did not do what it was asked. Displayed to people and models, so each says what to do
/// next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TabError {
    #[error("`{target}` is covered by {by}")]
    BlockedBy { target: String, by: String },
    #[error("{id} was shown, but its element is gone")]
    Stale { id: String },
    #[error("{} elements fit `{target}`: {}", .fits.len(), .fits.join("; "))]
    Ambiguous { target: String, fits: Vec<String> },
    #[error("nothing fits `{target}`")]
    NotFound { target: String },
    #[error("`{target}` does not stand still")]
    Unstable { target: String },
    #[error("`{target}` is disabled")]
    Disabled { target: String },
    #[error("`{target}` is {is}; {wanted} is needed")]
    WrongKind { target: String, is: String, wanted: String },
    #[error("{why}")]
    Refused { why: String },
    #[error("{what} did not end within {}", told(*.patience))]
    TimedOut { what: String, patience: Duration },
    #[error("the tab was closed while it worked")]
    TargetGone,
    #[error("the tab's process died and was started again at {url}{note}")]
    TabRestarted {
        url: String,
        note: String,
        /// Input had left for the page: its effect is unknown.
        dispatched: bool,
    },
    #[error("the browser died and is being started again")]
    BrowserLost {
        /// Input had left for the page: its effect is unknown.
        dispatched: bool,
    },
    #[error("the tab was being started again; nothing was done")]
    NotBegun,
    #[error("the tab has {waiting} commands waiting; nothing was done")]
    Busy { waiting: usize },
    #[error("{what} was dispatched, and its effect is unknown")]
    InDoubt { what: String },
    #[error("{} {kind} is open: {message}", article(.kind))]
    DialogOpen { kind: String, message: String },
    #[error("held for a person as {id}: {what} ({})", .judgement.why)]
    Held { id: HoldId, what: String, url: String, judgement: Judgement },
    #[error("{0}")]
    Unapproved(GuardError),
    #[error("{}: {detail}", .why.says())]
    Unreachable { why: Unreachable, detail: String },
}

/// What a field is that nobody can type into.
pub const READ_ONLY: &str = "read-only";

/// `300 ms`, `10 s`: what was given, not what a busy machine made of it.
fn told(patience: Duration) -> String {
    match patience.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{:.0} ms", seconds * 1000.0),
        seconds => format!("{} s", (seconds * 10.0).round() / 10.0),
    }
}

/// What a port's call was for; the names of our own functions tell nobody anything.
fn in_words(what: &'static str) -> &'static str {
    match what {
        "navigate" => "the navigation",
        what if what.contains(' ') => what,
        _ => "a look at the page",
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

impl TabError {
    /// Returns the word of the CLI contract.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Self::BlockedBy { .. } => OutcomeKind::BlockedBy,
            Self::Stale { .. } => OutcomeKind::Stale,
            Self::Ambiguous { .. } => OutcomeKind::Ambiguous,
            Self::NotFound { .. } => OutcomeKind::NotFound,
            Self::Unstable { .. } => OutcomeKind::Unstable,
            Self::Disabled { .. } => OutcomeKind::Disabled,
            Self::WrongKind { .. } => OutcomeKind::WrongKind,
            Self::Refused { .. } | Self::Unapproved(_) | Self::Unreachable { .. } => {
                OutcomeKind::Refused
            }
            Self::DialogOpen { .. } => OutcomeKind::BlockedBy,
            Self::TimedOut { .. } => OutcomeKind::TimedOut,
            Self::TargetGone => OutcomeKind::TargetGone,
            Self::TabRestarted { .. } | Self::BrowserLost { .. } => OutcomeKind::TabRestarted,
            Self::Busy { .. } | Self::NotBegun => OutcomeKind::Busy,
            Self::InDoubt { .. } => OutcomeKind::InDoubt,
            Self::Held { .. } => OutcomeKind::Held,
        }
    }

    /// Returns the next thing to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::BlockedBy { .. } => "close what covers it, then try again",
            Self::Stale { .. } => "observe the page again and use a new number",
            Self::Ambiguous { .. } => {
                "name one of them by its number, or add `>>` and a narrower part"
            }
            Self::NotFound { .. } => {
                "observe the page; it may be below the fold, or not there yet (`wait`)"
            }
            Self::Unstable { .. } => "wait until the page stands still",
            Self::Disabled { .. } => "fill what the page still needs first",
            Self::WrongKind { is, .. } if is == READ_ONLY => "look for what on the page changes it",
            Self::WrongKind { .. } => "`click` is for buttons, boxes and links; `fill` for fields",
            Self::Refused { .. } => "look at the page, and check the words of the command",
            Self::TimedOut { .. } => {
                "look at the page before you repeat; raise --timeout for a slow one"
            }
            Self::TargetGone => "list the tabs, and go on in another",
            Self::TabRestarted { .. } | Self::BrowserLost { .. } => {
                "look at the page before you repeat"
            }
            Self::NotBegun => "try again",
            Self::Busy { .. } => "wait for the commands under way, or use another tab",
            Self::InDoubt { .. } => "look at the page; do not repeat",
            Self::DialogOpen { .. } => "answer it with `dialog accept` or `dialog dismiss`",
            Self::Held { .. } => "a person says `strawmanus approve ID` or `strawmanus deny ID`",
            Self::Unapproved(GuardError::Denied(_)) => {
                "only the user changes `policy.toml` in the home folder; do without"
            }
            Self::Unapproved(_) => "look at the page; ask for the act anew if it is still wanted",
            Self::Unreachable { why: Unreachable::TlsFailed, .. } => {
                "check the address; go there only if you know why nobody vouches for it"
            }
            Self::Unreachable { why: Unreachable::ConnectionRefused, .. } => {
                "check host and port, and that the server runs"
            }
            Self::Unreachable { why: Unreachable::BadUrl, .. } => "check the address",
            Self::Unreachable { .. } => "check the address and the network",
        }
    }
}

impl From<PageError> for TabError {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Refused { .. } | PageError::Threw(_) => {
                Self::Refused { why: error.to_string() }
            }
            PageError::TimedOut { what, patience } => {
                Self::TimedOut { what: in_words(what).into(), patience }
            }
            // Where the dialog's words are known, the tab puts them in.
            PageError::DialogOpen => {
                Self::DialogOpen { kind: "dialog".into(), message: String::new() }
            }
            PageError::Navigated { what } => Self::InDoubt { what: what.into() },
            PageError::Unreachable { why, detail } => Self::Unreachable { why, detail },
            PageError::Gone => Self::TargetGone,
            // Where the tab goes back to is put in by the tab.
            PageError::Crashed => {
                Self::TabRestarted { url: String::new(), note: String::new(), dispatched: false }
            }
            PageError::Lost => Self::BrowserLost { dispatched: false },
        }
    }
}

impl TabError {
    /// Returns what this means for the tab that met it.
    pub fn fate(&self) -> JobEnd {
        match self {
            Self::TabRestarted { .. } => JobEnd::Crashed,
            Self::TargetGone => JobEnd::Gone,
            Self::BrowserLost { .. } => JobEnd::Lost,
            _ => JobEnd::Alive,
        }
    }
}
