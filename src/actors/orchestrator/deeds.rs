//! How the calls of the loop are carried out in the browser.

use tokio::time::sleep;

use crate::actors::orchestrator::worker::{PAUSE, Worker};
use crate::domain::action::{Action, ScrollWay};
use crate::domain::ids::{ElementId, HoldId};
use crate::domain::journal::{Judged, Verdict};
use crate::domain::outcome::OutcomeKind;
use crate::domain::page::find::{Finding, find};
use crate::domain::page::observation::{Observation, Shown, View};
use crate::domain::plan::{Next, Setback, after};
use crate::domain::target::{Query, Target};
use crate::domain::tool::{Find, FindAction, Index, Place, ToolCall};
use crate::messages::tab::{Landed, TabError, TabMsg};

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Deed {
    /// A word of the contract, or what a look is called: `observed`, `found`.
    pub outcome: String,
    pub delta: Vec<String>,
    pub judged: Vec<Judged>,
    /// A picture that was taken, and where it is kept in the run's folder.
    pub picture: Option<String>,
}

impl Deed {
    pub fn told(outcome: &str, delta: Vec<String>) -> Self {
        Self { outcome: outcome.to_owned(), delta, ..Self::default() }
    }

    pub fn refused(why: impl Into<String>, hint: &str) -> Self {
        Self::told(OutcomeKind::Refused.word(), vec![why.into(), hint.to_owned()])
    }

    /// The hold that stopped it, if one did.
    pub fn held(&self) -> Option<HoldId> {
        self.judged.iter().rev().find_map(|judged| match judged.verdict {
            Verdict::Held { id } => Some(id),
            Verdict::Passed | Verdict::Allowed | Verdict::Approved { .. } => None,
        })
    }

    pub fn done(&mut self, outcome: &str, lines: Vec<String>) -> Result<(), TabError> {
        outcome.clone_into(&mut self.outcome);
        self.delta.extend(lines);
        Ok(())
    }
}

impl Worker {
    /// Does one call. What could not have had an effect is done again after a restart.
    pub async fn carry_out(&mut self, call: &ToolCall) -> Deed {
        let mut repeated = 0;
        let mut judged = Vec::new();
        loop {
            let mut deed = Deed::default();
            let error = match self.execute(call, &mut deed).await {
                Ok(()) => {
                    deed.delta.append(&mut self.news);
                    judged.append(&mut deed.judged);
                    return Deed { judged, ..deed };
                }
                Err(error) => error,
            };
            judged.append(&mut deed.judged);
            let dispatched = matches!(
                error,
                TabError::TabRestarted { dispatched: true, .. }
                    | TabError::BrowserLost { dispatched: true }
            );
            let setback = Setback { kind: error.kind(), dispatched, repeated };
            // Numbers go with a restart; what was meant by its name is looked for anew.
            let renumbered = setback.kind == OutcomeKind::Stale && repeated == 0 && by_name(call);
            let next = if renumbered { Next::Repeat } else { after(setback, call) };
            match next {
                Next::Repeat => {
                    repeated += 1;
                    sleep(PAUSE).await;
                    // It was meant for the page that is gone, and for no other.
                    let meant_for = self.tab;
                    if error == TabError::TargetGone
                        && (self.go_back().is_err() || self.tab != meant_for)
                    {
                        return self.refused(&error, deed.delta, judged);
                    }
                    if let Err(error) = self.observe().await {
                        return self.refused(&error, deed.delta, judged);
                    }
                }
                Next::Tell => return self.refused(&error, deed.delta, judged),
            }
        }
    }

    fn refused(&mut self, error: &TabError, lines: Vec<String>, mut judged: Vec<Judged>) -> Deed {
        if let TabError::Held { id, what, url, judgement } = error {
            judged.push(Judged {
                what: what.clone(),
                url: url.clone(),
                judgement: judgement.clone(),
                verdict: Verdict::Held { id: *id },
            });
        }
        let mut delta = vec![error.to_string(), error.hint().to_owned()];
        delta.extend(lines);
        delta.append(&mut self.news);
        let dispatched = matches!(
            error,
            TabError::TabRestarted { dispatched: true, .. }
                | TabError::BrowserLost { dispatched: true }
        );
        let kind = if dispatched { OutcomeKind::InDoubt } else { error.kind() };
        Deed { outcome: kind.word().to_owned(), delta, judged, ..Deed::default() }
    }

    async fn execute(&mut self, call: &ToolCall, deed: &mut Deed) -> Result<(), TabError> {
        let action = match call {
            ToolCall::View {} => {
                self.observe().await?;
                return deed.done("observed", vec![]);
            }
            ToolCall::Navigate { url } => return self.navigate(url, deed).await,
            ToolCall::Click(place) => match self.place(place)? {
                At::Element(target) => Action::Click { target },
                At::Point(x, y) => Action::ClickAt { x, y },
            },
            ToolCall::Input { place, text, press_enter } => match self.place(place)? {
                At::Element(target) => {
                    Action::Fill { target, text: text.clone(), press_enter: *press_enter }
                }
                At::Point(x, y) => {
                    Action::FillAt { x, y, text: text.clone(), press_enter: *press_enter }
                }
            },
            ToolCall::MoveMouse { coordinate_x, coordinate_y } => {
                Action::HoverAt { x: *coordinate_x, y: *coordinate_y }
            }
            ToolCall::SelectOption { index, option } => {
                Action::Select { target: self.indexed(index)?, option: *option }
            }
            ToolCall::PressKey { key } => match key.parse() {
                Ok(chord) => Action::Press { chord },
                Err(error) => return Err(TabError::Refused { why: format!("{error}") }),
            },
            ToolCall::ConsoleExec { javascript } => Action::Evaluate { script: javascript.clone() },
            ToolCall::ScrollUp { to_top: true } => Action::Scroll { way: ScrollWay::Top },
            ToolCall::ScrollUp { to_top: false } => Action::Scroll { way: ScrollWay::Up },
            ToolCall::ScrollDown { to_bottom: true } => Action::Scroll { way: ScrollWay::Bottom },
            ToolCall::ScrollDown { to_bottom: false } => Action::Scroll { way: ScrollWay::Down },
            ToolCall::Find(find) => match self.find(find, deed).await? {
                Some(action) => action,
                None => return Ok(()),
            },
            ToolCall::Restart { .. }
            | ToolCall::ConsoleView { .. }
            | ToolCall::Extract { .. }
            | ToolCall::Tabs { .. }
            | ToolCall::Screenshot { .. } => return self.look_around(call, deed).await,
            ToolCall::Takeover { .. }
            | ToolCall::RecordFact(_)
            | ToolCall::NotifyUser { .. }
            | ToolCall::AskUser { .. }
            | ToolCall::FileRead { .. }
            | ToolCall::FileWrite { .. }
            | ToolCall::FileList {}
            | ToolCall::Finish { .. } => return deed.done("finished", vec![]),
        };
        self.do_it(action, deed).await
    }

    /// Acts, and goes on where the act leads.
    async fn do_it(&mut self, action: Action, deed: &mut Deed) -> Result<(), TabError> {
        let filling = self.filling(&action);
        let acted = self.act(action).await?;
        let verdict = match acted.approved {
            Some(id) => Verdict::Approved { id },
            None if acted.allowed => Verdict::Allowed,
            None => Verdict::Passed,
        };
        let (what, url, judgement) = (acted.what, acted.url, acted.judgement);
        deed.judged.push(Judged { what, url, judgement, verdict });
        match acted.outcome.kind {
            OutcomeKind::NewTab => self.follow(),
            OutcomeKind::Navigated => self.forget_filled(),
            _ => self.filled.extend(filling),
        }
        let value = acted.value.map(|value| format!("value: {value}"));
        // What came of it stands before how it was found.
        let lines = value.into_iter().chain(acted.outcome.delta);
        deed.delta.splice(0..0, lines);
        deed.done(acted.outcome.kind.word(), vec![])
    }

    /// Finds by words on the whole page: what to do with it, or only where it is.
    async fn find(&mut self, find: &Find, deed: &mut Deed) -> Result<Option<Action>, TabError> {
        let target = match &find.index {
            Some(index) => self.indexed(index)?,
            None => {
                let page = self.read(View::Operable).await?;
                let target = found(find, &page, deed)?;
                if let Target::Element(id) = &target {
                    let line = page.elements.iter().find(|shown| shown.id == *id);
                    deed.delta.extend(line.map(|shown| format!("found {}", shown.line)));
                }
                target
            }
        };
        let text = || find.text.clone().unwrap_or_default();
        Ok(match find.action {
            FindAction::None => {
                deed.outcome = "found".into();
                None
            }
            FindAction::Click => Some(Action::Click { target }),
            FindAction::Hover => Some(Action::Hover { target }),
            FindAction::Input => {
                Some(Action::Fill { target, text: text(), press_enter: find.press_enter })
            }
        })
    }

    pub async fn navigate(&mut self, url: &str, deed: &mut Deed) -> Result<(), TabError> {
        let parsed = url::Url::parse(url);
        if !parsed.as_ref().is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
            let why = format!("`{url}` is no web address; give it whole, with http or https");
            return Err(TabError::Refused { why });
        }
        self.forget_filled();
        let patience = self.order.limits.navigation_time;
        let ask = |reply| TabMsg::Navigate { url: url.to_owned(), patience, reply };
        let Landed { url, title, status, .. } = self.ask(patience, ask).await?;
        let mut delta = vec![format!("now at {url} '{title}'")];
        if let Some(status) = status.filter(|status| *status >= 400) {
            delta.push(format!("{REFUSED}{status}"));
        }
        deed.done(OutcomeKind::Navigated.word(), delta)
    }

    fn place(&self, place: &Place) -> Result<At, TabError> {
        match (&place.index, place.coordinate_x, place.coordinate_y) {
            (Some(index), _, _) => self.indexed(index).map(At::Element),
            (None, Some(x), Some(y)) => Ok(At::Point(x, y)),
            (None, _, _) => {
                let why = "give an index, or both coordinates".into();
                Err(TabError::Refused { why })
            }
        }
    }

    pub fn indexed(&self, index: &Index) -> Result<Target, TabError> {
        match index {
            Index::Number(id) => Ok(Target::Element(*id)),
            Index::Named { role, name } => self.named(role, name),
        }
    }

    /// Finds an element by role and name on the newest observation; one that it does not show may
    /// still be on the page.
    fn named(&self, role: &str, name: &str) -> Result<Target, TabError> {
        let shown = self.newest.iter().flat_map(|observation| &observation.elements);
        let fits: Vec<&Shown> =
            shown.filter(|shown| shown.role == role && same(&shown.name, name)).collect();
        match fits.as_slice() {
            [one] => Ok(Target::Element(one.id)),
            [] => {
                let (value, name) = (role.to_owned(), Some(name.to_owned()));
                Ok(Target::Query(vec![Query::Role { value, name }]))
            }
            several => Err(TabError::Ambiguous {
                target: format!("{role} '{name}'"),
                fits: several.iter().map(|shown| ElementId::to_string(&shown.id)).collect(),
            }),
        }
    }
}

enum At {
    Element(Target),
    Point(f64, f64),
}

const REFUSED: &str = "the site answered HTTP ";

/// Whether a step with this outcome counts as an error: nothing came of it, or nobody knows what.
pub fn has_failed(outcome: &str, delta: &[String]) -> bool {
    let refused = |line: &String| line.starts_with(REFUSED);
    match serde_json::from_value::<OutcomeKind>(outcome.into()) {
        Ok(OutcomeKind::Navigated) => delta.iter().any(refused),
        Ok(kind) => kind.exit_code() == 1,
        // A look that was had; an answer that was no call.
        Err(_) => outcome == NO_CALL,
    }
}

/// The outcome of a step whose answer was no call.
pub const NO_CALL: &str = "no_call";

/// The one element that is meant.
fn found(find_it: &Find, page: &Observation, deed: &mut Deed) -> Result<Target, TabError> {
    let lines =
        |shown: Vec<&Shown>| shown.iter().map(|shown| shown.line.clone()).collect::<Vec<_>>();
    let target = find_it.description.clone();
    match find(&find_it.description, &page.elements) {
        Finding::One(shown) => Ok(Target::Element(shown.id)),
        Finding::Several(fits) => Err(TabError::Ambiguous { target, fits: lines(fits) }),
        Finding::Nothing(near) => {
            deed.delta.extend(lines(near).iter().map(|line| format!("near it: {line}")));
            Err(TabError::NotFound { target })
        }
    }
}

fn by_name(call: &ToolCall) -> bool {
    let named = |index: Option<&Index>| matches!(index, Some(Index::Named { .. }));
    match call {
        ToolCall::Click(place) | ToolCall::Input { place, .. } => named(place.index.as_ref()),
        ToolCall::SelectOption { index, .. } => named(Some(index)),
        ToolCall::Find(find) => find.index.is_none(),
        _ => false,
    }
}

/// Names are the same whatever their white space and case.
fn same(one: &str, other: &str) -> bool {
    let folded = |name: &str| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    folded(one) == folded(other)
}
