//! Every directory of the house: how any actor reaches any other.
use crate::domain::ids::{RunId, SessionName, TabId};
use crate::messages::directory::Directory;
use crate::messages::guard::GuardMsg;
use crate::messages::ledger::LedgerMsg;
use crate::messages::orchestrator::RunMsg;
use crate::messages::perception::PerceptionMsg;
use crate::messages::selector_cache::SelectorCacheMsg;
use crate::messages::session::SessionMsg;
use crate::messages::supervisor::{Seat, SupervisorMsg};
use crate::messages::tab::TabMsg;

/// Cheap to clone; all clones are one. Made at the root, it outlives every supervisor.
#[derive(Clone, Default)]
pub struct Doors {
    pub supervisors: Directory<Seat, SupervisorMsg>,
    pub guard: Directory<(), GuardMsg>,
    pub selector_cache: Directory<(), SelectorCacheMsg>,
    pub sessions: Directory<SessionName, SessionMsg>,
    pub tabs: Directory<TabId, TabMsg>,
    pub perceptions: Directory<TabId, PerceptionMsg>,
    pub ledgers: Directory<RunId, LedgerMsg>,
    pub orchestrators: Directory<RunId, RunMsg>,
}
