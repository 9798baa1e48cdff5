//! The guard: rules on every action before it is dispatched.
//!
//! - **Takes** [`GuardMsg`].
//! - **Answers** with a ruling; a hold is stored before it is answered, and an approval is used up
//!   before.
//! - **Dies** of nothing of its own. A dead or late guard means held: that is its callers' part.
//! - **Then** it is started again; the holds are in the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::Mutex;

use crate::actors::settle::settle;
use crate::actors::world::World;
use crate::domain::guard::policy::{Order, Policy};
use crate::domain::guard::sentence::{Sentence, sentence};
use crate::domain::guard::ticket::{Bond, Moment, Unfit, preview};
use crate::domain::guard::{Case, Class};
use crate::domain::ids::HoldId;
use crate::messages::Reply;
use crate::messages::board::Desk;
use crate::messages::guard::{Decision, GuardError, GuardMsg, Hold, HoldState, Question, Ruling};
use crate::messages::inbox::{Inbox, Job};
use crate::ports::store::{Counter, Durability, StoreError, Table};

/// Behaviour only; see [`GuardState`].
pub struct Guard;

pub struct GuardArgs {
    pub world: World,
    pub desk: Desk,
}

pub struct GuardState {
    world: World,
    desk: Desk,
    inbox: Inbox<GuardMsg>,
    /// Work with the store, beside the mailbox; the finished are dropped with the next.
    jobs: Vec<Job>,
    /// Held by whoever changes a hold: nothing is used twice.
    holds: Arc<Mutex<()>>,
    tally: Arc<Tally>,
}

/// How much it did since it began.
#[derive(Default)]
struct Tally {
    judged: AtomicU64,
    held: AtomicU64,
}

impl Tally {
    fn told(&self) -> String {
        format!("{} judged, {} held", self.judged.load(Relaxed), self.held.load(Relaxed))
    }
}

impl Actor for Guard {
    type Msg = GuardMsg;
    type State = GuardState;
    type Arguments = GuardArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<GuardMsg>,
        GuardArgs { world, desk }: GuardArgs,
    ) -> Result<GuardState, ActorProcessingErr> {
        let inbox = Inbox::new(myself, Arc::clone(&desk.vitals));
        let (jobs, holds, tally) = (Vec::new(), Arc::default(), Arc::default());
        let state = GuardState { world, desk, inbox, jobs, holds, tally };
        state.post();
        Ok(state)
    }

    async fn handle(
        &self,
        _myself: ActorRef<GuardMsg>,
        message: GuardMsg,
        state: &mut GuardState,
    ) -> Result<(), ActorProcessingErr> {
        state.desk.vitals.took();
        match message {
            GuardMsg::Judge { question, reply } => state.judge(*question, reply),
            GuardMsg::MayGo { url, reply } => state.may_go(url, reply),
            GuardMsg::Decide { id, approve, reply } => state.decide(id, approve, reply),
            GuardMsg::Find { id, reply } => state.find(id, reply),
            GuardMsg::ListHolds { reply } => state.list(reply),
        }
        state.post();
        Ok(())
    }
}

impl GuardState {
    fn judge(&mut self, question: Question, reply: Reply<Ruling, GuardError>) {
        self.tally.judged.fetch_add(1, Relaxed);
        let (world, holds) = (self.world.clone(), Arc::clone(&self.holds));
        let (tally, desk) = (Arc::clone(&self.tally), self.desk.clone());
        self.answer(reply, async move {
            let ruling = judge(&world, question, &holds).await?;
            if matches!(ruling.decision, Decision::Hold(_)) {
                tally.held.fetch_add(1, Relaxed);
                desk.post(tally.told());
            }
            Ok(ruling)
        });
    }

    fn may_go(&mut self, url: String, reply: Reply<(), GuardError>) {
        let world = self.world.clone();
        self.answer(reply, async move {
            let case = Case { deed: "navigate".into(), payload: url, ..Case::default() };
            match Policy::of(world.rules.read().await).order(&case, Class::Read) {
                Order::ByClass => Ok(()),
                // Nobody is asked about an address: a person opens it without us.
                Order::Deny(why) | Order::Confirm(why) => Err(GuardError::Denied(why)),
            }
        });
    }

    fn decide(&mut self, id: HoldId, approve: bool, reply: Reply<Hold, GuardError>) {
        let (world, holds) = (self.world.clone(), Arc::clone(&self.holds));
        self.answer(reply, async move {
            let _alone = holds.lock().await;
            let mut hold = find(&world, id).await?;
            hold.decide(approve, &moment(&world))?;
            put(&world, &hold).await?;
            Ok(hold)
        });
    }

    fn find(&mut self, id: HoldId, reply: Reply<Hold, GuardError>) {
        let world = self.world.clone();
        self.answer(reply, async move {
            let hold = find(&world, id).await?;
            Ok(Hold { state: hold.state_at(&moment(&world)), ..hold })
        });
    }

    fn list(&mut self, reply: Reply<Vec<Hold>, GuardError>) {
        let world = self.world.clone();
        self.answer(reply, async move {
            let rows = world.store.all(Table::Holds).await.map_err(unreached)?;
            let when = moment(&world);
            let read = |(_, row): &(String, String)| serde_json::from_str::<Hold>(row).ok();
            let now = |hold: Hold| Hold { state: hold.state_at(&when), ..hold };
            let mut holds: Vec<_> = rows.iter().filter_map(read).map(now).collect();
            holds.sort_by_key(|hold| hold.id);
            Ok(holds)
        });
    }

    /// Works beside the mailbox, and answers.
    fn answer<T: Send + 'static>(
        &mut self,
        reply: Reply<T, GuardError>,
        work: impl Future<Output = Result<T, GuardError>> + Send + 'static,
    ) {
        self.jobs.retain(|job| !job.is_finished());
        let vitals = Arc::clone(&self.desk.vitals);
        self.jobs.push(self.inbox.side_job(async move { settle(&vitals, reply, work.await) }));
    }

    fn post(&self) {
        self.desk.post(self.tally.told());
    }
}

fn moment(world: &World) -> Moment {
    Moment { now: world.clock.now(), approval: world.settings.approval }
}

async fn judge(world: &World, question: Question, holds: &Mutex<()>) -> Result<Ruling, GuardError> {
    let policy = Policy::of(world.rules.read().await);
    let case = &question.bond.case;
    let (judgement, sentence) = sentence(case, &world.words, &policy, &question.consent);
    let decision = match sentence {
        Sentence::Pass => Decision::Pass,
        Sentence::Allow => Decision::Allow,
        Sentence::Deny => return Err(GuardError::Denied(judgement.why)),
        Sentence::Hold => match question.ticket {
            Some(ticket) => redeem(world, (ticket, &question.bond), holds).await?,
            None => Decision::Hold(keep_hold(world, question, judgement.why.clone()).await?),
        },
    };
    Ok(Ruling { judgement, decision })
}

/// Uses an approval up, and writes that down, before the act is let go.
async fn redeem(
    world: &World,
    (id, asked): (HoldId, &Bond),
    holds: &Mutex<()>,
) -> Result<Decision, GuardError> {
    let _alone = holds.lock().await;
    let mut hold = find(world, id).await?;
    hold.redeem(asked, &moment(world))?;
    put(world, &hold).await?;
    Ok(Decision::Approved(id))
}

async fn keep_hold(world: &World, question: Question, why: String) -> Result<HoldId, GuardError> {
    let id = HoldId(world.store.next(Counter::Hold).await.map_err(unreached)?);
    let Question { bond, payload, run, .. } = question;
    let (what, url, payload) = (bond.what.clone(), bond.case.url.clone(), preview(&payload));
    let (at, state) = (world.clock.now(), HoldState::Waiting);
    put(world, &Hold { id, what, url, why, payload, run, at, state, bond }).await?;
    Ok(id)
}

async fn put(world: &World, hold: &Hold) -> Result<(), GuardError> {
    let row = serde_json::to_string(hold).expect("a hold is plain data");
    let put = world.store.put(Table::Holds, hold.id.to_string(), row, Durability::Synced);
    put.await.map_err(unreached)
}

async fn find(world: &World, id: HoldId) -> Result<Hold, GuardError> {
    let row = world.store.get(Table::Holds, &id.to_string()).await.map_err(unreached)?;
    // A row that cannot be read, as of another version, is none that can be approved.
    let hold = row.and_then(|row| serde_json::from_str(&row).ok());
    hold.ok_or(GuardError::Unfit(Unfit::Unknown(id)))
}

fn unreached(error: StoreError) -> GuardError {
    GuardError::Store(error.to_string())
}
