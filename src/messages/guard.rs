//! What the guard takes: cases to judge, before anything is dispatched, and a person's decisions.
use crate::domain::guard::Judgement;
use crate::domain::guard::ticket::{Bond, Unfit};
use crate::domain::ids::{HoldId, RunId};
use crate::domain::run::Consent;
use crate::messages::Reply;

pub use crate::domain::guard::ticket::{Hold, HoldState};

/// The guard protocol. A guard that does not answer holds.
#[derive(Debug)]
pub enum GuardMsg {
    /// May this be done? A hold is stored before it is answered; a ticket is used up before.
    Judge { question: Box<Question>, reply: Reply<Ruling, GuardError> },
    /// May a tab go there? By the user's rules alone.
    MayGo { url: String, reply: Reply<(), GuardError> },
    /// A person approves or denies what is held; answers the hold as it stands then.
    Decide { id: HoldId, approve: bool, reply: Reply<Hold, GuardError> },
    /// What is held as this? In its state by now.
    Find { id: HoldId, reply: Reply<Hold, GuardError> },
    /// What is held? All of it, oldest first, each in its state by now.
    ListHolds { reply: Reply<Vec<Hold>, GuardError> },
}

/// What is judged, and what the user allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The act, and all that an approval of it would be bound to.
    pub bond: Bond,
    /// What it would send, as far as a person may read it.
    pub payload: String,
    pub consent: Consent,
    pub run: Option<RunId>,
    /// The approval of a person for this very act.
    pub ticket: Option<HoldId>,
}

/// What the guard decided, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    pub judgement: Judgement,
    pub decision: Decision,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Pass,
    /// Irreversible, but on a host where the user allows it unasked.
    Allow,
    /// Irreversible, and approved by a person; the approval is used up.
    Approved(HoldId),
    Hold(HoldId),
}

/// Why there is no ruling, or no decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    #[error("the holds cannot be reached: {0}")]
    Store(String),
    /// The user's rules do not let it be done, whoever approves it.
    #[error("{0}; nothing was done")]
    Denied(String),
    #[error(transparent)]
    Unfit(#[from] Unfit),
}
