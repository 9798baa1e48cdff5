//! What a run's orchestrator takes.
use crate::domain::ids::HoldId;
use crate::messages::Reply;

/// The orchestrator protocol. It begins by itself.
#[derive(Debug)]
pub enum RunMsg {
    /// End the run with a report, as soon as the step under way allows.
    Stop { why: String, reply: Reply<(), RunError> },
    /// A person decided on an act of the run. Answers whether the run takes it from here.
    Decided { hold: HoldId, approved: bool, reply: Reply<bool, RunError> },
    /// A person answers a question, or has done what they took over. Answers whether it was waited for.
    Reply { text: String, reply: Reply<bool, RunError> },
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
