//! What the store knows of each run besides its journal.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use crate::actors::world::World;
use crate::domain::cost::Price;
use crate::domain::ids::RunId;
use crate::domain::journal::{Ending, Status};
use crate::ports::store::{Durability, StoreError, Table};

/// One row of `runs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    pub id: RunId,
    pub task: String,
    pub session: String,
    pub state: RunState,
    pub folder: PathBuf,
    pub began: Timestamp,
    pub ended: Option<Timestamp>,
    /// How it ended, in words.
    pub why: String,
    /// What its model costs, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// Where a run stands, from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Running,
    /// The daemon died under it.
    Interrupted,
    Complete,
    Partial,
    Blocked,
    Failed,
}

impl RunState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
        }
    }
}

impl From<Status> for RunState {
    fn from(status: Status) -> Self {
        match status {
            Status::Complete => Self::Complete,
            Status::Partial => Self::Partial,
            Status::Blocked => Self::Blocked,
            Status::Failed => Self::Failed,
        }
    }
}

impl RunRow {
    pub fn ended(mut self, ending: &Ending, at: Timestamp) -> Self {
        (self.state, self.ended) = (ending.status.into(), Some(at));
        self.why.clone_from(&ending.why);
        self
    }

    /// Writes the row, in place of what stood there.
    pub async fn keep(&self, world: &World) -> Result<(), StoreError> {
        let row = serde_json::to_string(self).expect("a row is plain data");
        let key = format!("{:010}", self.id.0);
        world.store.put(Table::Runs, key, row, Durability::Synced).await
    }

    pub async fn find(world: &World, id: RunId) -> Result<Option<Self>, StoreError> {
        let row = world.store.get(Table::Runs, &format!("{:010}", id.0)).await?;
        Ok(row.and_then(|row| serde_json::from_str(&row).ok()))
    }

    /// Returns every run, oldest first. A row that cannot be read is left out, and logged.
    pub async fn all(world: &World) -> Result<Vec<Self>, StoreError> {
        let rows = world.store.all(Table::Runs).await?;
        let read = |(key, row): &(String, String)| match serde_json::from_str(row) {
            Ok(row) => Some(row),
            Err(error) => {
                tracing::warn!(key, %error, "a run's row cannot be read");
                None
            }
        };
        Ok(rows.iter().filter_map(read).collect())
    }
}

/// After a start: what ran when the last daemon died is no longer running.
pub async fn mark_interrupted(world: &World) -> Result<usize, StoreError> {
    let rows = RunRow::all(world).await?;
    let mut marked = 0;
    for mut row in rows.into_iter().filter(|row| row.state == RunState::Running) {
        row.state = RunState::Interrupted;
        row.why = "the daemon died under it".into();
        row.keep(world).await?;
        marked += 1;
    }
    Ok(marked)
}
