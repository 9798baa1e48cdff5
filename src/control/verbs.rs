//! The one table of verbs: what the shell parses, what help lists and what goes over the socket.
//!
//! clap's names and serde's names are the same by a test. Targets stay text here; the daemon, which
//! knows the page, reads them.
use std::path::PathBuf;

use clap::{ArgGroup, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::config::RunLimits;
use crate::config::span::Span;
use crate::domain::ids::{HoldId, RunId, TabId};

/// Everything that the program can be told to do.
#[derive(Debug, Clone, PartialEq, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// Give the agent a task and watch it work
    #[command(
        after_help = "Examples:\n  strawmanus run \"Find the cheapest kettle\" --url shop.example\n  strawmanus run \"Check the inbox\" --model script:turns.jsonl --json"
    )]
    Run {
        /// What is to be done, in your words
        #[arg(value_name = "TASK")]
        task: String,
        /// Where to begin
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
    /// List the runs, newest first
    Runs {},
    /// Show what a run did, step by step
    #[command(after_help = "Example:\n  strawmanus logs r7")]
    Logs {
        /// The run's number, as `runs` lists it
        #[arg(value_name = "RUN", value_parser = run_id)]
        id: RunId,
    },
    /// Play the bundled practice task, with no key and no network
    Demo {},
    /// Go to a page in the current tab
    #[command(
        after_help = "Examples:\n  strawmanus open example.com\n  strawmanus open http://localhost:8080/login --session work"
    )]
    Open {
        /// An address; the scheme is added when it is missing
        #[arg(value_name = "URL")]
        url: String,
    },
    /// Show the page as the agent sees it
    #[command(
        after_help = "Examples:\n  strawmanus observe\n  strawmanus observe --url example.com"
    )]
    Observe {
        /// Go there first
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
    /// Show the page as an outline with element numbers
    #[command(
        after_help = "Examples:\n  strawmanus snapshot -i\n  strawmanus snapshot --viewport --depth 6 --json"
    )]
    Snapshot {
        /// Only what can be acted on
        #[arg(short, long)]
        interactive: bool,
        /// Only what is in view
        #[arg(long)]
        viewport: bool,
        /// No deeper than this many levels
        #[arg(long, value_name = "N")]
        depth: Option<u32>,
    },
    /// Take a picture of the page, with secret fields painted over
    #[command(
        after_help = "Examples:\n  strawmanus screenshot\n  strawmanus screenshot --full-page -o page.png\n  strawmanus screenshot e4 --marks"
    )]
    Screenshot {
        /// Only this element
        #[arg(value_name = "TARGET", conflicts_with = "full_page")]
        target: Option<String>,
        /// The whole page
        #[arg(long)]
        full_page: bool,
        /// Outline what can be operated, with its number
        #[arg(long)]
        marks: bool,
        /// Where to write it; in the folder for screenshots when it is missing
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Find an element by words, and print its number
    #[command(
        after_help = "Examples:\n  strawmanus find \"the search field\"\n  strawmanus find \"Send button\" --json"
    )]
    Find {
        /// What it is called, and what it is
        #[arg(value_name = "WORDS")]
        words: String,
    },
    /// Print the parts of the page that have to do with a question
    #[command(after_help = "Example:\n  strawmanus extract \"price of the red kettle\"")]
    Extract {
        /// What is looked for, in words
        #[arg(value_name = "QUERY")]
        query: String,
        /// About this many characters at most
        #[arg(long, value_name = "N")]
        max_chars: Option<usize>,
    },
    /// Print the whole page as Markdown
    #[command(after_help = "Example:\n  strawmanus read > page.md")]
    Read {},
    /// List, open, switch or close tabs
    #[command(
        after_help = "Examples:\n  strawmanus tab list\n  strawmanus tab new example.com\n  strawmanus tab switch t2"
    )]
    Tab {
        #[command(subcommand)]
        action: TabVerb,
    },
    /// Click an element
    #[command(
        after_help = "Examples:\n  strawmanus click e12\n  strawmanus click 'role=button[name=\"Send\"]'\n  strawmanus click Delete --in Acme"
    )]
    Click {
        /// The element: a number or a description
        #[arg(value_name = "TARGET")]
        target: String,
        /// Only inside the row, card, dialog or section that holds these words
        #[arg(long = "in", value_name = "WORDS")]
        within: Option<String>,
    },
    /// Put text into a field, replacing what it held
    #[command(
        after_help = "Examples:\n  strawmanus fill e3 \"Ada Lovelace\"\n  strawmanus fill label=Search kettle --press-enter"
    )]
    Fill {
        /// The field: a number or a description
        #[arg(value_name = "TARGET")]
        target: String,
        /// What it shall hold; empty to clear it
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
        /// Press Enter afterwards
        #[arg(long)]
        press_enter: bool,
        /// Only inside the row, card, dialog or section that holds these words
        #[arg(long = "in", value_name = "WORDS")]
        within: Option<String>,
    },
    /// Press a key or a chord
    #[command(after_help = "Examples:\n  strawmanus press Enter\n  strawmanus press Control+A")]
    Press {
        /// Keys joined by +, such as Control+Shift+K
        #[arg(value_name = "CHORD")]
        chord: String,
    },
    /// Evaluate a script in the page and print its value
    #[command(after_help = "Example:\n  strawmanus eval \"document.title\"")]
    Eval {
        /// An expression of JavaScript; a promise is awaited
        #[arg(value_name = "SCRIPT", allow_hyphen_values = true)]
        script: String,
    },
    /// Read one thing from the page or the browser
    #[command(
        after_help = "Examples:\n  strawmanus get title\n  strawmanus get text e4\n  strawmanus get attr e4 href"
    )]
    Get {
        /// What to read
        #[arg(value_name = "WHAT")]
        what: Reading,
        /// The element; text and html are of the whole page without one
        #[arg(value_name = "TARGET")]
        target: Option<String>,
        /// The attribute's name, for attr
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Wait until the page shows something, or no longer does
    #[command(
        group(ArgGroup::new("until").required(true).args(["target", "text", "url_has"])),
        after_help = "Examples:\n  strawmanus wait e5 --gone\n  strawmanus wait --text \"Thank you\" --timeout 20s\n  strawmanus wait --url-has /done"
    )]
    Wait {
        /// Until this element is there
        #[arg(value_name = "TARGET")]
        target: Option<String>,
        /// Until the element is gone
        #[arg(long, requires = "target")]
        gone: bool,
        /// Until the page shows these words
        #[arg(long, value_name = "WORDS")]
        text: Option<String>,
        /// Until the address holds these words
        #[arg(long, value_name = "WORDS")]
        url_has: Option<String>,
    },
    /// Answer an open dialog
    #[command(
        after_help = "Examples:\n  strawmanus dialog accept\n  strawmanus dialog accept \"my answer\"\n  strawmanus dialog dismiss"
    )]
    Dialog {
        #[command(subcommand)]
        action: DialogVerb,
    },
    /// Stop a run
    #[command(after_help = "Example:\n  strawmanus stop r7")]
    Stop {
        /// The run's number, as `runs` lists it
        #[arg(value_name = "RUN", value_parser = run_id)]
        id: RunId,
    },
    /// Let a held act be done, or list what waits for a decision
    #[command(after_help = "Examples:\n  strawmanus approve\n  strawmanus approve h3")]
    Approve {
        /// The held act's number; what waits is listed when it is missing
        #[arg(value_name = "HOLD", value_parser = hold_id)]
        id: Option<HoldId>,
    },
    /// Let a held act never be done
    #[command(after_help = "Example:\n  strawmanus deny h3")]
    Deny {
        /// The held act's number, as `approve` lists it
        #[arg(value_name = "HOLD", value_parser = hold_id)]
        id: HoldId,
    },
    /// Answer what a run asks, or say that you did what it left to you
    #[command(
        after_help = "Examples:\n  strawmanus reply r7 \"The blue one\"\n  strawmanus reply r7 ''"
    )]
    Reply {
        /// The run's number, as `runs` lists it
        #[arg(value_name = "RUN", value_parser = run_id)]
        id: RunId,
        /// Your answer; empty when you have done what was left to you
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
    },
    /// End the session's browser
    Close {
        /// End every browser and the daemon too
        #[arg(long)]
        all: bool,
    },
    /// Show every actor, the runs' steps and what is held; live on a terminal
    #[command(after_help = "Examples:\n  strawmanus attach\n  strawmanus attach --run r7 --json")]
    Attach {
        /// Whose steps to show first; the newest run's when none is named
        #[arg(long, value_name = "RUN", value_parser = run_id)]
        run: Option<RunId>,
    },
    /// Check that everything needed is here and works
    #[command(after_help = "Examples:\n  strawmanus doctor\n  strawmanus doctor --fix")]
    Doctor {
        /// Mend what can be mended
        #[arg(long)]
        fix: bool,
    },
    /// Show the settings
    #[command(after_help = "Example:\n  strawmanus config show --origin")]
    Config {
        #[command(subcommand)]
        action: ConfigVerb,
    },
    /// Serve commands in the background; started when needed
    #[command(hide = true)]
    Daemon {},
}

impl Verb {
    /// Returns its name, as the shell and the socket write it.
    pub fn name(&self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(fields)) => {
                fields.keys().next().cloned().unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// Whether the daemon takes no part in it.
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Doctor { .. } | Self::Config { .. } | Self::Daemon {})
    }

    /// Returns how long it may take, all in all, unless the caller says otherwise; none for work
    /// that has limits of its own.
    pub fn patience(&self, limits: &RunLimits) -> Option<Span> {
        match self {
            Self::Run { .. } | Self::Demo {} => None,
            Self::Open { .. } | Self::Observe { .. } | Self::Tab { .. } => Some(limits.navigation),
            // A browser that ends in good order writes its profile first.
            Self::Close { .. } | Self::Stop { .. } => Some(limits.navigation),
            _ => Some(limits.action),
        }
    }
}

/// What can be done with tabs.
#[derive(Debug, Clone, PartialEq, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TabVerb {
    /// List the session's tabs
    List {},
    /// Open a tab and make it the current one
    New {
        /// Where to go; an empty page when it is missing
        #[arg(value_name = "URL")]
        url: Option<String>,
    },
    /// Make a tab the current one
    Switch {
        /// The tab's number, as `tab list` lists it
        #[arg(value_name = "TAB", value_parser = tab_id)]
        id: TabId,
    },
    /// Close a tab; the current one when none is named
    Close {
        /// The tab's number, as `tab list` lists it
        #[arg(value_name = "TAB", value_parser = tab_id)]
        id: Option<TabId>,
    },
}

/// How a dialog is answered.
#[derive(Debug, Clone, PartialEq, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DialogVerb {
    /// Press OK
    Accept {
        /// What to type into a prompt first
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        text: Option<String>,
    },
    /// Press Cancel
    Dismiss {},
}

/// What can be done with the settings.
#[derive(Debug, Clone, PartialEq, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfigVerb {
    /// Show every setting and its value
    Show {
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
    },
}

/// What `get` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    Text,
    Html,
    Value,
    Attr,
    Title,
    Url,
    Count,
    Box,
    CdpUrl,
}

impl Reading {
    /// How many words may follow it, at least and at most: a target, and for attr a name.
    pub fn words(self) -> (usize, usize) {
        match self {
            Self::Title | Self::Url | Self::CdpUrl => (0, 0),
            Self::Text | Self::Html => (0, 1),
            Self::Value | Self::Count | Self::Box => (1, 1),
            Self::Attr => (2, 2),
        }
    }
}

/// Reads `r7` or `7`.
fn run_id(word: &str) -> Result<RunId, String> {
    word.parse().map_err(|_| "a run is called r7 or 7; see `strawmanus runs`".to_owned())
}

/// Reads `h3` or `3`.
fn hold_id(word: &str) -> Result<HoldId, String> {
    word.parse().map_err(|_| "a held act is called h3 or 3; see `strawmanus approve`".to_owned())
}

/// Reads `t2` or `2`.
pub(crate) fn tab_id(word: &str) -> Result<TabId, String> {
    word.parse().map_err(|_| "a tab is called t2 or 2; see `strawmanus tab list`".to_owned())
}
