//! What the guard takes: cases to judge, before anything is dispatched.
use serde::{Deserialize, Serialize};

use crate::domain::guard::{Case, Judgement};
use crate::domain::ids::{HoldId, RunId};
use crate::domain::run::Consent;
use crate::messages::Reply;

/// The guard protocol. A guard that does not answer holds.
#[derive(Debug)]
pub enum GuardMsg {
    /// May this be done? A hold is stored before it is answered.
    Judge {
        case: Box<Case>,
        what: String,
        consent: Consent,
        run: Option<RunId>,
        reply: Reply<Ruling, GuardError>,
    },
    /// What is held?
    ListHolds { reply: Reply<Vec<Hold>, GuardError> },
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
    Hold(HoldId),
}

/// One act that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub id: HoldId,
    pub what: String,
    pub url: String,
    pub why: String,
    pub payload: String,
    pub run: Option<RunId>,
    pub at: jiff::Timestamp,
}

/// Why there is no ruling.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    #[error("the hold could not be stored: {0}")]
    Store(String),
}
