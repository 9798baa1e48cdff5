//! What outlives every incarnation and is no actor's own: the orders that sessions and runs were
//! started with, and what is remembered of each tab. Made at the root, shared by address.

use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::broadcast;

use crate::domain::ids::{RunId, SessionName, TabId};
use crate::domain::journal::Entry;
use crate::domain::page::numbering::Numbering;
use crate::domain::run::RunOrder;
use crate::messages::obituaries::Obituaries;
use crate::messages::pace::Pace;
use crate::messages::session::{Owner, Restarting};
use crate::ports::browser::LaunchSpec;
use crate::ports::model::Model;
use crate::ports::page::{Dialog, TargetKey};

/// What is remembered of a tab between its incarnations.
#[derive(Debug, Clone)]
pub struct TabNote {
    pub session: SessionName,
    pub owner: Owner,
    /// Where it was last; a new incarnation goes there by navigation.
    pub url: String,
    pub title: String,
    pub target: Option<TargetKey>,
    /// The tab that opened it.
    pub opener: Option<TabId>,
    pub numbering: Numbering,
    pub landings: u32,
    /// Its page came as the answer to a form, so that going there again shows something else.
    pub from_form: bool,
    /// What is open over the page.
    pub dialog: Option<Dialog>,
    /// It vanished once already while a run worked in it.
    pub reopened: bool,
    /// How long it waited for its pages.
    pub pace: Pace,
}

impl TabNote {
    pub fn new(session: SessionName, owner: Owner, url: String) -> Self {
        Self {
            session,
            owner,
            url,
            title: String::new(),
            target: None,
            opener: None,
            numbering: Numbering::default(),
            landings: 0,
            from_form: false,
            dialog: None,
            reopened: false,
            pace: Pace::default(),
        }
    }
}

/// What is remembered of a session.
#[derive(Debug, Clone)]
pub struct SessionNote {
    pub spec: LaunchSpec,
    /// The browser did not start the last time; the next time it may be started otherwise.
    pub failed: bool,
    /// The tab that shell commands act on.
    pub current: Option<TabId>,
}

/// What a run was started with, and where its steps can be watched.
#[derive(Clone)]
pub struct RunNote {
    pub order: RunOrder,
    pub model: Arc<dyn Model>,
    pub feed: broadcast::Sender<Entry>,
}

/// Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub struct Books {
    pub sessions: Arc<DashMap<SessionName, SessionNote>>,
    pub tabs: Arc<DashMap<TabId, TabNote>>,
    pub runs: Arc<DashMap<RunId, RunNote>>,
    pub obituaries: Obituaries,
    /// What is left to do for a session that is being started again.
    pub restarts: Arc<DashMap<SessionName, Restarting>>,
    /// Up to which death each run has written down those that concern it.
    pub deaths_noted: Arc<DashMap<RunId, usize>>,
}

impl Books {
    /// Returns the tabs of a session, oldest first.
    pub fn tabs_of(&self, session: &SessionName) -> Vec<(TabId, TabNote)> {
        let mine = self.tabs.iter().filter(|note| note.session == *session);
        let mut tabs: Vec<_> = mine.map(|note| (*note.key(), note.clone())).collect();
        tabs.sort_by_key(|(id, _)| *id);
        tabs
    }

    /// Changes what is remembered of `tab`, if it is still there.
    pub fn note_tab<T>(&self, tab: TabId, change: impl FnOnce(&mut TabNote) -> T) -> Option<T> {
        self.tabs.get_mut(&tab).map(|mut note| change(&mut note))
    }
}
