//! What a run's ledger takes: entries of its journal.
use crate::domain::journal::{Entry, Event};
use crate::messages::Reply;

/// The ledger protocol.
#[derive(Debug)]
pub enum LedgerMsg {
    /// Write it down; answered when it is safe on disk.
    Record { event: Box<Event>, reply: Reply<Entry, LedgerError> },
    /// Everything written so far, oldest first.
    Replay { reply: Reply<Vec<Entry>, LedgerError> },
    /// The ask under way is answered. Posted by the ledger to itself.
    JobEnded,
}

/// Why nothing was written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    #[error("the journal could not be written: {0}")]
    Store(String),
    #[error("entry {number} of the journal cannot be read: {why}")]
    Unreadable { number: usize, why: String },
}
