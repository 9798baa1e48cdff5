//! What a supervisor takes, and the places it fills.
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
