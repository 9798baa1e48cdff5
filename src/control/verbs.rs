//! The one table of verbs: what the shell parses, what help lists and what goes over the socket.
//!
//! clap's names and serde's names are the same by a test. Targets stay text here; the daemon, which
//! knows the page, reads them.
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::config::span::Span;
use crate::domain::ids::{RunId, SessionName, TabId};
use crate::ports::browser::ProfileMode;

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
        #[arg(value_name = "RUN")]
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
        #[arg(value_name = "TARGET")]
        target: String,
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
        #[arg(value_name = "CHORD")]
        chord: String,
    },
    /// Evaluate a script in the page and print its value
    #[command(after_help = "Example:\n  strawmanus eval \"document.title\"")]
    Eval {
        #[arg(value_name = "SCRIPT", allow_hyphen_values = true)]
        script: String,
    },
    /// Read one thing from the page or the browser
    #[command(
        after_help = "Examples:\n  strawmanus get title\n  strawmanus get text e4\n  strawmanus get attr e4 href"
    )]
    Get {
        #[arg(value_name = "WHAT")]
        what: Reading,
        /// The element; needed for text, html, value, attr, count and box
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
        #[arg(value_name = "RUN")]
        id: RunId,
    },
    /// End the session's browser
    Close {
        /// End every browser and the daemon too
        #[arg(long)]
        all: bool,
    },
    /// Show what every actor is doing
    Attach {},
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

/// What can be done with tabs.
#[derive(Debug, Clone, PartialEq, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TabVerb {
    /// List the session's tabs
    List {},
    /// Open a tab and make it the current one
    New {
        #[arg(value_name = "URL")]
        url: Option<String>,
    },
    /// Make a tab the current one
    Switch {
        #[arg(value_name = "TAB")]
        id: TabId,
    },
    /// Close a tab; the current one when none is named
    Close {
        #[arg(value_name = "TAB")]
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
    /// Whether it is read from an element.
    pub fn needs_target(self) -> bool {
        !matches!(self, Self::Title | Self::Url | Self::CdpUrl)
    }
}

/// The flags that every verb takes.
#[derive(Debug, Clone, PartialEq, Default, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Global flags")]
pub struct Globals {
    /// The browser session to work in [default: default]
    #[arg(long, global = true, value_name = "NAME")]
    pub session: Option<SessionName>,
    /// Whose profile the browser runs on [default: cloned]
    #[arg(long, global = true, value_name = "MODE", value_parser = profiles())]
    pub profile: Option<ProfileMode>,
    /// Show no window
    #[arg(long, global = true, conflicts_with = "headed")]
    pub headless: bool,
    /// Show the window
    #[arg(long, global = true)]
    pub headed: bool,
    /// Use a browser that runs already, by its debugging address
    #[arg(long, global = true, value_name = "URL")]
    pub cdp: Option<String>,
    /// The model that decides, or script:FILE
    #[arg(long, global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// Where the model's service is
    #[arg(long, global = true, value_name = "URL")]
    pub base_url: Option<String>,
    /// End a run after this many steps
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,
    /// End a run after this many minutes
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_minutes: Option<u32>,
    /// How many entities the answer should have
    #[arg(long, global = true, value_name = "N")]
    pub expect: Option<u32>,
    /// Let acts that cannot be undone pass on the hosts of --allow
    #[arg(long, global = true, requires = "allow")]
    pub auto_approve: bool,
    /// Hosts on which --auto-approve counts
    #[arg(long, global = true, value_name = "DOMAIN", value_delimiter = ',')]
    pub allow: Vec<String>,
    /// How long the command may take: 10s, 500ms, 2m
    #[arg(long, global = true, value_name = "TIME")]
    pub timeout: Option<Span>,
    /// Act on this tab without switching to it
    #[arg(long, global = true, value_name = "TAB")]
    pub tab: Option<TabId>,
    /// Answer in JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Print the result alone
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more; twice for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

fn profiles() -> impl clap::builder::TypedValueParser<Value = ProfileMode> {
    PossibleValuesParser::new(["cloned", "fresh", "attach"]).map(|word| match word.as_str() {
        "fresh" => ProfileMode::Fresh,
        "attach" => ProfileMode::Attach,
        _ => ProfileMode::Cloned,
    })
}
