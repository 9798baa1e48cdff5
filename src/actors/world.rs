//! What actors are given of the world: ports, doors, books.
use std::sync::Arc;
use std::time::Duration;

use crate::domain::guard::Words;
use crate::messages::board::Board;
use crate::messages::books::Books;
use crate::messages::doors::Doors;
use crate::ports::browser::Launcher;
use crate::ports::clock::Clock;
use crate::ports::files::Files;
use crate::ports::nonces::Nonces;
use crate::ports::rules::RuleFile;
use crate::ports::sealed::Sealed;
use crate::ports::store::Store;

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct World {
    pub launcher: Arc<dyn Launcher>,
    pub store: Arc<dyn Store>,
    pub sealed: Arc<dyn Sealed>,
    pub files: Arc<dyn Files>,
    pub clock: Arc<dyn Clock>,
    pub nonces: Arc<dyn Nonces>,
    /// What the guard knows irreversible deeds by.
    pub words: Arc<Words>,
    /// The user's own rules, as they are now.
    pub rules: Arc<dyn RuleFile>,
    pub doors: Doors,
    pub books: Books,
    pub board: Board,
    pub settings: Settings,
}

/// Bounds that the user may set.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How many commands may wait for one tab.
    pub tab_queue: usize,
    /// How long an actor waits for another, where the caller set no deadline of its own.
    pub patience: Duration,
    /// How long the approval of a held act counts.
    pub approval: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let (patience, approval) = (Duration::from_secs(10), Duration::from_secs(10 * 60));
        Self { tab_queue: 16, patience, approval }
    }
}
