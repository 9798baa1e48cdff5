//! Filling a field: by its kind, read back, and truthfully reported.

use serde_json::json;

use crate::actors::tab::acting::{acted, case_of, unchanged};
use crate::actors::tab::settling::{Watching, unclear};
use crate::actors::tab::work::{Found, Hands, unreadable};
use crate::domain::guard::Case;
use crate::domain::keys::Chord;
use crate::domain::outcome::OutcomeKind;
use crate::domain::run::Consent;
use crate::domain::target::Target;
use crate::messages::tab::{Acted, READ_ONLY, TabError};
use crate::perception::answers::{Assigned, FillBy, Focused, Held, Probe};
use crate::perception::decode::parse;
use crate::ports::page::PageError;

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
        if !probe.editable && probe.tag != "select" {
            let is = if probe.readonly { READ_ONLY } else { "no field" };
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
            unchanged(&found.label, &probe, &self.probe(&found, false).await?)?;
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

/// On one line, and no longer than can be read.
fn quoted(text: &str) -> String {
    let flat: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let shown: String = flat.chars().take(SHOWN).collect();
    let more = if shown.len() < flat.len() { "…" } else { "" };
    format!("'{shown}{more}'")
}
