//! Scripts of the agent's own, and the answers to dialogs: no element is hit by them, and they are
//! judged by their words.

use crate::actors::tab::acting::{acted, quoted};
use crate::actors::tab::judging::{Around, Asker, Deed, Passed};
use crate::actors::tab::settling::Watching;
use crate::actors::tab::work::Hands;
use crate::domain::action::Action;
use crate::domain::guard::{Case, Class, classify};
use crate::domain::outcome::{Outcome, OutcomeKind};
use crate::domain::run::Consent;
use crate::messages::tab::{Acted, Order, TabError};
use crate::ports::page::{Dialog, Page};

impl Hands {
    /// Evaluates a script for its value alone.
    pub async fn evaluate(&self, script: String, consent: Consent) -> Result<String, TabError> {
        let order = Order::new(Action::Evaluate { script: script.clone() }, consent);
        self.judge_script(&script, &order).await?;
        // No act of ours: what the script did is its author's to know.
        Ok(self.page.evaluate(&script, self.left()).await?)
    }

    /// Evaluates a script, and says what changed by it unless it only reads.
    pub async fn run_script(&mut self, script: &str, order: &Order) -> Result<Acted, TabError> {
        let (what, url, passed) = self.judge_script(script, order).await?;
        let (value, outcome) = if passed.judgement.class == Class::Read {
            let value = self.page.evaluate(script, self.left()).await?;
            (Some(value), Outcome { kind: OutcomeKind::NoEffect, delta: vec![] })
        } else {
            let watching = Watching::begin(self).await?;
            self.dispatched().set();
            let (value, input) = match self.page.evaluate(script, self.left()).await {
                Ok(value) => (Some(value), Ok(())),
                Err(error) => (None, Err(error)),
            };
            (value, watching.end(self, input).await?)
        };
        Ok(Acted { value, ..acted(outcome, what, url, passed) })
    }

    async fn judge_script(
        &self,
        script: &str,
        order: &Order,
    ) -> Result<(String, String, Passed), TabError> {
        let url = self.page.location().await?.url;
        let what = format!("evaluate {}", quoted(script));
        let (deed, payload) = ("evaluate".to_owned(), script.to_owned());
        let case = Case { deed, payload, url: url.clone(), ..Case::default() };
        // What only reads needs no answer of the page before.
        let reads = classify(&case, &self.world.words).class == Class::Read;
        let around = if reads { Around::default() } else { self.whole_page().await? };
        let deed = Deed { what: what.clone(), case, around: around.clone() };
        let passed = self.judge(deed, order).await?;
        self.page_unchanged(&passed, &around).await?;
        Ok((what, url, passed))
    }

    pub async fn accept_dialog(
        &self,
        text: Option<&str>,
        order: &Order,
    ) -> Result<Acted, TabError> {
        let open = || self.world.books.tabs.get(&self.id).and_then(|note| note.dialog.clone());
        let none = || TabError::Refused { why: "no dialog is open".into() };
        let dialog = open().ok_or_else(none)?;
        let asker = Asker { world: &self.world, tab: self.id, patience: self.left() };
        let passed = asker.judge_dialog(&dialog, order).await?;
        if open().as_ref() != Some(&dialog) {
            return Err(TabError::Unstable { target: format!("the {}", dialog.kind) });
        }
        self.dispatched().set();
        self.page.answer_dialog(true, text).await?;
        let what = accepting(&dialog);
        let outcome = Outcome { kind: OutcomeKind::Changed, delta: vec![what.clone()] };
        Ok(acted(outcome, what, self.page.location().await?.url, passed))
    }
}

impl Asker<'_> {
    /// Asks whether a dialog may be accepted. One that only tells something is no question.
    pub async fn judge_dialog(&self, dialog: &Dialog, order: &Order) -> Result<Passed, TabError> {
        if !matches!(dialog.kind.as_str(), "confirm" | "prompt") {
            return Ok(Passed::read("the dialog asks nothing"));
        }
        let note = self.world.books.tabs.get(&self.tab).map(|note| note.url.clone());
        let payload = match &order.action {
            Action::AcceptDialog { text } => text.clone().unwrap_or_default(),
            _ => String::new(),
        };
        let case = Case {
            deed: "accept".into(),
            url: note.ok_or(TabError::TargetGone)?,
            role: dialog.kind.clone(),
            name: dialog.message.clone(),
            payload,
            ..Case::default()
        };
        let deed = Deed { what: accepting(dialog), case, around: Around::default() };
        self.judge(deed, order).await
    }
}

fn accepting(dialog: &Dialog) -> String {
    format!("accept the {} {}", dialog.kind, quoted(&dialog.message))
}
