//! What a run's orchestrator takes.
use crate::messages::Reply;

/// The orchestrator protocol. It begins by itself.
#[derive(Debug)]
pub enum RunMsg {
    /// End the run with a report, as soon as the step under way allows.
    Stop { why: String, reply: Reply<(), RunError> },
    /// The loop is over. Posted by the orchestrator to itself.
    Ended(Result<(), RunError>),
}

/// Why a run's loop broke off without a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    #[error("the journal failed: {0}")]
    Journal(String),
    #[error("the report could not be written: {0}")]
    Report(String),
}
