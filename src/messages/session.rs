//! What a session actor takes: it owns the browser and knows its tabs.
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::ids::{RunId, TabId};
use crate::messages::Reply;
use crate::ports::Sink;
use crate::ports::browser::{About, Browser, BrowserError, BrowserEvent};
use crate::ports::page::{Page, PageError, PageEvent};

/// The session protocol.
pub enum SessionMsg {
    /// Make a tab; answered as soon as it has an address.
    NewTab { url: Option<String>, owner: Owner, reply: Reply<TabId, SessionError> },
    /// Close a tab for good, even one whose page hangs.
    CloseTab { tab: TabId, reply: Reply<(), SessionError> },
    /// Make a tab the one that shell commands act on.
    SwitchTab { tab: TabId, reply: Reply<(), SessionError> },
    /// List the tabs, without asking any page.
    ListTabs { reply: Reply<Vec<TabLine>, SessionError> },
    /// Say which tab shell commands act on; makes one when there is none.
    CurrentTab { reply: Reply<TabId, SessionError> },
    /// Start the browser again, in good order: logins stay, and each tab goes to its URL. With
    /// `headed` it gets a window, or loses it, from now on. Answered when the new one runs.
    Restart { headed: Option<bool>, reply: Reply<(), SessionError> },
    /// Say what browser this is.
    Describe { reply: Reply<About, SessionError> },
    /// A tab actor wants its page: its old target, or a new one at its last URL.
    OpenPage {
        tab: TabId,
        sink: Sink<PageEvent>,
        patience: Duration,
        reply: Reply<Arc<dyn Page>, PageError>,
    },
    /// A tab has finished a piece of work that may have set cookies.
    TabActed { tab: TabId },
    /// The browser did something by itself. Posted by the browser.
    BrowserSaid(BrowserEvent),
    /// A tab's page was closed by somebody else, and the tab is not to come back.
    TabVanished { tab: TabId },
    /// The browser started, or did not. Posted by the session to itself.
    Launched(Result<Arc<dyn Browser>, BrowserError>),
    /// A page was opened, or not. Posted by the session to itself.
    OpeningEnded { tab: TabId, error: Option<PageError> },
    /// The cookies were copied. Posted by the session to itself.
    LoginsKept(Result<(), String>),
}

/// What an incarnation that is being started again leaves to the next one.
#[derive(Default)]
pub struct Restarting {
    /// Those who asked for it, and wait for the new browser.
    pub replies: Vec<Reply<(), SessionError>>,
    /// The browser had no window before, and gets one; taken back if it does not start so.
    pub new_window: bool,
    /// Asks that were waiting for the old browser.
    pub asks: Vec<SessionMsg>,
}

/// Whom a tab works for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    Shell,
    Run(RunId),
}

/// One row of `tab list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabLine {
    pub id: TabId,
    pub title: String,
    pub url: String,
    pub active: bool,
    pub owner: Owner,
}

/// Why a session did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    #[error("there is no tab {0}; see `strawmanus tab list`")]
    NoTab(TabId),
    #[error("tab {0} belongs to {1}; use another tab")]
    Owned(TabId, RunId),
    #[error(
        "this browser was started by somebody else; start it again there, or use another --session"
    )]
    NotOurs,
    #[error("{0}")]
    Browser(String),
    #[error("the store failed: {0}")]
    Store(String),
}
