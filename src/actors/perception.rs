//! Perception: decodes what a tab's walker read, and writes it as text. It keeps nothing, so a
//! parser's panic costs no references: those are the tab's.
//!
//! - **Takes** [`PerceptionMsg`].
//! - **Answers** a written observation, and the numbering after it.
//! - **Dies** of a bug in decoding or rendering only.
//! - **Then** it is started again; the tab ahead of it stays.

use ractor::{Actor, ActorProcessingErr, ActorRef};

use crate::actors::settle::settle;
use crate::domain::page::numbering::Numbering;
use crate::domain::page::observation::View;
use crate::domain::page::render;
use crate::messages::board::Desk;
use crate::messages::perception::{PerceptionError, PerceptionMsg, Rendered};
use crate::perception::decode::decode;

/// Behaviour only; see [`PerceptionState`].
pub struct Perception;

pub struct PerceptionArgs {
    pub desk: Desk,
}

pub struct PerceptionState {
    desk: Desk,
    read: u64,
}

impl Actor for Perception {
    type Msg = PerceptionMsg;
    type State = PerceptionState;
    type Arguments = PerceptionArgs;

    async fn pre_start(
        &self,
        _myself: ActorRef<PerceptionMsg>,
        PerceptionArgs { desk }: PerceptionArgs,
    ) -> Result<PerceptionState, ActorProcessingErr> {
        desk.post("idle");
        Ok(PerceptionState { desk, read: 0 })
    }

    async fn handle(
        &self,
        _myself: ActorRef<PerceptionMsg>,
        message: PerceptionMsg,
        state: &mut PerceptionState,
    ) -> Result<(), ActorProcessingErr> {
        state.desk.vitals.took();
        match message {
            PerceptionMsg::Render { raw, view, tabs, numbering, reply } => {
                state.desk.post(format!("reading {} bytes", raw.len()));
                settle(&state.desk.vitals, reply, written(&raw, &view, tabs, *numbering));
            }
        }
        state.read += 1;
        state.desk.post(format!("idle, {} pages read", state.read));
        Ok(())
    }
}

fn written(
    raw: &str,
    view: &View,
    tabs: usize,
    mut numbering: Numbering,
) -> Result<Rendered, PerceptionError> {
    let tree = decode(raw).map_err(|error| PerceptionError::Unreadable(error.to_string()))?;
    let observation = render::render(&tree, view, tabs, &mut numbering);
    Ok(Rendered { observation, numbering })
}
