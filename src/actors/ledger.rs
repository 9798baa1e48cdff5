//! The ledger of one run: writes its journal, and reads it back.
//!
//! - **Takes** [`LedgerMsg`].
//! - **Answers** an entry when it is safe on disk.
//! - **Dies** of nothing of its own.
//! - **Then** it is started again over the same journal, and the orchestrator after it as well.

use std::collections::VecDeque;
use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};

use crate::actors::settle::settle;
use crate::actors::world::World;
use crate::domain::ids::RunId;
use crate::domain::journal::{Entry, Event, VERSION};
use crate::messages::board::Desk;
use crate::messages::inbox::{Inbox, Job};
use crate::messages::ledger::{LedgerError, LedgerMsg};
use crate::ports::store::Durability;

/// Behaviour only; see [`LedgerState`].
pub struct Ledger;

pub struct LedgerArgs {
    pub run: RunId,
    pub world: World,
    pub desk: Desk,
}

pub struct LedgerState {
    run: RunId,
    world: World,
    desk: Desk,
    inbox: Inbox<LedgerMsg>,
    /// One at a time, so that the journal keeps the order of the asks.
    job: Option<Job>,
    waiting: VecDeque<LedgerMsg>,
    written: u64,
}

impl Actor for Ledger {
    type Msg = LedgerMsg;
    type State = LedgerState;
    type Arguments = LedgerArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<LedgerMsg>,
        LedgerArgs { run, world, desk }: LedgerArgs,
    ) -> Result<LedgerState, ActorProcessingErr> {
        desk.post("idle");
        let inbox = Inbox::new(myself, Arc::clone(&desk.vitals));
        let waiting = VecDeque::new();
        Ok(LedgerState { run, world, desk, inbox, job: None, waiting, written: 0 })
    }

    async fn handle(
        &self,
        _myself: ActorRef<LedgerMsg>,
        message: LedgerMsg,
        state: &mut LedgerState,
    ) -> Result<(), ActorProcessingErr> {
        state.desk.vitals.took();
        match message {
            ask @ (LedgerMsg::Record { .. } | LedgerMsg::Replay { .. }) => {
                state.waiting.push_back(ask);
            }
            LedgerMsg::JobEnded => {
                state.written += 1;
                state.job = None;
            }
        }
        state.next();
        Ok(())
    }
}

impl LedgerState {
    fn next(&mut self) {
        if self.job.is_some() {
            return;
        }
        let Some(ask) = self.waiting.pop_front() else {
            return self.desk.post(format!("idle, {} asks served", self.written));
        };
        self.desk.post("writing");
        let (run, world) = (self.run, self.world.clone());
        let vitals = Arc::clone(&self.desk.vitals);
        self.job = Some(self.inbox.job(async move {
            match ask {
                LedgerMsg::Record { event, reply } => {
                    settle(&vitals, reply, record(&world, run, *event).await);
                }
                LedgerMsg::Replay { reply } => settle(&vitals, reply, replay(&world, run).await),
                LedgerMsg::JobEnded => {}
            }
            LedgerMsg::JobEnded
        }));
    }
}

async fn record(world: &World, run: RunId, event: Event) -> Result<Entry, LedgerError> {
    let entry = Entry { v: VERSION, at: world.clock.now(), what: event };
    let line = serde_json::to_string(&entry).expect("an entry is plain data");
    let stored = world.store.append(run, line, Durability::Synced).await;
    stored.map_err(|error| LedgerError::Store(error.to_string()))?;
    if let Some(note) = world.books.runs.get(&run) {
        // Nobody may be watching.
        let _ = note.feed.send(entry.clone());
    }
    Ok(entry)
}

async fn replay(world: &World, run: RunId) -> Result<Vec<Entry>, LedgerError> {
    let lines = world.store.journal(run).await;
    let lines = lines.map_err(|error| LedgerError::Store(error.to_string()))?;
    let parsed = lines.iter().enumerate().map(|(number, line)| {
        Entry::parse(line)
            .map_err(|error| LedgerError::Unreadable { number, why: error.to_string() })
    });
    parsed.collect()
}
