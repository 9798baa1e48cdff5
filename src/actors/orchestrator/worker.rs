//! What the loop has in the browser: one tab at a time, followed where its pages lead, and never lost
//! to a restart.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::time::sleep;

use crate::actors::orchestrator::deeds::Deed;
use crate::actors::world::World;
use crate::domain::action::Action;
use crate::domain::discretion::discreet;
use crate::domain::ids::{HoldId, TabId};
use crate::domain::outcome::OutcomeKind;
use crate::domain::page::observation::{Observation, Shown, View};
use crate::domain::page::text::line;
use crate::domain::run::RunOrder;
use crate::domain::target::{Query, Target};
use crate::domain::tool::ToolCall;
use crate::messages::Reply;
use crate::messages::address::AskError;
use crate::messages::guard::{GuardMsg, HoldState};
use crate::messages::pace::Waited;
use crate::messages::session::{Owner, SessionError, SessionMsg};
use crate::messages::tab::{Acted, Order, TabCard, TabError, TabMsg};

/// Between two tries at a tab that is being started again.
pub const PAUSE: Duration = Duration::from_millis(150);
/// How often a page is looked at before the run gives up.
const LOOKS: u32 = 8;
/// The same for a page that cannot be read: more would wear out the restarts of what reads it.
const BAD_LOOKS: u32 = 3;
/// Beyond the tab's own patience, which gives the better answer.
pub const GRACE: Duration = Duration::from_secs(3);

/// A field that the run filled, so that it can be filled again if the page loses it.
pub struct Filled {
    tab: TabId,
    url: String,
    role: String,
    name: String,
    text: String,
}

pub struct Worker {
    pub order: RunOrder,
    pub world: World,
    pub tab: Option<TabId>,
    /// The tabs that led to this one, the nearest last.
    pub openers: Vec<TabId>,
    /// As each tab was last looked at.
    incarnations: HashMap<TabId, u32>,
    /// Every tab that it had; the books forget those that are gone.
    had: HashSet<TabId>,
    pub newest: Option<Observation>,
    pub filled: Vec<Filled>,
    /// What happened beside the calls, for the next observation and the journal.
    pub news: Vec<String>,
    /// An approval that the next act may use.
    pub ticket: Option<HoldId>,
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
            ticket: None,
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
            None => Some(self.new_tab().await.map_err(|error| error.to_string())?),
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

    pub async fn new_tab(&self) -> Result<TabId, TabError> {
        let owner = Owner::Run(self.order.id);
        self.ask_session(|reply| SessionMsg::NewTab { url: None, owner, reply }).await
    }

    /// Asks the run's session.
    pub async fn ask_session<T: Send + 'static>(
        &self,
        build: impl FnOnce(Reply<T, SessionError>) -> SessionMsg,
    ) -> Result<T, TabError> {
        let refused = |why: String| TabError::Refused { why };
        let session = self.world.doors.sessions.find(&self.order.session);
        let session = session.ok_or_else(|| refused("its session is closed".into()))?;
        let answer = session.ask(build, self.order.limits.navigation_time).await;
        answer
            .map_err(|error| refused(error.to_string()))?
            .map_err(|error| refused(error.to_string()))
    }

    /// Closes what the run opened. A tab with an act that a person may still approve stays open, and is
    /// the shell's from now on.
    pub async fn leave(&self) {
        let Some(session) = self.world.doors.sessions.find(&self.order.session) else {
            return;
        };
        let kept = self.tabs_with_holds().await;
        for tab in self.own_tabs() {
            if kept.contains(&tab) {
                self.world.books.note_tab(tab, |note| note.owner = Owner::Shell);
                continue;
            }
            let close = |reply| SessionMsg::CloseTab { tab, reply };
            if let Err(error) = session.ask(close, GRACE * 3).await {
                tracing::warn!(%tab, %error, "a run's tab was not closed");
            }
        }
    }

    /// The tabs that acts of this run wait in. A guard that does not answer knows of none.
    async fn tabs_with_holds(&self) -> HashSet<TabId> {
        let Some(guard) = self.world.doors.guard.find(&()) else { return HashSet::new() };
        let holds = guard.ask(|reply| GuardMsg::ListHolds { reply }, GRACE).await;
        let holds = holds.ok().and_then(Result::ok).unwrap_or_default();
        let mine = holds
            .into_iter()
            .filter(|hold| hold.run == Some(self.order.id) && hold.state == HoldState::Waiting);
        mine.map(|hold| hold.bond.tab).collect()
    }

    /// Reads the page anew. A tab that is being started again is waited for, and a look that fails is
    /// tried again: it changes nothing.
    pub async fn observe(&mut self) -> Result<(), TabError> {
        let mut looks = 0;
        loop {
            looks += 1;
            let error = match self.look().await {
                Ok(()) => return Ok(()),
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

    async fn look(&mut self) -> Result<(), TabError> {
        let TabCard { generation, .. } =
            self.ask(GRACE, |reply| TabMsg::Describe { reply }).await?;
        let incarnation = generation.incarnation;
        let before = self.tab.and_then(|tab| self.incarnations.insert(tab, incarnation));
        if before.is_some_and(|before| before != incarnation) {
            let url = self.url();
            self.news.push(format!("the tab was started again at {url}; numbers are new"));
            self.refill().await;
        }
        self.newest = Some(self.read(View::Payload).await?);
        Ok(())
    }

    /// Reads the page in one way or another.
    pub async fn read(&self, view: View) -> Result<Observation, TabError> {
        let patience = self.order.limits.action_time;
        self.ask(patience, |reply| TabMsg::Observe { view, patience, reply }).await
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
    pub fn go_back(&mut self) -> Result<(), TabError> {
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

    /// Does one thing to the page; with the approval that waits for it, if one does.
    pub async fn act(&mut self, action: Action) -> Result<Acted, TabError> {
        let patience = self.order.limits.action_time;
        let (consent, ticket) = (self.order.consent.clone(), self.ticket.take());
        let order = Box::new(Order { action, consent, ticket });
        self.ask(patience, |reply| TabMsg::Act { order, patience, reply }).await
    }

    pub fn forget_filled(&mut self) {
        let tab = self.tab;
        self.filled.retain(|field| Some(field.tab) != tab);
    }

    /// Keeps what a fill would need to be done again, where the newest observation names the field.
    pub fn filling(&self, action: &Action) -> Option<Filled> {
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

    /// What a call aims at by number, where the newest page shows it.
    fn aimed_at(&self, call: &ToolCall) -> Option<&Shown> {
        let id = call.aim()?;
        self.newest.as_ref()?.elements.iter().find(|shown| shown.id == id)
    }

    /// The middle of the box of what a call aims at.
    pub fn centre_of(&self, call: &ToolCall) -> Option<(f64, f64)> {
        let [x, y, width, height] = self.aimed_at(call)?.bounds?;
        Some((x + width / 2.0, y + height / 2.0))
    }

    /// Says a call in words, with the name of what its number stands for.
    pub fn in_words(&self, call: &ToolCall) -> String {
        let what = call.what();
        match self.aimed_at(call) {
            Some(Shown { id, role, name, .. }) if !name.is_empty() => {
                let number = format!("[{}]", id.0);
                what.replacen(&number, &format!("{number} {role} '{}'", line(name, 60)), 1)
            }
            Some(_) | None => what,
        }
    }

    /// Goes on in the tab that the last act opened.
    pub fn follow(&mut self) {
        let opened = self.own_tabs().into_iter().rfind(|tab| {
            self.world.books.tabs.get(tab).is_some_and(|note| note.opener == self.tab)
        });
        if opened.is_some() {
            self.openers.extend(self.tab);
            self.tab = opened;
        }
    }

    /// How long each of the run's tabs waited for its page so far.
    pub fn waited(&self) -> HashMap<TabId, Waited> {
        let pace = |tab| Some((tab, self.world.books.tabs.get(&tab)?.pace.waited()));
        self.own_tabs().into_iter().filter_map(pace).collect()
    }

    pub fn own_tabs(&self) -> Vec<TabId> {
        let owner = Owner::Run(self.order.id);
        let tabs = self.world.books.tabs_of(&self.order.session);
        tabs.into_iter().filter(|(_, note)| note.owner == owner).map(|(id, _)| id).collect()
    }

    pub async fn ask<T: Send + 'static>(
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
