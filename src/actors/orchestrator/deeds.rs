//! What the loop does in the browser: one tab at a time, followed where its pages lead, and never
//! lost to a restart.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::time::sleep;

use crate::actors::world::World;
use crate::domain::action::{Action, ScrollWay};
use crate::domain::discretion::discreet;
use crate::domain::ids::{ElementId, TabId};
use crate::domain::journal::{Judged, Verdict};
use crate::domain::outcome::OutcomeKind;
use crate::domain::page::observation::{Observation, Shown, View};
use crate::domain::plan::{Next, Setback, after};
use crate::domain::run::RunOrder;
use crate::domain::target::{Query, Target};
use crate::domain::tool::{Index, Place, ToolCall};
use crate::messages::Reply;
use crate::messages::address::AskError;
use crate::messages::session::{Owner, SessionMsg};
use crate::messages::tab::{Acted, Landed, Order, TabCard, TabError, TabMsg};

/// Between two tries at a tab that is being started again.
const PAUSE: Duration = Duration::from_millis(150);
/// How often a page is looked at before the run gives up.
const LOOKS: u32 = 8;
/// The same for a page that cannot be read: more would wear out the restarts of what reads it.
const BAD_LOOKS: u32 = 3;
/// Beyond the tab's own patience, which gives the better answer.
const GRACE: Duration = Duration::from_secs(3);

/// What came of a call.
pub struct Deed {
    /// A word of the contract, or `finished`, `observed`.
    pub outcome: String,
    pub delta: Vec<String>,
    pub judged: Vec<Judged>,
}

impl Deed {
    pub fn told(outcome: &str, delta: Vec<String>) -> Self {
        Self { outcome: outcome.to_owned(), delta, judged: vec![] }
    }
}

/// A field that the run filled, so that it can be filled again if the page loses it.
struct Filled {
    tab: TabId,
    url: String,
    role: String,
    name: String,
    text: String,
}

pub struct Worker {
    order: RunOrder,
    world: World,
    tab: Option<TabId>,
    /// The tabs that led to this one, the nearest last.
    openers: Vec<TabId>,
    /// As each tab was last looked at.
    incarnations: HashMap<TabId, u32>,
    /// Every tab that it had; the books forget those that are gone.
    had: HashSet<TabId>,
    newest: Option<Observation>,
    filled: Vec<Filled>,
    /// What happened beside the calls, for the next observation and the journal.
    news: Vec<String>,
}

impl Worker {
    pub fn new(order: &RunOrder, world: &World) -> Self {
        Self {
            order: order.clone(),
            world: world.clone(),
            tab: None,
            openers: Vec::new(),
            incarnations: HashMap::new(),
            had: HashSet::new(),
            newest: None,
            filled: Vec::new(),
            news: Vec::new(),
        }
    }

    /// Remembers the run's tabs: their deaths are counted, also of those that do not come back.
    pub fn note_tabs(&mut self) {
        self.had.extend(self.own_tabs());
    }

    /// Whether a tab is or was the run's.
    pub fn had(&self, tab: TabId) -> bool {
        self.had.contains(&tab)
    }

    pub fn url(&self) -> String {
        let note = self.tab.and_then(|tab| self.world.books.tabs.get(&tab).map(|n| n.url.clone()));
        note.unwrap_or_default()
    }

    /// Returns what may be written down of a call on the newest observation, and of the words it came in.
    pub fn discreet(&self, raw: String, call: &ToolCall) -> (String, ToolCall) {
        discreet(raw, call, self.newest.as_ref())
    }

    /// Takes the run's own tab, or a new one, and goes to where the run begins: also after a death
    /// `before_the_first_step`, which may have come before the navigation.
    pub async fn begin(&mut self, before_the_first_step: bool) -> Result<(), String> {
        let own = self.own_tabs().last().copied();
        self.tab = match own {
            Some(tab) => Some(tab),
            None => Some(self.new_tab().await?),
        };
        let Some(url) = self.order.url.clone() else {
            return Ok(());
        };
        if own.is_none() || before_the_first_step {
            let Deed { outcome, delta, .. } = self.carry_out(&ToolCall::Navigate { url }).await;
            // A site that refuses is a page all the same.
            if outcome != OutcomeKind::Navigated.word() {
                return Err(delta.join("; "));
            }
        }
        Ok(())
    }

    async fn new_tab(&self) -> Result<TabId, String> {
        let session = self.world.doors.sessions.find(&self.order.session);
        let session = session.ok_or("its session is closed")?;
        let owner = Owner::Run(self.order.id);
        let ask = |reply| SessionMsg::NewTab { url: None, owner, reply };
        let made = session.ask(ask, self.order.limits.navigation_time).await;
        made.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    /// Closes what the run opened.
    pub async fn leave(&self) {
        let Some(session) = self.world.doors.sessions.find(&self.order.session) else {
            return;
        };
        for tab in self.own_tabs() {
            let close = |reply| SessionMsg::CloseTab { tab, reply };
            if let Err(error) = session.ask(close, GRACE * 3).await {
                tracing::warn!(%tab, %error, "a run's tab was not closed");
            }
        }
    }

    /// Returns the page as the model reads it. A tab that is being started again is waited for, and
    /// a look that fails is tried again: it changes nothing.
    pub async fn observe(&mut self) -> Result<String, TabError> {
        let mut looks = 0;
        loop {
            looks += 1;
            let error = match self.look().await {
                Ok(text) => return Ok(text),
                Err(error) => error,
            };
            match &error {
                _ if looks >= LOOKS => return Err(error),
                TabError::Refused { .. } if looks >= BAD_LOOKS => return Err(error),
                TabError::DialogOpen { kind, .. } => {
                    let accept = kind == "alert" || kind == "beforeunload";
                    self.answer_dialog(accept).await;
                }
                TabError::TargetGone => self.go_back()?,
                _ => {}
            }
            sleep(PAUSE).await;
        }
    }

    async fn look(&mut self) -> Result<String, TabError> {
        let TabCard { generation, .. } =
            self.ask(GRACE, |reply| TabMsg::Describe { reply }).await?;
        let incarnation = generation.incarnation;
        let before = self.tab.and_then(|tab| self.incarnations.insert(tab, incarnation));
        if before.is_some_and(|before| before != incarnation) {
            let url = self.url();
            self.news.push(format!("the tab was started again at {url}; numbers are new"));
            self.refill().await;
        }
        let patience = self.order.limits.action_time;
        let view = View::Payload;
        let ask = |reply| TabMsg::Observe { view, patience, reply };
        let observation = self.ask(patience, ask).await?;
        let news: String = self.news.iter().map(|line| format!("! {line}\n")).collect();
        let text = format!("{news}{}", observation.text);
        self.newest = Some(observation);
        Ok(text)
    }

    /// Puts back what a restart lost of the form on the page. Secrets were never kept.
    async fn refill(&mut self) {
        let (tab, url) = (self.tab, self.url());
        let here = |field: &Filled| Some(field.tab) == tab;
        let (lost, elsewhere): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.filled).into_iter().partition(here);
        self.filled = elsewhere;
        let lost = lost.into_iter().filter(|field| field.url == url);
        for field in lost {
            let query = Query::Role { value: field.role.clone(), name: Some(field.name.clone()) };
            let (target, text) = (Target::Query(vec![query]), field.text.clone());
            let action = Action::Fill { target, text, press_enter: false };
            match self.act(action).await {
                Ok(_) => self.news.push(format!("'{}' was lost and filled again", field.name)),
                Err(error) => self.news.push(format!("'{}' was lost: {error}", field.name)),
            }
            self.filled.push(field);
        }
    }

    async fn answer_dialog(&mut self, accept: bool) {
        let consent = self.order.consent.clone();
        let ask = |reply| TabMsg::AnswerDialog { accept, text: None, consent, reply };
        if let Ok(dialog) = self.ask(GRACE, ask).await {
            let done = if accept { "accepted" } else { "dismissed" };
            self.news.push(format!("{} '{}' was {done}", dialog.kind, dialog.message));
        }
    }

    /// The page is gone. One that comes back is waited for; else goes on in the tab that opened it,
    /// or in the run's newest.
    fn go_back(&mut self) -> Result<(), TabError> {
        let (gone, own) = (self.tab, self.own_tabs());
        let again = gone
            .filter(|tab| self.world.books.tabs.get(tab).is_some_and(|note| note.opener.is_none()));
        if again.is_some() {
            return Ok(());
        }
        self.openers.retain(|tab| own.contains(tab));
        let newest = || own.iter().rfind(|tab| Some(**tab) != gone).copied();
        self.tab = self.openers.pop().or_else(newest);
        if let (Some(gone), Some(_)) = (gone, self.tab) {
            self.news.push(format!("{gone} was closed"));
        }
        self.tab.map(|_| ()).ok_or(TabError::TargetGone)
    }

    /// Does one call. What could not have had an effect is done again after a restart.
    pub async fn carry_out(&mut self, call: &ToolCall) -> Deed {
        let mut repeated = 0;
        let mut judged = Vec::new();
        loop {
            let error = match self.execute(call, &mut judged).await {
                Ok((outcome, mut delta)) => {
                    delta.append(&mut self.news);
                    return Deed { outcome, delta, judged };
                }
                Err(error) => error,
            };
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
                        return self.refused(&error, judged);
                    }
                    if let Err(error) = self.observe().await {
                        return self.refused(&error, judged);
                    }
                }
                Next::Tell => return self.refused(&error, judged),
            }
        }
    }

    fn refused(&mut self, error: &TabError, mut judged: Vec<Judged>) -> Deed {
        if let TabError::Held { id, what, url, judgement } = error {
            judged.push(Judged {
                what: what.clone(),
                url: url.clone(),
                judgement: judgement.clone(),
                verdict: Verdict::Held { id: *id },
            });
        }
        let mut delta = vec![error.to_string(), error.hint().to_owned()];
        delta.append(&mut self.news);
        let dispatched = matches!(
            error,
            TabError::TabRestarted { dispatched: true, .. }
                | TabError::BrowserLost { dispatched: true }
        );
        let kind = if dispatched { OutcomeKind::InDoubt } else { error.kind() };
        Deed { outcome: kind.word().to_owned(), delta, judged }
    }

    async fn execute(
        &mut self,
        call: &ToolCall,
        judged: &mut Vec<Judged>,
    ) -> Result<(String, Vec<String>), TabError> {
        let action = match call {
            ToolCall::View {} => {
                self.observe().await?;
                return Ok(("observed".into(), vec![]));
            }
            ToolCall::Navigate { url } => return self.navigate(url).await,
            ToolCall::Finish { .. } => return Ok(("finished".into(), vec![])),
            ToolCall::Click(place) => match self.place(place)? {
                At::Element(target) => Action::Click { target },
                At::Point(x, y) => Action::ClickAt { x, y },
            },
            ToolCall::Input { place, text, press_enter } => match self.place(place)? {
                At::Element(target) => {
                    Action::Fill { target, text: text.clone(), press_enter: *press_enter }
                }
                At::Point(..) => {
                    let why = "fill by index; coordinates name no field".into();
                    return Err(TabError::Refused { why });
                }
            },
            ToolCall::PressKey { key } => match key.parse() {
                Ok(chord) => Action::Press { chord },
                Err(error) => return Err(TabError::Refused { why: format!("{error}") }),
            },
            ToolCall::Restart { .. }
            | ToolCall::MoveMouse { .. }
            | ToolCall::SelectOption { .. }
            | ToolCall::ConsoleExec { .. }
            | ToolCall::ConsoleView { .. }
            | ToolCall::Find(_)
            | ToolCall::Extract { .. }
            | ToolCall::Tabs { .. }
            | ToolCall::Screenshot { .. }
            | ToolCall::Takeover { .. }
            | ToolCall::RecordFact(_)
            | ToolCall::NotifyUser { .. }
            | ToolCall::AskUser { .. }
            | ToolCall::FileRead { .. }
            | ToolCall::FileWrite { .. }
            | ToolCall::FileList {} => {
                return Err(TabError::Refused { why: "this tool is not there yet".into() });
            }
            ToolCall::ScrollUp { to_top: true } => Action::Scroll { way: ScrollWay::Top },
            ToolCall::ScrollUp { to_top: false } => Action::Scroll { way: ScrollWay::Up },
            ToolCall::ScrollDown { to_bottom: true } => Action::Scroll { way: ScrollWay::Bottom },
            ToolCall::ScrollDown { to_bottom: false } => Action::Scroll { way: ScrollWay::Down },
        };
        let filling = self.filling(&action);
        let acted = self.act(action).await?;
        judged.push(Judged {
            what: acted.what,
            url: acted.url,
            judgement: acted.judgement,
            verdict: match acted.approved {
                Some(id) => Verdict::Approved { id },
                None if acted.allowed => Verdict::Allowed,
                None => Verdict::Passed,
            },
        });
        match acted.outcome.kind {
            OutcomeKind::NewTab => self.follow(),
            OutcomeKind::Navigated => self.forget_filled(),
            _ => self.filled.extend(filling),
        }
        Ok((acted.outcome.kind.word().to_owned(), acted.outcome.delta))
    }

    async fn navigate(&mut self, url: &str) -> Result<(String, Vec<String>), TabError> {
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
        Ok((OutcomeKind::Navigated.word().to_owned(), delta))
    }

    async fn act(&self, action: Action) -> Result<Acted, TabError> {
        let patience = self.order.limits.action_time;
        let order = Box::new(Order::new(action, self.order.consent.clone()));
        self.ask(patience, |reply| TabMsg::Act { order, patience, reply }).await
    }

    fn forget_filled(&mut self) {
        let tab = self.tab;
        self.filled.retain(|field| Some(field.tab) != tab);
    }

    /// Keeps what a fill would need to be done again, where the newest observation names the field.
    fn filling(&self, action: &Action) -> Option<Filled> {
        let (Action::Fill { target: Target::Element(id), text, press_enter: false }, Some(tab)) =
            (action, self.tab)
        else {
            return None;
        };
        let shown = self.newest.as_ref()?.elements.iter().find(|shown| shown.id == *id)?;
        let (role, name) = (shown.role.clone(), shown.name.clone());
        if shown.secret || name.is_empty() {
            return None;
        }
        Some(Filled { tab, url: self.url(), role, name, text: text.clone() })
    }

    fn place(&self, place: &Place) -> Result<At, TabError> {
        match (&place.index, place.coordinate_x, place.coordinate_y) {
            (Some(Index::Number(id)), _, _) => Ok(At::Element(Target::Element(*id))),
            (Some(Index::Named { role, name }), _, _) => self.named(role, name).map(At::Element),
            (None, Some(x), Some(y)) => Ok(At::Point(x, y)),
            (None, _, _) => {
                let why = "give an index, or both coordinates".into();
                Err(TabError::Refused { why })
            }
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

    /// Goes on in the tab that the last act opened.
    fn follow(&mut self) {
        let opened = self.own_tabs().into_iter().rfind(|tab| {
            self.world.books.tabs.get(tab).is_some_and(|note| note.opener == self.tab)
        });
        if opened.is_some() {
            self.openers.extend(self.tab);
            self.tab = opened;
        }
    }

    fn own_tabs(&self) -> Vec<TabId> {
        let owner = Owner::Run(self.order.id);
        let tabs = self.world.books.tabs_of(&self.order.session);
        tabs.into_iter().filter(|(_, note)| note.owner == owner).map(|(id, _)| id).collect()
    }

    async fn ask<T: Send + 'static>(
        &self,
        patience: Duration,
        build: impl FnOnce(Reply<T, TabError>) -> TabMsg,
    ) -> Result<T, TabError> {
        let tab = self.tab.and_then(|tab| self.world.doors.tabs.find(&tab));
        let tab = tab.ok_or(TabError::TargetGone)?;
        match tab.ask(build, patience + GRACE).await {
            Ok(answer) => answer,
            Err(AskError::Died) => Err(TabError::TabRestarted {
                url: self.url(),
                note: String::new(),
                dispatched: true,
            }),
            Err(AskError::TimedOut) => Err(TabError::InDoubt { what: "the command".into() }),
            Err(AskError::Stopped) => Err(TabError::TargetGone),
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
    match outcome {
        "observed" | "finished" => false,
        "navigated" => delta.iter().any(refused),
        "changed" | "no_effect" | "new_tab" | "dialog_open" | "downloaded" | "held" => false,
        _ => true,
    }
}

fn by_name(call: &ToolCall) -> bool {
    match call {
        ToolCall::Click(place) | ToolCall::Input { place, .. } => {
            matches!(place.index, Some(Index::Named { .. }))
        }
        _ => false,
    }
}

/// Names are the same whatever their white space and case.
fn same(one: &str, other: &str) -> bool {
    let folded = |name: &str| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    folded(one) == folded(other)
}
