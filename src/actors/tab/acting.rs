//! The way of one action: resolve, scroll to it and see that it can be hit, ask the guard, look once
//! more, dispatch, settle, say what changed.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::actors::tab::settling::Watching;
use crate::actors::tab::work::{Found, Hands, unreadable};
use crate::domain::action::{Action, ScrollWay};
use crate::domain::guard::{Case, Class, Judgement};
use crate::domain::keys::Chord;
use crate::domain::outcome::{Outcome, OutcomeKind};
use crate::domain::run::Consent;
use crate::domain::target::Target;
use crate::messages::guard::{Decision, GuardMsg, Ruling};
use crate::messages::session::Owner;
use crate::messages::tab::{Acted, Order, TabError};
use crate::perception::answers::{Bounds, FormFacts, Probe, Probed, Scrolled};
use crate::perception::decode::parse;
use crate::ports::page::Press;

/// How long an element may take to stand still, be enabled and be hit.
const READY_WITHIN: Duration = Duration::from_secs(2);
/// Between two looks at an element that is not ready.
const LOOK_AGAIN: Duration = Duration::from_millis(30);

/// What the guard let pass.
pub struct Passed {
    pub judgement: Judgement,
    pub allowed: bool,
}

impl Hands {
    pub async fn act(mut self, order: Order) -> Result<Acted, TabError> {
        let Order { action, consent } = order;
        match action {
            Action::Click { target } => self.click(&target, &consent).await,
            Action::ClickAt { x, y } => self.click_at(Press { x, y }, &consent).await,
            Action::Fill { target, text, press_enter } => {
                self.fill(&target, &text, press_enter, &consent).await
            }
            Action::Press { chord } => self.press(&chord, &consent).await,
            Action::Scroll { way } => self.scroll(way).await,
        }
    }

    async fn click(&mut self, target: &Target, consent: &Consent) -> Result<Acted, TabError> {
        let found = self.resolve(target).await?;
        let probe = self.ready(&found).await?;
        let what = format!("click {}", found.label);
        let passed = self.judge(click_case(&probe), &what, consent).await?;
        // The guard took its time: what it ruled on must still be what is hit.
        let again = self.probe(&found, false).await?;
        let point = hit(&again, &found.label)?;
        unchanged(&found.label, &probe, &again)?;
        let watching = Watching::begin(self).await?;
        self.dispatched().set();
        let pressed = self.page.click(point, self.left()).await;
        let outcome = watching.end(self, pressed).await?;
        Ok(acted(outcome, what, again.url, passed))
    }

    async fn click_at(&mut self, at: Press, consent: &Consent) -> Result<Acted, TabError> {
        let probe = self.probe_point(at).await?;
        let what = format!("click {} at {}, {}", probe.label, at.x, at.y);
        let passed = self.judge(click_case(&probe), &what, consent).await?;
        unchanged(&probe.label, &probe, &self.probe_point(at).await?)?;
        let watching = Watching::begin(self).await?;
        self.dispatched().set();
        let pressed = self.page.click(at, self.left()).await;
        let outcome = watching.end(self, pressed).await?;
        Ok(acted(outcome, what, probe.url, passed))
    }

    async fn press(&mut self, chord: &Chord, consent: &Consent) -> Result<Acted, TabError> {
        let focused = self.probe_focus().await?;
        let url = self.page.location().await?.url;
        let on = focused.as_ref().map_or("the page", |probe| probe.label.as_str());
        let what = format!("press {chord} on {on}");
        let case = focused.as_ref().map_or_else(Case::default, case_of);
        let payload = chord.to_string();
        let case = Case { deed: "press".into(), payload, url: url.clone(), ..case };
        let passed = self.judge(case, &what, consent).await?;
        match (&focused, self.probe_focus().await?) {
            (Some(before), Some(now)) => unchanged(on, before, &now)?,
            (None, None) => {}
            (Some(_), None) | (None, Some(_)) => {
                return Err(TabError::Unstable { target: on.to_owned() });
            }
        }
        let watching = Watching::begin(self).await?;
        self.dispatched().set();
        let pressed = self.page.press(chord, self.left()).await;
        let outcome = watching.end(self, pressed).await?;
        Ok(acted(outcome, what, url, passed))
    }

    async fn scroll(&mut self, way: ScrollWay) -> Result<Acted, TabError> {
        let argument = json!({ "way": way }).to_string();
        self.dispatched().set();
        let raw = self.page.call("scroll", &argument, self.left()).await?;
        let moved: Scrolled = parse(&raw).map_err(unreadable)?;
        let kind = if moved.moved { OutcomeKind::Changed } else { OutcomeKind::NoEffect };
        let place = format!("scrolled to {} of {} px", moved.y.round(), moved.bottom.round());
        let delta = if moved.moved { vec![place] } else { vec!["the page is at its end".into()] };
        let url = self.page.location().await?.url;
        let judgement = Judgement { class: Class::Read, why: "scrolling changes nothing".into() };
        let passed = Passed { judgement, allowed: false };
        Ok(acted(Outcome { kind, delta }, format!("scroll {}", word(way)), url, passed))
    }

    /// Looks until the element stands still, is enabled and can be hit, or says why it is not.
    pub async fn ready(&self, found: &Found) -> Result<Probe, TabError> {
        let until = Instant::now() + READY_WITHIN.min(self.left() / 2);
        let mut before: Option<Bounds> = None;
        loop {
            let probe = self.probe(found, true).await?;
            let still = before == Some(probe.bounds);
            let hurdle = if !probe.enabled {
                Some(TabError::Disabled { target: found.label.clone() })
            } else if let Err(error) = hit(&probe, &found.label) {
                Some(error)
            } else if !still {
                Some(TabError::Unstable { target: found.label.clone() })
            } else {
                None
            };
            match hurdle {
                None => return Ok(probe),
                Some(error) if Instant::now() >= until => return Err(error),
                // The first look has nothing to compare with: look again at once.
                Some(TabError::Unstable { .. }) if before.is_none() => {}
                Some(_) => sleep(LOOK_AGAIN).await,
            }
            before = Some(probe.bounds);
        }
    }

    pub async fn probe(&self, found: &Found, scroll: bool) -> Result<Probe, TabError> {
        let Found { document, key, label } = found;
        let argument = json!({ "document": document, "key": key, "scroll": scroll }).to_string();
        let raw = self.page.call("probe", &argument, self.left()).await?;
        known(&raw)?.ok_or_else(|| TabError::Stale { id: label.clone() })
    }

    async fn probe_point(&self, Press { x, y }: Press) -> Result<Probe, TabError> {
        let argument = json!({ "x": x, "y": y }).to_string();
        let raw = self.page.call("probe_point", &argument, self.left()).await?;
        known(&raw)?.ok_or_else(|| TabError::NotFound { target: format!("{x}, {y}") })
    }

    async fn probe_focus(&self) -> Result<Option<Probe>, TabError> {
        let raw = self.page.call("probe_focus", "{}", self.left()).await?;
        known(&raw)
    }

    /// Asks the guard; one that is dead or late holds.
    pub async fn judge(
        &self,
        case: Case,
        what: &str,
        consent: &Consent,
    ) -> Result<Passed, TabError> {
        let run = self.world.books.tabs.get(&self.id).and_then(|note| match note.owner {
            Owner::Run(run) => Some(run),
            Owner::Shell => None,
        });
        let url = case.url.clone();
        let (what, consent) = (what.to_owned(), consent.clone());
        let told = what.clone();
        let ask = |reply| GuardMsg::Judge { case: Box::new(case), what: told, consent, run, reply };
        let Some(guard) = self.world.doors.guard.find(&()) else {
            return Err(TabError::Refused { why: "there is no guard; nothing was done".into() });
        };
        let ruling = guard.ask(ask, self.left()).await;
        let Ok(Ok(Ruling { judgement, decision })) = ruling else {
            let why = format!("the guard did not rule on `{what}`; nothing was done");
            return Err(TabError::Refused { why });
        };
        match decision {
            Decision::Pass => Ok(Passed { judgement, allowed: false }),
            Decision::Allow => Ok(Passed { judgement, allowed: true }),
            Decision::Hold(id) => Err(TabError::Held { id, what, url, judgement }),
        }
    }
}

/// Reads what was said of an element; nothing where there is none.
fn known(raw: &str) -> Result<Option<Probe>, TabError> {
    match parse::<Probed>(raw).map_err(unreadable)? {
        Probed::Ok(probe) => Ok(Some(*probe)),
        Probed::Gone | Probed::Nowhere => Ok(None),
    }
}

pub fn acted(outcome: Outcome, what: String, url: String, passed: Passed) -> Acted {
    Acted { outcome, what, url, judgement: passed.judgement, allowed: passed.allowed }
}

/// Returns where a press hits the element, or what is in the way.
pub fn hit(probe: &Probe, target: &str) -> Result<Press, TabError> {
    match (&probe.point, &probe.coverer) {
        (Some(point), _) => Ok(Press { x: point.x, y: point.y }),
        (None, Some(by)) => Err(TabError::BlockedBy { target: target.to_owned(), by: by.clone() }),
        (None, None) => {
            let by = "nothing visible: it has no box that can be hit".to_owned();
            Err(TabError::BlockedBy { target: target.to_owned(), by })
        }
    }
}

/// What the guard ruled on must still be what is hit: it took its time, and pages change.
pub fn unchanged(target: &str, judged: &Probe, now: &Probe) -> Result<(), TabError> {
    if case_of(judged) == case_of(now) {
        return Ok(());
    }
    Err(TabError::Unstable { target: target.to_owned() })
}

/// Returns what the guard is told of an element; the deed is the caller's.
pub fn case_of(probe: &Probe) -> Case {
    let form = probe.form.clone().unwrap_or(FormFacts {
        method: String::new(),
        action: String::new(),
        submit: String::new(),
        search: false,
    });
    Case {
        deed: String::new(),
        url: probe.url.clone(),
        tag: probe.tag.clone(),
        role: probe.role.clone(),
        name: probe.name.clone(),
        texts: probe.texts.clone(),
        kind: probe.kind.clone(),
        form_method: form.method,
        form_action: form.action,
        form_submit: form.submit,
        search: probe.search || form.search,
        submits: probe.submits,
        compose: probe.compose,
        payload: String::new(),
    }
}

fn click_case(probe: &Probe) -> Case {
    Case { deed: "click".into(), ..case_of(probe) }
}

fn word(way: ScrollWay) -> &'static str {
    match way {
        ScrollWay::Up => "up",
        ScrollWay::Down => "down",
        ScrollWay::Top => "to the top",
        ScrollWay::Bottom => "to the bottom",
    }
}
