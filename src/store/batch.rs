//! What callers ask of the store's thread, and what of it goes into one transaction.
use tokio::sync::oneshot;

use crate::domain::ids::RunId;
use crate::ports::store::{Counter, Durability, StoreError, Table};

/// Where an answer goes. A caller that stopped waiting is no error.
pub(super) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

#[derive(Debug)]
pub(super) enum Request {
    Write(Write),
    Read(Read),
}

/// A change, answered by its number where it has one.
#[derive(Debug)]
pub(super) struct Write {
    pub kind: WriteKind,
    pub how: Durability,
    pub reply: Answer<u64>,
}

#[derive(Debug)]
pub(super) enum WriteKind {
    Append { run: RunId, entry: String },
    Put { table: Table, key: String, value: String },
    Delete { table: Table, key: String },
    Next { counter: Counter },
}

#[derive(Debug)]
pub(super) enum Read {
    Journal { run: RunId, reply: Answer<Vec<String>> },
    Get { table: Table, key: String, reply: Answer<Option<String>> },
    All { table: Table, reply: Answer<Vec<(String, String)>> },
}

/// Everything that waited at one moment: writes in their order, then reads.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub writes: Vec<Write>,
    pub reads: Vec<Read>,
}

impl Batch {
    /// How many requests one transaction takes at most, so that nobody waits for a flood.
    const MOST: usize = 512;

    /// Takes `first` and whatever else waits already.
    pub fn of(first: Request, waiting: impl Iterator<Item = Request>) -> Self {
        let mut batch = Self::default();
        for request in std::iter::once(first).chain(waiting).take(Self::MOST) {
            match request {
                Request::Write(write) => batch.writes.push(write),
                Request::Read(read) => batch.reads.push(read),
            }
        }
        batch
    }

    /// One write that must be on disk takes the whole batch with it.
    pub fn durability(&self) -> Durability {
        let synced = self.writes.iter().any(|write| write.how == Durability::Synced);
        if synced { Durability::Synced } else { Durability::Soon }
    }
}
