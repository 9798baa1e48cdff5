//! The verbs of a person who decides on held acts and answers runs. Nothing else reaches the guard's `Decide`: a model
//! cannot approve itself.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::app::told::{acted, not_answered, tab_failed, trouble};
use crate::app::{Call, Told};
use crate::control::answer::{Answer, Failure};
use crate::control::sight::HoldSight;
use crate::domain::guard::ticket::Unfit;
use crate::domain::ids::{HoldId, RunId};
use crate::domain::run::Consent;
use crate::messages::Reply;
use crate::messages::guard::{GuardError, GuardMsg, Hold, HoldState};
use crate::messages::orchestrator::RunMsg;
use crate::messages::tab::{Order, TabError, TabMsg};

/// How long a look at everything waits for the guard.
const GLANCE: Duration = Duration::from_millis(500);

impl Call<'_> {
    /// Approves a held act and performs it, or lists what waits.
    pub async fn approve(&self, id: Option<HoldId>) -> Told<Answer> {
        let Some(id) = id else { return self.waiting().await };
        let hold = self.ask_guard(|reply| GuardMsg::Find { id, reply }).await?;
        let tab = hold.bond.tab;
        if self.app.world.doors.tabs.find(&tab).is_none() {
            let why = format!("{id} cannot be done any more: its tab {tab} is closed");
            let failure = Failure::new("target_gone", why);
            let failure = failure.hint("ask for the act again in another tab");
            return Err(Box::new(
                Answer::failed(1, failure).with_data(json!({ "hold": row(&hold) })),
            ));
        }
        let hold = self.decide(id, true).await?;
        if let Some(run) = self.taken_over(&hold, true).await {
            let text = format!("{id} is approved; run {run} goes on with it: {}", hold.what);
            let data = json!({ "hold": row(&hold), "run": run.to_string() });
            return Ok(Answer::told(text, data));
        }
        self.perform(&hold).await
    }

    pub async fn deny(&self, id: HoldId) -> Told<Answer> {
        let hold = self.decide(id, false).await?;
        self.taken_over(&hold, false).await;
        let text = format!("{id} is denied, and was not done: {}", hold.what);
        Ok(Answer::told(text, json!({ "hold": row(&hold) })))
    }

    /// Passes a person's words on to the run that waits for them.
    pub async fn reply(&self, id: RunId, text: &str) -> Told<Answer> {
        let row = self.row(id).await?;
        let answer = |reply| RunMsg::Reply { text: text.to_owned(), reply };
        let taken = match self.app.world.doors.orchestrators.find(&id) {
            Some(run) => run.ask(answer, self.app.world.settings.patience).await,
            None => Ok(Ok(false)),
        };
        match taken {
            Ok(Ok(true)) => {
                Ok(Answer::told(format!("{id} goes on"), json!({ "id": id.to_string() })))
            }
            Ok(Ok(false)) => {
                let why = format!("{id} waits for no answer: it is {}", row.state.word());
                let failure = Failure::new("refused", why);
                let hint = format!("`strawmanus logs {id}` shows what it asked");
                Err(Box::new(Answer::failed(1, failure.hint(hint))))
            }
            Ok(Err(error)) => trouble("daemon", error.to_string()),
            Err(error) => Err(not_answered("the run", error)),
        }
    }

    /// Returns what a held act would send; nothing where the guard does not answer at once.
    pub async fn payload_of(&self, id: HoldId) -> Option<String> {
        let asked = self.ask_guard(|reply| GuardMsg::Find { id, reply });
        Some(timeout(GLANCE, asked).await.ok()?.ok()?.payload)
    }

    /// Returns every hold that is not over; nothing where the guard does not answer at once.
    pub async fn holds(&self) -> Option<Vec<HoldSight>> {
        let asked = self.ask_guard(|reply| GuardMsg::ListHolds { reply });
        let holds = timeout(GLANCE, asked).await.ok()?.ok()?;
        Some(holds.iter().filter(|hold| open(hold)).map(sight).collect())
    }

    async fn waiting(&self) -> Told<Answer> {
        let mut holds = self.ask_guard(|reply| GuardMsg::ListHolds { reply }).await?;
        holds.retain(open);
        let text = holds.iter().map(block).collect::<Vec<_>>().join("\n");
        let text = if text.is_empty() { "nothing is held".to_owned() } else { text };
        let rows: Vec<_> = holds.iter().map(row).collect();
        Ok(Answer::told(text, json!({ "holds": rows })))
    }

    async fn decide(&self, id: HoldId, approve: bool) -> Told<Hold> {
        self.ask_guard(|reply| GuardMsg::Decide { id, approve, reply }).await
    }

    /// Tells the run that waits for a decision, if one does. It performs the act by itself.
    async fn taken_over(&self, hold: &Hold, approved: bool) -> Option<RunId> {
        let id = hold.run?;
        let run = self.app.world.doors.orchestrators.find(&id)?;
        let decided = |reply| RunMsg::Decided { hold: hold.id, approved, reply };
        let taken = run.ask(decided, self.app.world.settings.patience).await;
        matches!(taken, Ok(Ok(true))).then_some(id)
    }

    async fn perform(&self, hold: &Hold) -> Told<Answer> {
        let Some(action) = hold.bond.action.clone() else {
            let why = format!("{} holds a secret, which is not kept", hold.id);
            let failure = Failure::new("refused", why);
            let failure = failure.hint("do it yourself in the browser, or while its run waits");
            return Err(Box::new(Answer::failed(1, failure)));
        };
        let order = Order { action, consent: Consent::default(), ticket: Some(hold.id) };
        let act = |patience, reply| TabMsg::Act { order: Box::new(order.clone()), patience, reply };
        let done = self.ask_tab(hold.bond.tab, self.action_time(), act).await?;
        let mut answer = acted(&done);
        answer.data["tab"] = json!(hold.bond.tab);
        Ok(answer)
    }

    async fn ask_guard<T: Send + 'static>(
        &self,
        build: impl FnOnce(Reply<T, GuardError>) -> GuardMsg,
    ) -> Told<T> {
        let world = &self.app.world;
        let Some(guard) = world.doors.guard.find(&()) else {
            return trouble("daemon", "there is no guard; the daemon is ending");
        };
        match guard.ask(build, world.settings.patience).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(GuardError::Store(why))) => trouble("store", why),
            Ok(Err(GuardError::Denied(why))) => {
                Err(Box::new(Answer::failed(1, Failure::new("refused", why))))
            }
            Ok(Err(GuardError::Unfit(unfit))) => {
                let unknown = matches!(unfit, Unfit::Unknown(_));
                let kind = if unknown { "not_found" } else { "refused" };
                Err(Box::new(Answer::failed(1, Failure::new(kind, unfit.to_string()))))
            }
            Err(error) => Err(not_answered("the guard", error)),
        }
    }

    /// A tab's refusal; of a held act with all that a person needs for a decision.
    pub async fn refused(&self, error: &TabError) -> Box<Answer> {
        let mut answer = tab_failed(error);
        let TabError::Held { id, .. } = error else { return answer };
        if let Ok(hold) = self.ask_guard(|reply| GuardMsg::Find { id: *id, reply }).await {
            answer.text = block(&hold);
            answer.data = json!({ "hold": row(&hold) });
        }
        answer
    }
}

fn open(hold: &Hold) -> bool {
    matches!(hold.state, HoldState::Waiting | HoldState::Approved { .. })
}

/// The contract's block: what a person reads before deciding.
fn block(hold: &Hold) -> String {
    let Hold { id, what, url, why, payload, .. } = hold;
    let sends = if payload.is_empty() { String::new() } else { format!("\n  sends: {payload}") };
    format!(
        "⚠  irreversible action held for confirmation\n   what: {what} on {url}\n    why: {why}{sends}\n   \
         approve with: strawmanus approve {id}"
    )
}

fn sight(hold: &Hold) -> HoldSight {
    let Hold { id, what, why, url, payload, run, at, state, bond } = hold.clone();
    let (state, run, tab) = (state.word().into(), run.map(|run| run.to_string()), bond.tab);
    HoldSight { id, what, why, url, payload, state, tab, at, run }
}

fn row(hold: &Hold) -> Value {
    json!({
        "id": hold.id.to_string(), "what": hold.what, "why": hold.why, "url": hold.url,
        "payload": hold.payload, "state": hold.state.word(), "tab": hold.bond.tab,
        "run": hold.run.map(|run| run.to_string()), "at": hold.at,
    })
}
