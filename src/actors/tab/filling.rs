//! Filling a field: by its kind, read back, and truthfully reported.

use serde_json::json;

use crate::actors::tab::acting::{acted, case_of};
use crate::actors::tab::settling::Watching;
use crate::actors::tab::work::{Found, Hands, unreadable};
use crate::domain::guard::Case;
use crate::domain::keys::Chord;
use crate::domain::outcome::OutcomeKind;
use crate::domain::run::Consent;
use crate::domain::target::Target;
use crate::messages::tab::{Acted, TabError};
use crate::perception::decode::{Assigned, Probe, Value, answer};

/// How much of a text is shown when the act is named.
const SHOWN: usize = 60;

impl Hands {
    pub async fn fill(
        &mut self,
        target: &Target,
        text: &str,
        press_enter: bool,
        consent: &Consent,
    ) -> Result<Acted, TabError> {
        let found = self.resolve(target).await?;
        let probe = self.ready(&found).await?;
        if !probe.editable {
            let is = if probe.readonly { "read-only" } else { "no field" };
            let wanted = "an editable field".to_owned();
            return Err(TabError::WrongKind { target: found.label, is: is.into(), wanted });
        }
        let what = named(&found, &probe, text, press_enter);
        let payload = if probe.secret { String::new() } else { text.to_owned() };
        let submits = press_enter && probe.submits;
        let case = Case { deed: "fill".into(), payload, submits, ..case_of(&probe) };
        let mut passed = self.judge(case, &what, consent).await?;
        if press_enter {
            // Held before anything is typed: half of an act would be none.
            let payload = "Enter".to_owned();
            let case = Case { deed: "press".into(), payload, ..case_of(&probe) };
            passed = self.judge(case, &what, consent).await?;
        }
        let watching = Watching::begin(self).await?;
        self.dispatched().set();
        self.put(&found, text).await?;
        let held = self.held_value(&found).await?;
        let mut done = Ok(());
        if press_enter {
            let enter: Chord = "Enter".parse().expect("Enter is a key");
            done = self.page.press(&enter, self.left()).await;
        }
        let mut outcome = watching.end(self, done).await?;
        if !held.holds(text) && !press_enter {
            let shown = if held.secret { "something else".into() } else { quoted(&held.value) };
            outcome.delta.push(format!("the field holds {shown}, not what was typed"));
        } else if outcome.kind == OutcomeKind::NoEffect {
            outcome.delta.push("it held that already".into());
        }
        Ok(acted(outcome, what, probe.url, passed))
    }

    /// Puts the text in, in the way that fits the field's kind.
    async fn put(&self, found: &Found, text: &str) -> Result<(), TabError> {
        let Found { document, key, label } = found;
        let argument = json!({ "document": document, "key": key, "text": text }).to_string();
        let raw = self.page.call("assign", &argument, self.left()).await?;
        match answer::<Assigned>(&raw).map_err(unreadable)? {
            Assigned::Done => return Ok(()),
            Assigned::Refused { why } => {
                let (target, is) = (label.clone(), why);
                return Err(TabError::WrongKind { target, is, wanted: "another text".into() });
            }
            Assigned::Type => {}
        }
        let argument = json!({ "document": document, "key": key }).to_string();
        self.page.call("focus_for_fill", &argument, self.left()).await?;
        if text.is_empty() {
            let delete: Chord = "Delete".parse().expect("Delete is a key");
            self.page.press(&delete, self.left()).await?;
        } else {
            self.page.insert_text(text, self.left()).await?;
        }
        Ok(())
    }

    async fn held_value(&self, found: &Found) -> Result<Value, TabError> {
        let argument = json!({ "document": found.document, "key": found.key }).to_string();
        let raw = self.page.call("value_of", &argument, self.left()).await?;
        answer(&raw).map_err(unreadable)
    }
}

fn named(found: &Found, probe: &Probe, text: &str, press_enter: bool) -> String {
    let enter = if press_enter { ", then Enter" } else { "" };
    if probe.secret {
        return format!("fill {} with a secret{enter}", found.label);
    }
    format!("fill {} with {}{enter}", found.label, quoted(text))
}

fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("'{shown}{more}'")
}
