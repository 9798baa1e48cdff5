//! The tree as one picture: who stands where, and how each is started. Nobody else spawns an actor.
//!
//! ```text
//! root                       one for one
//! ├── selector cache
//! ├── guard
//! ├── sessions               one for one; a session that cannot be kept running is given up
//! │   └── session NAME       rest for one: a new browser means new tabs
//! │       ├── browser
//! │       └── tabs           one for one; a tab that cannot be kept is given up alone
//! │           └── tab group  rest for one
//! │               ├── tab
//! │               └── perception
//! └── runs                   one for one; a run whose loop keeps dying is given up
//!     └── run N              rest for one
//!         ├── ledger
//!         └── orchestrator
//! ```

use std::sync::Arc;
use std::time::Duration;

use ractor::concurrency::JoinHandle;
use ractor::{Actor, ActorCell, ActorRef, ActorRuntime, Message, SpawnErr};

use crate::actors::guard::{Guard, GuardArgs};
use crate::actors::ledger::{Ledger, LedgerArgs};
use crate::actors::orchestrator::{Orchestrator, OrchestratorArgs};
use crate::actors::perception::{Perception, PerceptionArgs};
use crate::actors::selector_cache::{SelectorCache, SelectorCacheArgs};
use crate::actors::session::{Session, SessionArgs};
use crate::actors::tab::{Tab, TabArgs};
use crate::actors::world::World;
use crate::messages::board::Desk;
use crate::messages::books::Books;
use crate::messages::directory::Directory;
use crate::messages::doors::Doors;
use crate::messages::inbox::Inbox;
use crate::messages::supervisor::{Seat, SeatError, SupervisorMsg};
use crate::supervision::policy::{AtLimit, RestartPolicy};
use crate::supervision::roster::Roster;
use crate::supervision::strategy::Strategy;
use crate::supervision::supervisor::{Supervisor, SupervisorArgs};

/// What outlives every supervisor.
pub struct Tree {
    pub doors: Doors,
    pub books: Books,
    pub board: crate::messages::board::Board,
    roster: Roster,
    world: World,
    plan: Plan,
}

/// What may differ between two trees.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub policy: RestartPolicy,
    /// How long a child may take to start, and how long to stop.
    pub patience: Duration,
}

impl Default for Plan {
    fn default() -> Self {
        let policy = RestartPolicy {
            limit: 3,
            window: Duration::from_secs(60),
            first_delay: Duration::from_millis(100),
            longest_delay: Duration::from_secs(5),
            at_limit: AtLimit::Escalate,
        };
        Self { policy, patience: Duration::from_secs(30) }
    }
}

/// An incarnation on its way.
pub struct Newborn {
    pub cell: ActorCell,
    pub desk: Desk,
    pub start: Start,
}

/// Ends when the child runs, or says why it does not.
pub type Start = JoinHandle<Result<JoinHandle<()>, SpawnErr>>;

/// Starts the root. Stopping it stops everything, last first; if it dies, there is nobody above to
/// start it again.
pub async fn plant(
    plan: Plan,
    world: World,
) -> Result<(Arc<Tree>, ActorRef<SupervisorMsg>), SpawnErr> {
    let tree = Arc::new(Tree {
        doors: world.doors.clone(),
        books: world.books.clone(),
        board: world.board.clone(),
        roster: Roster::default(),
        world,
        plan,
    });
    tree.settle_in(&Seat::Root);
    let args = tree.supervisor(tree.desk(&Seat::Root));
    let (root, _) = Actor::spawn(None, Supervisor, args).await?;
    Ok((tree, root))
}

impl Tree {
    /// Gives `seat` and its fixed children their places below `parent`, and their doors.
    pub fn admit(&self, parent: &Seat, seat: &Seat) -> Result<(), SeatError> {
        if !parent.takes(seat) {
            return Err(SeatError::Misplaced);
        }
        if !self.roster.add(parent, seat.clone()) {
            return Err(SeatError::Taken);
        }
        self.settle_in(seat);
        Ok(())
    }

    fn settle_in(&self, seat: &Seat) {
        self.each_door(seat, Hang);
        for child in seat.fixed_children() {
            self.roster.add(seat, child.clone());
            self.settle_in(&child);
        }
    }

    /// Starts the next incarnation of `seat`, without waiting for it.
    pub fn start(self: &Arc<Self>, seat: &Seat, parent: ActorCell) -> Result<Newborn, SpawnErr> {
        let desk = self.desk(seat);
        let world = self.world.clone();
        let (cell, start) = match (seat.clone(), desk.clone()) {
            (Seat::Guard, desk) => spawn(Guard, GuardArgs { world, desk }, parent)?,
            (Seat::SelectorCache, desk) => {
                spawn(SelectorCache, SelectorCacheArgs { world, desk }, parent)?
            }
            (Seat::Session(name), desk) => {
                spawn(Session, SessionArgs { name, world, desk }, parent)?
            }
            (Seat::Tab(id), desk) => spawn(Tab, TabArgs { id, world, desk }, parent)?,
            (Seat::Perception(_), desk) => spawn(Perception, PerceptionArgs { desk }, parent)?,
            (Seat::Ledger(run), desk) => spawn(Ledger, LedgerArgs { run, world, desk }, parent)?,
            (Seat::Orchestrator(run), desk) => {
                spawn(Orchestrator, OrchestratorArgs { run, world, desk }, parent)?
            }
            (
                Seat::Root
                | Seat::Sessions
                | Seat::SessionGroup(_)
                | Seat::Tabs(_)
                | Seat::TabGroup(_)
                | Seat::Runs
                | Seat::RunGroup(_),
                desk,
            ) => spawn(Supervisor, self.supervisor(desk), parent)?,
        };
        Ok(Newborn { cell, desk, start })
    }

    /// Puts a child that runs behind its door.
    pub fn open(&self, cell: ActorCell, desk: &Desk) {
        self.each_door(&desk.seat, Open(cell, desk));
    }

    /// Nobody sits in `seat` for now.
    pub fn shut(&self, seat: &Seat) {
        self.each_door(seat, Shut);
    }

    /// Nobody will ever sit in `seat` again, nor below it: takes them off the roster, closes their
    /// doors, and returns them.
    pub fn retire(&self, seat: &Seat) -> Vec<Seat> {
        let retired = self.roster.remove(seat);
        for seat in &retired {
            self.each_door(seat, Close);
            self.forget(seat);
        }
        retired
    }

    pub fn below(&self, seat: &Seat) -> Vec<Seat> {
        self.roster.below(seat)
    }

    /// The one place that knows which directory holds whose door.
    fn each_door(&self, seat: &Seat, act: impl DoorAct) {
        let doors = &self.doors;
        match seat {
            Seat::Guard => act.on(&doors.guard, &()),
            Seat::SelectorCache => act.on(&doors.selector_cache, &()),
            Seat::Session(name) => act.on(&doors.sessions, name),
            Seat::Tab(id) => act.on(&doors.tabs, id),
            Seat::Perception(id) => act.on(&doors.perceptions, id),
            Seat::Ledger(run) => act.on(&doors.ledgers, run),
            Seat::Orchestrator(run) => act.on(&doors.orchestrators, run),
            Seat::Root
            | Seat::Sessions
            | Seat::SessionGroup(_)
            | Seat::Tabs(_)
            | Seat::TabGroup(_)
            | Seat::Runs
            | Seat::RunGroup(_) => act.on(&doors.supervisors, seat),
        }
    }

    /// What the books know of a seat goes with it.
    fn forget(&self, seat: &Seat) {
        match seat {
            Seat::SessionGroup(name) => {
                self.books.sessions.remove(name);
                self.books.restarts.remove(name);
            }
            Seat::TabGroup(tab) => drop(self.books.tabs.remove(tab)),
            Seat::RunGroup(run) => {
                self.books.runs.remove(run);
                self.books.deaths_noted.remove(run);
            }
            Seat::Root
            | Seat::Guard
            | Seat::SelectorCache
            | Seat::Sessions
            | Seat::Session(_)
            | Seat::Tabs(_)
            | Seat::Tab(_)
            | Seat::Perception(_)
            | Seat::Runs
            | Seat::Ledger(_)
            | Seat::Orchestrator(_) => {}
        }
    }

    fn supervisor(self: &Arc<Self>, desk: Desk) -> SupervisorArgs {
        let strategy = match desk.seat {
            Seat::SessionGroup(_) | Seat::TabGroup(_) | Seat::RunGroup(_) => Strategy::RestForOne,
            _ => Strategy::OneForOne,
        };
        let Plan { policy, patience } = self.plan;
        let policy = match desk.seat {
            Seat::Sessions | Seat::Runs => {
                RestartPolicy { limit: 0, at_limit: AtLimit::Retire, ..policy }
            }
            // A page that kills its process again and again must not take the other tabs with it.
            Seat::Tabs(_) => RestartPolicy { limit: 1, at_limit: AtLimit::Retire, ..policy },
            _ => policy,
        };
        SupervisorArgs { desk, strategy, policy, patience, tree: Arc::clone(self) }
    }

    fn desk(&self, seat: &Seat) -> Desk {
        let incarnation = self.roster.next_incarnation(seat);
        let (seat, board) = (seat.clone(), self.board.clone());
        Desk { seat, incarnation, vitals: Arc::default(), board }
    }
}

/// Something done to a door, whatever its kind.
trait DoorAct {
    fn on<K: Eq + std::hash::Hash + Clone, M: Message>(self, doors: &Directory<K, M>, id: &K);
}

struct Hang;
struct Open<'a>(ActorCell, &'a Desk);
struct Shut;
struct Close;

impl DoorAct for Hang {
    fn on<K: Eq + std::hash::Hash + Clone, M: Message>(self, doors: &Directory<K, M>, id: &K) {
        doors.add(id.clone());
    }
}

impl DoorAct for Open<'_> {
    fn on<K: Eq + std::hash::Hash + Clone, M: Message>(self, doors: &Directory<K, M>, id: &K) {
        doors.open(id, Inbox::new(self.0.into(), Arc::clone(&self.1.vitals)));
    }
}

impl DoorAct for Shut {
    fn on<K: Eq + std::hash::Hash + Clone, M: Message>(self, doors: &Directory<K, M>, id: &K) {
        doors.shut(id);
    }
}

impl DoorAct for Close {
    fn on<K: Eq + std::hash::Hash + Clone, M: Message>(self, doors: &Directory<K, M>, id: &K) {
        doors.close(id);
    }
}

fn spawn<A: Actor>(
    actor: A,
    args: A::Arguments,
    parent: ActorCell,
) -> Result<(ActorCell, Start), SpawnErr> {
    let (actor, start) = ActorRuntime::spawn_linked_instant(None, actor, args, parent)?;
    Ok((actor.get_cell(), start))
}
