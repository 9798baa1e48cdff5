//! The way of one action: resolve, scroll to it and see that it can be hit, ask the guard, look once
//! more, dispatch, settle, say what changed.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::actors::tab::judging::{Around, Deed, Passed, case_of, unchanged};
use crate::actors::tab::settling::Watching;
use crate::actors::tab::work::{Found, Hands, unreadable};
use crate::domain::action::{Action, ScrollWay};
use crate::domain::guard::Case;
use crate::domain::keys::Chord;
use crate::domain::outcome::{Outcome, OutcomeKind};
use crate::domain::target::Target;
use crate::messages::tab::{Acted, Order, TabError};
use crate::perception::answers::{Bounds, Probe, Probed, Scrolled};
use crate::perception::decode::parse;
use crate::ports::page::{Page, Press};

/// How long an element may take to stand still, be enabled and be hit.
const READY_WITHIN: Duration = Duration::from_secs(2);
/// A little longer than the page takes to draw once.
const FRAME: Duration = Duration::from_millis(20);
/// How much of a text is shown when the act is named.
const SHOWN: usize = 60;
/// Between two looks at an element that is not ready.
const LOOK_AGAIN: Duration = Duration::from_millis(30);

impl Hands {
    pub async fn act(mut self, order: Order) -> Result<Acted, TabError> {
        match &order.action {
            Action::Click { target } => self.click(target, &order).await,
            Action::ClickAt { x, y } => self.click_at(Press { x: *x, y: *y }, &order).await,
            Action::Fill { target, text, press_enter } => {
                self.fill(target, (text, *press_enter), &order).await
            }
            Action::FillAt { x, y, text, press_enter } => {
                self.fill_at(Press { x: *x, y: *y }, (text, *press_enter), &order).await
            }
            Action::Select { target, option } => self.select(target, *option, &order).await,
            Action::Press { chord } => self.press(chord, &order).await,
            Action::Scroll { way } => self.scroll(*way).await,
            Action::Hover { target } => self.hover(target).await,
            Action::HoverAt { x, y } => self.hover_at(Press { x: *x, y: *y }).await,
            Action::Evaluate { script } => self.run_script(script, &order).await,
            Action::AcceptDialog { text } => self.accept_dialog(text.as_deref(), &order).await,
        }
    }

    async fn click(&mut self, target: &Target, order: &Order) -> Result<Acted, TabError> {
        let found = self.resolve(target).await?;
        let probe = self.ready(&found).await?;
        let what = format!("click {}", found.label);
        let passed = self.judge(click_deed(&probe, &what), order).await?;
        // The guard took its time: what it ruled on must still be what is hit.
        let again = self.probe(&found, false).await?;
        let point = hit(&again, &found.label)?;
        unchanged((&found.label, &passed), &probe, &again)?;
        let watching = Watching::begin(self).await?;
        self.dispatched().set();
        let pressed = self.page.click(point, self.left()).await;
        let outcome = watching.end(self, pressed).await?;
        Ok(acted(outcome, what, again.url, passed))
    }

    async fn click_at(&mut self, at: Press, order: &Order) -> Result<Acted, TabError> {
        let probe = self.probe_point(at).await?;
        let what = format!("click {} at {}, {}", probe.label, at.x, at.y);
        let passed = self.judge(click_deed(&probe, &what), order).await?;
        unchanged((&probe.label, &passed), &probe, &self.probe_point(at).await?)?;
        let watching = Watching::begin(self).await?;
        self.dispatched().set();
        let pressed = self.page.click(at, self.left()).await;
        let outcome = watching.end(self, pressed).await?;
        Ok(acted(outcome, what, probe.url, passed))
    }

    async fn press(&mut self, chord: &Chord, order: &Order) -> Result<Acted, TabError> {
        let focused = self.probe_focus().await?;
        let url = self.page.location().await?.url;
        let on = focused.as_ref().map_or("the page", |probe| probe.label.as_str());
        let what = format!("press {chord} on {on}");
        let case = focused.as_ref().map_or_else(Case::default, case_of);
        let payload = chord.to_string();
        let case = Case { deed: "press".into(), payload, url: url.clone(), ..case };
        let around = match &focused {
            Some(probe) => Around::of(probe),
            None => self.whole_page().await?,
        };
        let deed = Deed { what: what.clone(), case, around: around.clone() };
        let passed = self.judge(deed, order).await?;
        match (&focused, self.probe_focus().await?) {
            (Some(before), Some(now)) => unchanged((on, &passed), before, &now)?,
            (None, None) => self.page_unchanged(&passed, &around).await?,
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
        let passed = Passed::read("scrolling changes nothing");
        Ok(acted(Outcome { kind, delta }, format!("scroll {}", word(way)), url, passed))
    }

    async fn hover(&mut self, target: &Target) -> Result<Acted, TabError> {
        let found = self.resolve(target).await?;
        let probe = self.probe(&found, true).await?;
        let point = hit(&probe, &found.label)?;
        self.point_at(point, format!("hover over {}", found.label)).await
    }

    async fn hover_at(&mut self, at: Press) -> Result<Acted, TabError> {
        let probe = self.probe_point(at).await?;
        self.point_at(at, format!("hover over {} at {}, {}", probe.label, at.x, at.y)).await
    }

    async fn point_at(&mut self, at: Press, what: String) -> Result<Acted, TabError> {
        let watching = Watching::begin(self).await?;
        self.dispatched().set();
        let pointed = self.page.hover(at, self.left()).await;
        let outcome = watching.end(self, pointed).await?;
        let url = self.page.location().await?.url;
        Ok(acted(outcome, what, url, Passed::read("pointing at something changes nothing")))
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
                // The first look has nothing to compare with, and what moves does so by frames.
                Some(TabError::Unstable { .. }) if before.is_none() => self.page.pause(FRAME).await,
                Some(_) => self.page.pause(LOOK_AGAIN).await,
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

    pub async fn probe_point(&self, Press { x, y }: Press) -> Result<Probe, TabError> {
        let argument = json!({ "x": x, "y": y }).to_string();
        let raw = self.page.call("probe_point", &argument, self.left()).await?;
        known(&raw)?.ok_or_else(|| TabError::NotFound { target: format!("{x}, {y}") })
    }

    async fn probe_focus(&self) -> Result<Option<Probe>, TabError> {
        let raw = self.page.call("probe_focus", "{}", self.left()).await?;
        known(&raw)
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
    let Passed { judgement, allowed, approved } = passed;
    Acted { outcome, what, url, judgement, allowed, approved, value: None }
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

fn click_deed(probe: &Probe, what: &str) -> Deed {
    let case = Case { deed: "click".into(), ..case_of(probe) };
    Deed { what: what.to_owned(), case, around: Around::of(probe) }
}

/// On one line, and no longer than can be read.
pub fn quoted(text: &str) -> String {
    let flat: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let shown: String = flat.chars().take(SHOWN).collect();
    let more = if shown.len() < flat.len() { "…" } else { "" };
    format!("'{shown}{more}'")
}

fn word(way: ScrollWay) -> &'static str {
    match way {
        ScrollWay::Up => "up",
        ScrollWay::Down => "down",
        ScrollWay::Top => "to the top",
        ScrollWay::Bottom => "to the bottom",
    }
}
