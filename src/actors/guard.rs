//! The guard: rules on every action before it is dispatched.
//!
//! - **Takes** [`GuardMsg`].
//! - **Answers** with a ruling; a hold is stored before it is answered.
//! - **Dies** of nothing of its own. A dead or late guard means held: that is its callers' part.
//! - **Then** it is started again; the holds are in the store.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use url::Url;

use crate::actors::settle::settle;
use crate::actors::world::World;
use crate::domain::guard::{Case, Class, classify};
use crate::domain::ids::{HoldId, RunId};
use crate::domain::run::Consent;
use crate::messages::Reply;
use crate::messages::board::Desk;
use crate::messages::guard::{Decision, GuardError, GuardMsg, Hold, Ruling};
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
    judged: u64,
    held: u64,
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
        let state = GuardState { world, desk, inbox, jobs: Vec::new(), judged: 0, held: 0 };
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
            GuardMsg::Judge { case, what, consent, run, reply } => {
                state.judge(Question { case: *case, what, run }, &consent, reply);
            }
            GuardMsg::ListHolds { reply } => state.list(reply),
        }
        state.post();
        Ok(())
    }
}

/// What is judged, for whom.
struct Question {
    case: Case,
    what: String,
    run: Option<RunId>,
}

impl GuardState {
    fn judge(&mut self, question: Question, consent: &Consent, reply: Reply<Ruling, GuardError>) {
        self.judged += 1;
        let judgement = classify(&question.case, &self.world.words);
        let decision = match judgement.class {
            Class::Read | Class::SoftWrite => Some(Decision::Pass),
            Class::Irreversible if consent.covers(&host(&question.case.url)) => {
                Some(Decision::Allow)
            }
            Class::Irreversible => None,
        };
        if let Some(decision) = decision {
            return settle(&self.desk.vitals, reply, Ok(Ruling { judgement, decision }));
        }
        self.held += 1;
        let (world, why) = (self.world.clone(), judgement.why.clone());
        let vitals = Arc::clone(&self.desk.vitals);
        self.beside(async move {
            let kept = keep_hold(&world, question, why).await;
            let ruling = kept.map(|id| Ruling { judgement, decision: Decision::Hold(id) });
            settle(&vitals, reply, ruling.map_err(|error| GuardError::Store(error.to_string())));
        });
    }

    fn list(&mut self, reply: Reply<Vec<Hold>, GuardError>) {
        let (world, vitals) = (self.world.clone(), Arc::clone(&self.desk.vitals));
        self.beside(async move {
            let holds = world.store.all(Table::Holds).await.map(|rows| {
                rows.iter().filter_map(|(_, row)| serde_json::from_str(row).ok()).collect()
            });
            settle(&vitals, reply, holds.map_err(|error| GuardError::Store(error.to_string())));
        });
    }

    fn beside(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.jobs.retain(|job| !job.is_finished());
        self.jobs.push(self.inbox.side_job(work));
    }

    fn post(&self) {
        self.desk.post(format!("{} judged, {} held", self.judged, self.held));
    }
}

async fn keep_hold(world: &World, question: Question, why: String) -> Result<HoldId, StoreError> {
    let id = HoldId(world.store.next(Counter::Hold).await?);
    let Question { case, what, run } = question;
    let hold =
        Hold { id, what, url: case.url, why, payload: case.payload, run, at: world.clock.now() };
    let row = serde_json::to_string(&hold).expect("a hold is plain data");
    world.store.put(Table::Holds, id.to_string(), row, Durability::Synced).await?;
    Ok(id)
}

/// Returns the host of a URL, empty where there is none: no consent covers that.
fn host(url: &str) -> String {
    let parsed = Url::parse(url).ok();
    parsed.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}
