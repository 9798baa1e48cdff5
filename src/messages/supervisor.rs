//! What a supervisor takes, and the places it fills.
use std::fmt;

use ractor::ActorId;
use serde::Serialize;

use crate::domain::ids::{RunId, SessionName, TabId};
use crate::messages::Reply;

/// A place in the tree; one incarnation after another sits in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seat {
    Root,
    Guard,
    SelectorCache,
    /// Supervises all sessions.
    Sessions,
    /// Supervises one session's browser and tabs: a new browser means new tabs.
    SessionGroup(SessionName),
    /// The browser session itself.
    Session(SessionName),
    /// Supervises a session's tabs: one that dies dies alone.
    Tabs(SessionName),
    /// Supervises a tab and its perception.
    TabGroup(TabId),
    Tab(TabId),
    Perception(TabId),
    /// Supervises all runs.
    Runs,
    /// Supervises one run's ledger and orchestrator.
    RunGroup(RunId),
    Ledger(RunId),
    Orchestrator(RunId),
}

/// The supervisor protocol.
#[derive(Debug)]
pub enum SupervisorMsg {
    /// Take `seat` on and start it. Answered as soon as it has an address, not when it runs.
    Add { seat: Seat, reply: Reply<(), SeatError> },
    /// Stop the child in `seat` for good. Answered when it is gone.
    Remove { seat: Seat, reply: Reply<(), SeatError> },
    /// Stop the child in `seat` in good order, and start it again, with those that were built on it.
    /// Not a death: it counts against nothing.
    Restart { seat: Seat },
    /// A start has succeeded, failed, or taken too long. Posted by the supervisor to itself.
    StartEnded { child: ActorId, outcome: Result<(), String> },
    /// The delay before this child's next incarnation is over. Posted by the supervisor to itself.
    DelayEnded { seat: Seat },
    /// A child that was told to stop is gone. Posted by the supervisor to itself.
    StopEnded { seat: Seat },
}

/// Why a supervisor did not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SeatError {
    #[error("there is such a child already; find its address instead")]
    Taken,
    #[error("such a child does not belong here; ask another supervisor")]
    Misplaced,
    #[error("there is no such child; read the board for those there are")]
    Unknown,
}

impl Seat {
    /// Returns the seats that belong to this one from its first start, in start order.
    pub fn fixed_children(&self) -> Vec<Self> {
        match self {
            Self::Root => vec![Self::SelectorCache, Self::Guard, Self::Sessions, Self::Runs],
            Self::SessionGroup(name) => {
                vec![Self::Session(name.clone()), Self::Tabs(name.clone())]
            }
            Self::TabGroup(tab) => vec![Self::Tab(*tab), Self::Perception(*tab)],
            Self::RunGroup(run) => vec![Self::Ledger(*run), Self::Orchestrator(*run)],
            Self::Guard
            | Self::SelectorCache
            | Self::Sessions
            | Self::Session(_)
            | Self::Tabs(_)
            | Self::Tab(_)
            | Self::Perception(_)
            | Self::Runs
            | Self::Ledger(_)
            | Self::Orchestrator(_) => vec![],
        }
    }

    /// Whether `child` may be added below this seat while it runs.
    pub fn takes(&self, child: &Self) -> bool {
        matches!(
            (self, child),
            (Self::Sessions, Self::SessionGroup(_))
                | (Self::Tabs(_), Self::TabGroup(_))
                | (Self::Runs, Self::RunGroup(_))
        )
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("root"),
            Self::Guard => f.write_str("guard"),
            Self::SelectorCache => f.write_str("selector cache"),
            Self::Sessions => f.write_str("sessions"),
            Self::SessionGroup(name) => write!(f, "session {name}"),
            Self::Session(name) => write!(f, "browser of {name}"),
            Self::Tabs(name) => write!(f, "tabs of {name}"),
            Self::TabGroup(tab) => write!(f, "tab group {tab}"),
            Self::Tab(tab) => write!(f, "tab {tab}"),
            Self::Perception(tab) => write!(f, "perception {tab}"),
            Self::Runs => f.write_str("runs"),
            Self::RunGroup(run) => write!(f, "run {run}"),
            Self::Ledger(run) => write!(f, "ledger {run}"),
            Self::Orchestrator(run) => write!(f, "orchestrator {run}"),
        }
    }
}
