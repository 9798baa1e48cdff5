//! Filling a field: by its kind, read back, and truthfully reported.

use serde_json::json;

use crate::actors::tab::acting::{acted, quoted};
use crate::actors::tab::judging::{Around, Deed, case_of, unchanged};
use crate::actors::tab::settling::{Watching, unclear};
use crate::actors::tab::work::{Found, Hands, unreadable};
use crate::domain::guard::{Case, Class};
use crate::domain::keys::Chord;
use crate::domain::outcome::OutcomeKind;
use crate::domain::target::Target;
use crate::messages::tab::{Acted, Order, READ_ONLY, TabError};
use crate::perception::answers::{Assigned, FillBy, Focused, Held, Probe};
use crate::perception::decode::parse;
use crate::ports::page::{Page, PageError, Press};

impl Hands {
    pub async fn fill(
        &mut self,
        target: &Target,
        (text, press_enter): (&str, bool),
        order: &Order,
    ) -> Result<Acted, TabError> {
        let found = self.resolve(target).await?;
        self.fill_found(found, (text, press_enter), order).await
    }

    /// Fills the field that is at a point of the viewport.
    pub async fn fill_at(
        &mut self,
        at: Press,
        (text, press_enter): (&str, bool),
        order: &Order,
    ) -> Result<Acted, TabError> {
        let Probe { document, key, label, .. } = self.probe_point(at).await?;
        self.fill_found(Found { document, key, label }, (text, press_enter), order).await
    }

    async fn fill_found(
        &mut self,
        found: Found,
        (text, press_enter): (&str, bool),
        order: &Order,
    ) -> Result<Acted, TabError> {
        let probe = self.ready(&found).await?;
        if !probe.editable && probe.tag != "select" {
            let is = if probe.readonly { READ_ONLY } else { "no field" };
            let wanted = "an editable field".to_owned();
            return Err(TabError::WrongKind { target: found.label, is: is.into(), wanted });
        }
        let what = named(&found, &probe, text, press_enter);
        let payload = if probe.secret { String::new() } else { text.to_owned() };
        // With Enter it is judged as a whole, before anything is typed: half of an act would be none.
        let deed = if press_enter { "fill_and_enter" } else { "fill" }.to_owned();
        let submits = probe.submits && (press_enter || probe.tag == "select");
        let case = case_of(&probe);
        let secrets = case.secrets || (probe.secret && press_enter);
        let case = Case { deed, payload, submits, secrets, ..case };
        let deed = Deed { what: what.clone(), case, around: Around::of(&probe) };
        let passed = self.judge(deed, order).await?;
        if passed.judgement.class > Class::SoftWrite || press_enter {
            let again = self.probe(&found, false).await?;
            unchanged((&found.label, &passed), &probe, &again)?;
        }
        let watching = Watching::begin(self).await?;
        let (short, input) = match self.type_in(&found, text, press_enter).await {
            Ok(short) => (short, Ok(())),
            // The page opened it at what was typed.
            Err(TabError::DialogOpen { .. }) => (None, Err(PageError::DialogOpen)),
            Err(error) => return Err(error),
        };
        let mut outcome = watching.end(self, input).await?;
        outcome.delta.extend(short);
        if outcome.kind == OutcomeKind::NoEffect && outcome.delta.is_empty() {
            outcome.delta.push("it held that already".into());
        }
        Ok(acted(outcome, what, probe.url, passed))
    }

    /// Chooses the nth option of a native select, and reads back what it holds.
    pub async fn select(
        &mut self,
        target: &Target,
        option: u32,
        order: &Order,
    ) -> Result<Acted, TabError> {
        let found = self.resolve(target).await?;
        let probe = self.ready(&found).await?;
        let label = found.label.clone();
        if probe.tag != "select" {
            let (is, wanted) = (format!("a {}", probe.tag), "a native select".to_owned());
            return Err(TabError::WrongKind { target: label, is, wanted });
        }
        let at = usize::try_from(option).unwrap_or(usize::MAX);
        let chosen = probe.choices.get(at).cloned().unwrap_or_default();
        let what = format!("choose {} (option {option}) of {label}", quoted(&chosen));
        let case = Case { deed: "select".into(), payload: chosen, ..case_of(&probe) };
        let deed = Deed { what: what.clone(), case, around: Around::of(&probe) };
        let passed = self.judge(deed, order).await?;
        unchanged((&label, &passed), &probe, &self.probe(&found, false).await?)?;
        let watching = Watching::begin(self).await?;
        let argument = json!({ "document": found.document, "key": found.key, "option": option });
        self.dispatched().set();
        let called = self.page.call("select_option", &argument.to_string(), self.left()).await;
        let (chosen, input) = match called {
            Ok(raw) => match parse::<Assigned>(&raw).map_err(unreadable)? {
                Assigned::Ok { value, .. } => (Some(value), Ok(())),
                Assigned::Rejected { why } => return Err(TabError::Refused { why }),
                Assigned::Gone => return Err(TabError::Stale { id: label }),
            },
            Err(error) => (None, Err(error)),
        };
        let short = match &chosen {
            Some(value) => self.falls_short(&found, value).await.ok().flatten(),
            None => None,
        };
        let mut outcome = watching.end(self, input).await?;
        outcome.delta.extend(chosen.map(|value| format!("chose {}", quoted(&value))));
        outcome.delta.extend(short);
        Ok(acted(outcome, what, probe.url, passed))
    }

    /// Fills the field, and says where it holds something else.
    async fn type_in(
        &self,
        found: &Found,
        text: &str,
        press_enter: bool,
    ) -> Result<Option<String>, TabError> {
        self.put(found, text).await?;
        let short = self.falls_short(found, text).await?;
        if press_enter {
            let enter: Chord = "Enter".parse().expect("Enter is a key");
            match self.page.press(&enter, self.left()).await {
                Ok(()) | Err(PageError::Navigated { .. }) => {}
                Err(error) => return Err(unclear(error)),
            }
        }
        Ok(short)
    }

    /// Puts the text in, in the way that fits the field's kind.
    async fn put(&self, found: &Found, text: &str) -> Result<(), TabError> {
        let Found { document, key, label } = found;
        let argument = json!({ "document": document, "key": key }).to_string();
        let raw = self.page.call("focus_for_fill", &argument, self.left()).await?;
        let wrong = |is: String, wanted: &str| {
            let (target, wanted) = (label.clone(), wanted.to_owned());
            Err(TabError::WrongKind { target, is, wanted })
        };
        match parse::<Focused>(&raw).map_err(unreadable)? {
            Focused::Ok { kind: FillBy::Type } if text.is_empty() => {
                let delete: Chord = "Delete".parse().expect("Delete is a key");
                self.dispatched().set();
                Ok(self.page.press(&delete, self.left()).await?)
            }
            Focused::Ok { kind: FillBy::Type } => {
                self.dispatched().set();
                Ok(self.page.insert_text(text, self.left()).await?)
            }
            Focused::Ok { kind: FillBy::Assign } => {
                let argument = json!({ "document": document, "key": key, "text": text });
                self.dispatched().set();
                let raw = self.page.call("assign", &argument.to_string(), self.left()).await?;
                match parse::<Assigned>(&raw).map_err(unreadable)? {
                    Assigned::Ok { .. } => Ok(()),
                    Assigned::Rejected { why } => Err(TabError::Refused { why }),
                    Assigned::Gone => Err(TabError::Stale { id: label.clone() }),
                }
            }
            Focused::NotEditable { is } => wrong(is, "an editable field"),
            Focused::Gone => Err(TabError::Stale { id: label.clone() }),
        }
    }

    /// Reads the field back. Says what it holds where that is not what was put in; of a secret only
    /// whether it holds anything.
    async fn falls_short(&self, found: &Found, text: &str) -> Result<Option<String>, TabError> {
        let argument = json!({ "document": found.document, "key": found.key }).to_string();
        let raw = match self.page.call("value_of", &argument, self.left()).await {
            Ok(raw) => raw,
            Err(PageError::Navigated { .. }) => return Ok(None),
            Err(error) => return Err(unclear(error)),
        };
        let Ok(Held::Ok { value, secret, filled, .. }) = parse(&raw) else {
            return Ok(None);
        };
        let value = value.unwrap_or_default();
        Ok(if secret {
            (filled == text.is_empty()).then(|| "the field did not take the secret".to_owned())
        } else {
            (folded(&value) != folded(text))
                .then(|| format!("the field holds {}, not what was typed", quoted(&value)))
        })
    }
}

/// Fields trim, and turn line breaks into their own.
fn folded(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn named(found: &Found, probe: &Probe, text: &str, press_enter: bool) -> String {
    let enter = if press_enter { ", then Enter" } else { "" };
    if probe.secret {
        return format!("fill {} with a secret{enter}", found.label);
    }
    format!("fill {} with {}{enter}", found.label, quoted(text))
}
