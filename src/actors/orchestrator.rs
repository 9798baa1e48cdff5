//! The orchestrator of one run: observe, ask the model, do its one call, write it down; again.
//!
//! - **Takes** [`RunMsg`].
//! - **Answers** a stop at once; the run ends with a report soon after.
//! - **Dies** when its journal or report cannot be written, and of bugs.
//! - **Then** it is started again and goes on from the journal: an answer that was stored is not
//!   asked for again, and a step in doubt is told to the model, not repeated.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::{mpsc, watch};

use crate::actors::orchestrator::looping::{Line, Loop};
use crate::actors::orchestrator::people::{People, Word};
use crate::actors::world::World;
use crate::domain::ids::RunId;
use crate::domain::journal::Need;
use crate::messages::Reply;
use crate::messages::board::Desk;
use crate::messages::inbox::{Inbox, Job};
use crate::messages::orchestrator::{RunError, RunMsg};

pub mod beside;
pub mod deeds;
pub mod looking;
pub mod looping;
pub mod people;
pub mod reporting;
pub mod tally;
pub mod telling;
pub mod worker;

/// Behaviour only; see [`OrchestratorState`].
pub struct Orchestrator;

pub struct OrchestratorArgs {
    pub run: RunId,
    pub world: World,
    pub desk: Desk,
}

pub struct OrchestratorState {
    desk: Desk,
    /// Why the run is to end, once somebody wants it to.
    stop: watch::Sender<Option<String>>,
    words: mpsc::UnboundedSender<Word>,
    /// What the loop waits for a person for.
    need: watch::Receiver<Option<Need>>,
    _job: Job,
}

impl Actor for Orchestrator {
    type Msg = RunMsg;
    type State = OrchestratorState;
    type Arguments = OrchestratorArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<RunMsg>,
        OrchestratorArgs { run, world, desk }: OrchestratorArgs,
    ) -> Result<OrchestratorState, ActorProcessingErr> {
        desk.post("starting");
        let inbox = Inbox::new(myself, Arc::clone(&desk.vitals));
        let (stop, stopped) = watch::channel(None);
        let (words, heard) = mpsc::unbounded_channel();
        let (need, needed) = watch::channel(None);
        let people = People { words: heard, need };
        let running = Loop::new(run, world, desk.clone(), Line { stopped, people });
        let job = inbox.job(async move {
            RunMsg::Ended(match running {
                Some(running) => running.run().await,
                None => Ok(()),
            })
        });
        Ok(OrchestratorState { desk, stop, words, need: needed, _job: job })
    }

    async fn handle(
        &self,
        myself: ActorRef<RunMsg>,
        message: RunMsg,
        state: &mut OrchestratorState,
    ) -> Result<(), ActorProcessingErr> {
        state.desk.vitals.took();
        match message {
            RunMsg::Stop { why, reply } => {
                state.stop.send_replace(Some(why));
                let _ = reply.send(Ok(()));
                Ok(())
            }
            RunMsg::Decided { hold, approved, reply } => {
                let word = Word::Decided { hold, approved };
                let waited_for = matches!(
                    &*state.need.borrow(),
                    Some(Need::Approval { hold: other, .. }) if *other == hold
                );
                state.hear(word, waited_for, reply);
                Ok(())
            }
            RunMsg::Reply { text, reply } => {
                let waited_for = matches!(
                    &*state.need.borrow(),
                    Some(Need::Answer { .. } | Need::Takeover { .. })
                );
                state.hear(Word::Replied(text), waited_for, reply);
                Ok(())
            }
            RunMsg::Ended(Ok(())) => {
                state.desk.post("over");
                myself.stop(None);
                Ok(())
            }
            RunMsg::Ended(Err(error)) => Err(error.into()),
        }
    }
}

impl OrchestratorState {
    /// Passes a person's word on, if it is waited for; says whether it was.
    fn hear(&mut self, word: Word, waited_for: bool, reply: Reply<bool, RunError>) {
        let passed = waited_for && self.words.send(word).is_ok();
        let _ = reply.send(Ok(passed));
    }
}
