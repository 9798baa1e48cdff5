//! The orchestrator of one run: observe, ask the model, do its one call, write it down; again.
//!
//! - **Takes** [`RunMsg`].
//! - **Answers** a stop at once; the run ends with a report soon after.
//! - **Dies** when its journal or report cannot be written, and of bugs.
//! - **Then** it is started again and goes on from the journal: an answer that was stored is not
//!   asked for again, and a step in doubt is told to the model, not repeated.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::watch;

use crate::actors::orchestrator::looping::Loop;
use crate::actors::world::World;
use crate::domain::ids::RunId;
use crate::messages::board::Desk;
use crate::messages::inbox::{Inbox, Job};
use crate::messages::orchestrator::RunMsg;

pub mod deeds;
pub mod looping;
pub mod reporting;

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
        let running = Loop::new(run, world, desk.clone(), stopped);
        let job = inbox.job(async move {
            RunMsg::Ended(match running {
                Some(running) => running.run().await,
                None => Ok(()),
            })
        });
        Ok(OrchestratorState { desk, stop, _job: job })
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
            RunMsg::Decided { hold: _, approved: _, reply } => {
                // It waits for nobody: whoever asks performs the act.
                let _ = reply.send(Ok(false));
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
