//! What the loop waits for a person for: approvals, answers, hands.

use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::actors::orchestrator::deeds::Deed;
use crate::actors::orchestrator::looping::Loop;
use crate::domain::ids::HoldId;
use crate::domain::journal::{Event, Judged, Need};
use crate::domain::outcome::OutcomeKind;
use crate::domain::run::OnHold;
use crate::domain::tool::ToolCall;
use crate::messages::orchestrator::RunError;

/// How a wait for a decision ended that lets the act be done.
pub const APPROVED: &str = "approved";

/// What a person said.
#[derive(Debug)]
pub enum Word {
    Decided { hold: HoldId, approved: bool },
    Replied(String),
}

/// The loop's end of the line to whoever sits before it.
pub struct People {
    pub words: mpsc::UnboundedReceiver<Word>,
    /// What is waited for now; the orchestrator takes only words that fit.
    pub need: watch::Sender<Option<Need>>,
}

/// Takes the need back, however the wait ends.
struct Waiting<'a>(&'a watch::Sender<Option<Need>>);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_replace(None);
    }
}

impl People {
    /// Waits for a word on `need`, at most so long.
    async fn wait(&mut self, need: Need, patience: Option<Duration>) -> Option<Word> {
        while self.words.try_recv().is_ok() {}
        let _waiting = Waiting(&self.need);
        self.need.send_replace(Some(need));
        match patience {
            Some(patience) => timeout(patience, self.words.recv()).await.ok().flatten(),
            None => self.words.recv().await,
        }
    }
}

impl Loop {
    /// An act was held: waits for a person as the order says, and does it if it is approved.
    pub async fn decide(
        &mut self,
        step: u32,
        call: &ToolCall,
        held: Deed,
    ) -> Result<Deed, RunError> {
        let Some((hold, judged)) = held.held().zip(held.judged.last().cloned()) else {
            return Ok(held);
        };
        let patience = match self.order.on_hold {
            OnHold::Skip => return Ok(held),
            OnHold::Ask => None,
            OnHold::Wait(patience) => Some(patience),
        };
        self.note_judged(step, &held.judged).await?;
        let Judged { what, url, judgement, .. } = judged;
        let need = Need::Approval { hold, what, why: judgement.why, url };
        let met = self.wait_for(step, need, patience).await?;
        let undone = |why: &str| {
            let delta = vec![why.to_owned(), "it was not done; go on with what is left".into()];
            Deed::told(OutcomeKind::Held.word(), delta)
        };
        match met {
            Some(Word::Decided { approved: true, .. }) => {
                self.met(step, APPROVED).await?;
                self.worker.ticket = Some(hold);
                let deed = self.try_out(call).await;
                self.worker.ticket = None;
                Ok(deed)
            }
            Some(Word::Decided { approved: false, .. }) => {
                self.met(step, "denied").await?;
                Ok(undone(&format!("the person denied {hold}")))
            }
            Some(Word::Replied(_)) | None => {
                self.met(step, "nobody decided in time").await?;
                Ok(undone(&format!("nobody decided on {hold} in time")))
            }
        }
    }

    /// Asks the person something, if one is there.
    pub async fn consult(&mut self, step: u32, need: Need) -> Result<Deed, RunError> {
        if !self.order.attended {
            let hint = "decide by yourself, or finish and say in incomplete_reason what lacks";
            return Ok(Deed::refused("nobody is there to answer", hint));
        }
        let answered = match self.wait_for(step, need, None).await? {
            Some(Word::Replied(text)) => text,
            Some(Word::Decided { .. }) | None => String::new(),
        };
        self.met(step, answered.clone()).await?;
        Ok(Deed::told("answered", vec![]))
    }

    async fn wait_for(
        &mut self,
        step: u32,
        need: Need,
        patience: Option<Duration>,
    ) -> Result<Option<Word>, RunError> {
        self.record(Event::Waiting { step, need: need.clone() }).await?;
        self.desk.post(format!("step {step}: waiting for a person"));
        Ok(self.people.wait(need, patience).await)
    }

    async fn met(&mut self, step: u32, how: impl Into<String>) -> Result<(), RunError> {
        self.record(Event::Met { step, how: how.into() }).await
    }
}
