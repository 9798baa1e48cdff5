//! What outlives the daemon: numbered journals, counters, and small tables of JSON.
use async_trait::async_trait;

use crate::domain::ids::RunId;

/// Why the store did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the store {path} is open in another process; one daemon at a time")]
    Locked { path: String },
    #[error("the disk refused a write to the store: {why}; free some space and try again")]
    Disk { why: String },
    #[error("the store is damaged: {why}; move {path} away and start again")]
    Damaged { path: String, why: String },
    #[error("the store is closed")]
    Closed,
}

/// How sure a write must be before it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// On disk: survives `kill -9` and a power cut.
    Synced,
    /// Soon on disk: the last moments may be lost.
    Soon,
}

/// A small table, key and value both text (values are JSON).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Table {
    /// One row a run: what it is and how it stands.
    Runs,
    /// Selector cache.
    Selectors,
    /// Actions held for a person.
    Holds,
}

/// A number that only grows, also across restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counter {
    Run,
    Tab,
    Hold,
}

#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Appends to the journal of `run`, and returns the entry's number, from 0.
    async fn append(&self, run: RunId, entry: String, how: Durability) -> Result<u64, StoreError>;
    /// Returns the whole journal of `run`, in order.
    async fn journal(&self, run: RunId) -> Result<Vec<String>, StoreError>;
    async fn put(
        &self,
        table: Table,
        key: String,
        value: String,
        how: Durability,
    ) -> Result<(), StoreError>;
    async fn get(&self, table: Table, key: &str) -> Result<Option<String>, StoreError>;
    async fn delete(&self, table: Table, key: &str) -> Result<(), StoreError>;
    /// Returns all rows of a table, by key.
    async fn all(&self, table: Table) -> Result<Vec<(String, String)>, StoreError>;
    /// Returns the next value of `counter`, from 1; synced before it is answered.
    async fn next(&self, counter: Counter) -> Result<u32, StoreError>;
}
