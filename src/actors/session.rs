//! The session: owns one browser, opens pages for its tabs, and keeps the logins.
//!
//! - **Takes** [`SessionMsg`].
//! - **Answers** every ask; one that needs the browser waits for its launch, and hears why it failed.
//! - **Dies** when the browser dies. A restart that is asked for is none: its supervisor stops it.
//! - **Then** its supervisor stops all its tabs, starts it again, and the tabs after it: each goes
//!   to its last URL in the new browser. A launch that fails is an answer, not a death: the next
//!   ask tries again.

use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::Mutex;

use crate::actors::session::logins::Logins;
use crate::actors::settle::settle;
use crate::actors::world::World;
use crate::domain::ids::{SessionName, TabId};
use crate::messages::Reply;
use crate::messages::board::Desk;
use crate::messages::books::TabNote;
use crate::messages::inbox::{Inbox, Job};
use crate::messages::session::{Owner, Restarting, SessionError, SessionMsg, TabLine};
use crate::messages::supervisor::{Seat, SupervisorMsg};
use crate::ports::Sink;
use crate::ports::browser::{Browser, BrowserError, BrowserEvent, OpenPage, ProfileMode};
use crate::ports::page::{Page, PageError, PageEvent, TargetKey};
use crate::ports::store::Counter;

pub mod logins;
pub mod restarting;

/// How long a browser may take to start, its adapter's own bounds notwithstanding.
const LAUNCHING: Duration = Duration::from_secs(35);
/// How many pages in a row may not open in time before the browser is started again.
const STUCK: u32 = 3;
/// How long a tab may take to close before it is closed without its page's consent.
const CLOSING: Duration = Duration::from_secs(5);

/// Behaviour only; see [`SessionState`].
pub struct Session;

pub struct SessionArgs {
    pub name: SessionName,
    pub world: World,
    pub desk: Desk,
}

pub struct SessionState {
    name: SessionName,
    world: World,
    desk: Desk,
    inbox: Inbox<SessionMsg>,
    browser: Engine,
    /// Asks that wait for the launch.
    waiting: Vec<SessionMsg>,
    /// Whose restart this launch is.
    restarting: Option<Restarting>,
    logins: Logins,
    /// The copies under way.
    keeping: Option<Job>,
    jobs: Vec<Job>,
    /// How many pages in a row did not open in time.
    stuck: u32,
    /// Held while the tab is made that many may be asking for.
    first: Arc<Mutex<()>>,
}

/// The browser runs, and opens no page.
#[derive(Debug, thiserror::Error)]
#[error("the browser opened none of {STUCK} pages in time")]
struct BrowserStuck;

/// What a tab wants when it asks for its page.
struct Opening {
    tab: TabId,
    sink: Sink<PageEvent>,
    patience: Duration,
}

enum Engine {
    Absent,
    Launching(Job),
    /// The browser that is being started is dead already, for this reason.
    Stillborn(#[expect(dead_code, reason = "dropping it ends the launch")] Job, String),
    Running(Arc<dyn Browser>),
}

impl Actor for Session {
    type Msg = SessionMsg;
    type State = SessionState;
    type Arguments = SessionArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<SessionMsg>,
        SessionArgs { name, world, desk }: SessionArgs,
    ) -> Result<SessionState, ActorProcessingErr> {
        let inbox = Inbox::new(myself, Arc::clone(&desk.vitals));
        let logins = Logins::new(name.clone(), &world);
        forget_targets(&name, &world);
        let (restarting, waiting) = restarting::left_over(&name, &world);
        let mut state = SessionState {
            name,
            world,
            desk,
            inbox,
            browser: Engine::Absent,
            waiting,
            restarting,
            logins,
            keeping: None,
            jobs: Vec::new(),
            stuck: 0,
            first: Arc::default(),
        };
        state.launch();
        Ok(state)
    }

    async fn handle(
        &self,
        _myself: ActorRef<SessionMsg>,
        message: SessionMsg,
        state: &mut SessionState,
    ) -> Result<(), ActorProcessingErr> {
        state.desk.vitals.took();
        match message {
            SessionMsg::ListTabs { reply } => state.list(reply),
            SessionMsg::SwitchTab { tab, reply } => state.switch(tab, reply),
            SessionMsg::CloseTab { tab, reply } => state.close(tab, reply),
            SessionMsg::TabVanished { tab } => state.mourn(tab),
            SessionMsg::TabActed { tab: _ } => state.keep_logins(),
            SessionMsg::Restart { headed, reply } => state.restart(headed, reply),
            SessionMsg::BrowserSaid(event) => state.hear(event)?,
            SessionMsg::Launched(launched) => state.finish_launch(launched)?,
            SessionMsg::OpeningEnded { tab, error } => state.finish_opening(tab, error)?,
            SessionMsg::LoginsKept(kept) => {
                if let Err(why) = kept {
                    tracing::warn!(session = %state.name, why, "logins were not kept");
                }
            }
            ask @ (SessionMsg::NewTab { .. }
            | SessionMsg::CurrentTab { .. }
            | SessionMsg::Describe { .. }
            | SessionMsg::OpenPage { .. }) => state.ask(ask),
        }
        Ok(())
    }

    async fn post_stop(
        &self,
        _myself: ActorRef<SessionMsg>,
        state: &mut SessionState,
    ) -> Result<(), ActorProcessingErr> {
        state.leave_to_next();
        if let Engine::Running(browser) = &state.browser {
            state.logins.keep_last(browser.as_ref()).await;
            browser.shut_down().await;
        }
        Ok(())
    }
}

impl SessionState {
    fn launch(&mut self) {
        let spec = self.world.books.sessions.get_mut(&self.name).map(|mut note| {
            note.failed = false;
            note.spec.clone()
        });
        let Some(spec) = spec else {
            return;
        };
        self.desk.post("starting the browser");
        let (launcher, logins) = (Arc::clone(&self.world.launcher), self.logins.clone());
        let inbox = self.inbox.clone();
        let sink: Sink<BrowserEvent> =
            Arc::new(move |event| inbox.post(SessionMsg::BrowserSaid(event)));
        self.browser = Engine::Launching(self.inbox.job(async move {
            let launched = tokio::time::timeout(LAUNCHING, launcher.launch(spec, sink)).await;
            let launched = launched.unwrap_or_else(|_elapsed| {
                Err(BrowserError::StartFailed { why: format!("not there after {LAUNCHING:?}") })
            });
            if let Ok(browser) = &launched {
                logins.restore(browser.as_ref()).await;
            }
            SessionMsg::Launched(launched)
        }));
    }

    fn finish_launch(
        &mut self,
        launched: Result<Arc<dyn Browser>, BrowserError>,
    ) -> Result<(), ActorProcessingErr> {
        match launched {
            // Not a call served: one that dies as soon as it runs is not started for ever.
            Ok(browser) => {
                if let Engine::Stillborn(_, why) = &self.browser {
                    return Err(died(why));
                }
                let about = browser.about();
                let pid = about.pid.map(|pid| format!(", pid {pid}")).unwrap_or_default();
                self.desk.post(format!("{}{pid}", about.product));
                self.browser = Engine::Running(browser);
                self.end_restart(Ok(()));
                for ask in std::mem::take(&mut self.waiting) {
                    self.ask(ask);
                }
            }
            Err(error) => {
                self.browser = Engine::Absent;
                self.desk.post(format!("no browser: {error}"));
                if let Some(mut note) = self.world.books.sessions.get_mut(&self.name) {
                    note.failed = true;
                }
                let why = error.to_string();
                self.end_restart(Err(&why));
                self.waiting.drain(..).for_each(|ask| refuse(ask, &why));
            }
        }
        Ok(())
    }

    /// Serves what needs the browser, now or after its launch.
    fn ask(&mut self, ask: SessionMsg) {
        let browser = match &self.browser {
            Engine::Running(browser) => Arc::clone(browser),
            Engine::Launching(_) | Engine::Stillborn(..) => return self.waiting.push(ask),
            Engine::Absent => {
                self.waiting.push(ask);
                return self.launch();
            }
        };
        match ask {
            SessionMsg::NewTab { url, owner, reply } => self.make_tab(url, owner, reply),
            SessionMsg::CurrentTab { reply } => match self.current() {
                Some(tab) => settle(&self.desk.vitals, reply, Ok(tab)),
                None => self.make_first(reply),
            },
            SessionMsg::Describe { reply } => {
                settle(&self.desk.vitals, reply, Ok(browser.about()));
            }
            SessionMsg::OpenPage { tab, sink, patience, reply } => {
                self.open(browser, Opening { tab, sink, patience }, reply);
            }
            SessionMsg::ListTabs { .. }
            | SessionMsg::SwitchTab { .. }
            | SessionMsg::CloseTab { .. }
            | SessionMsg::TabVanished { .. }
            | SessionMsg::TabActed { .. }
            | SessionMsg::Restart { .. }
            | SessionMsg::BrowserSaid(_)
            | SessionMsg::Launched(_)
            | SessionMsg::OpeningEnded { .. }
            | SessionMsg::LoginsKept(_) => {}
        }
    }

    fn make_tab(&mut self, url: Option<String>, owner: Owner, reply: Reply<TabId, SessionError>) {
        let (world, name) = (self.world.clone(), self.name.clone());
        let vitals = Arc::clone(&self.desk.vitals);
        self.beside(async move {
            settle(&vitals, reply, made_tab(&world, &name, url, owner).await);
        });
    }

    /// Makes the tab that shell commands act on, once for all who ask meanwhile.
    fn make_first(&mut self, reply: Reply<TabId, SessionError>) {
        let (world, name, first) = (self.world.clone(), self.name.clone(), Arc::clone(&self.first));
        let vitals = Arc::clone(&self.desk.vitals);
        self.beside(async move {
            let _one_at_a_time = first.lock().await;
            let made = match current_of(&world, &name) {
                Some(tab) => Ok(tab),
                None => made_tab(&world, &name, None, Owner::Shell).await,
            };
            settle(&vitals, reply, made);
        });
    }

    fn open(
        &mut self,
        browser: Arc<dyn Browser>,
        Opening { tab, sink, patience }: Opening,
        reply: Reply<Arc<dyn Page>, PageError>,
    ) {
        let Some(note) = self.world.books.tabs.get(&tab).map(|note| note.clone()) else {
            return settle(&self.desk.vitals, reply, Err(PageError::Gone));
        };
        let (vitals, inbox) = (Arc::clone(&self.desk.vitals), self.inbox.clone());
        self.beside(async move {
            let opening = open_page(browser.as_ref(), note, sink);
            let opened = tokio::time::timeout(patience, opening).await;
            let what = "the opening of a page";
            let opened = opened.unwrap_or(Err(PageError::TimedOut { what, patience }));
            let error = opened.as_ref().err().cloned();
            settle(&vitals, reply, opened);
            inbox.post(SessionMsg::OpeningEnded { tab, error });
        });
    }

    /// A browser that opens no page any more is as good as dead. A popup that was closed before it
    /// could be taken over is gone.
    fn finish_opening(&mut self, tab: TabId, error: Option<PageError>) -> Result<(), BrowserStuck> {
        match error {
            Some(PageError::TimedOut { .. }) => self.stuck += 1,
            Some(PageError::Gone) => self.mourn(tab),
            Some(_) | None => self.stuck = 0,
        }
        if self.stuck >= STUCK { Err(BrowserStuck) } else { Ok(()) }
    }

    fn list(&self, reply: Reply<Vec<TabLine>, SessionError>) {
        let current = self.current();
        let line = |(id, note): (TabId, TabNote)| TabLine {
            id,
            title: note.title,
            url: note.url,
            active: current == Some(id),
            owner: note.owner,
        };
        let lines = self.world.books.tabs_of(&self.name).into_iter().map(line).collect();
        settle(&self.desk.vitals, reply, Ok(lines));
    }

    fn switch(&mut self, tab: TabId, reply: Reply<(), SessionError>) {
        let done = self.own(tab).and_then(|note| match note.owner {
            Owner::Shell => {
                set_current(&self.world, &self.name, Some(tab));
                Ok(())
            }
            Owner::Run(run) => Err(SessionError::Owned(tab, run)),
        });
        settle(&self.desk.vitals, reply, done);
    }

    fn close(&mut self, tab: TabId, reply: Reply<(), SessionError>) {
        let note = match self.own(tab) {
            Ok(note) => note,
            Err(error) => return settle(&self.desk.vitals, reply, Err(error)),
        };
        self.leave(tab, &note);
        let browser = match &self.browser {
            Engine::Running(browser) => Some(Arc::clone(browser)),
            Engine::Absent | Engine::Launching(_) | Engine::Stillborn(..) => None,
        };
        let (world, vitals) = (self.world.clone(), Arc::clone(&self.desk.vitals));
        self.beside(async move {
            dismiss_tab(&world, &note.session, tab).await;
            if let (Some(browser), Some(target)) = (browser, note.target) {
                // A page that is gone already is as closed as one can be.
                let _ = tokio::time::timeout(CLOSING, browser.close_target(&target)).await;
            }
            settle(&vitals, reply, Ok(()));
        });
    }

    /// A tab's page was closed by somebody else, and the tab is not to come back.
    fn mourn(&mut self, tab: TabId) {
        let Ok(note) = self.own(tab) else {
            return;
        };
        self.leave(tab, &note);
        let (world, name) = (self.world.clone(), self.name.clone());
        self.beside(async move { dismiss_tab(&world, &name, tab).await });
    }

    /// Control goes back to the tab that opened this one, or to the newest of the shell's.
    fn leave(&self, tab: TabId, note: &TabNote) {
        if self.current() != Some(tab) {
            return;
        }
        let others = self.world.books.tabs_of(&self.name);
        let mut others =
            others.iter().filter(|(id, other)| *id != tab && other.owner == Owner::Shell);
        let opener = others.clone().map(|(id, _)| *id).find(|id| note.opener == Some(*id));
        let next = opener.or_else(|| others.next_back().map(|(id, _)| *id));
        set_current(&self.world, &self.name, next);
    }

    fn hear(&mut self, event: BrowserEvent) -> Result<(), ActorProcessingErr> {
        match event {
            BrowserEvent::Died { why } => self.lose(why),
            BrowserEvent::Popup { target, opener, url } => {
                self.take_popup(target, &opener, url);
                Ok(())
            }
        }
    }

    /// A launch says itself why it failed; only one that succeeded is overtaken by this.
    fn lose(&mut self, why: String) -> Result<(), ActorProcessingErr> {
        self.browser = match std::mem::replace(&mut self.browser, Engine::Absent) {
            engine @ Engine::Running(_) => {
                self.browser = engine;
                return Err(died(&why));
            }
            Engine::Launching(job) => Engine::Stillborn(job, why),
            engine @ (Engine::Stillborn(..) | Engine::Absent) => engine,
        };
        Ok(())
    }

    fn take_popup(&mut self, target: TargetKey, opener: &TargetKey, url: String) {
        let tabs = self.world.books.tabs_of(&self.name);
        let known = tabs.iter().any(|(_, note)| note.target.as_ref() == Some(&target));
        let Some((opener, owner)) = tabs
            .iter()
            .find(|(_, note)| note.target.as_ref() == Some(opener))
            .map(|(id, note)| (*id, note.owner))
            .filter(|_| !known)
        else {
            return;
        };
        let follow = self.current() == Some(opener);
        let mut note = TabNote::new(self.name.clone(), owner, url);
        (note.target, note.opener) = (Some(target), Some(opener));
        let (world, name) = (self.world.clone(), self.name.clone());
        self.beside(async move {
            match admit_tab(&world, note).await {
                Ok(tab) if follow => set_current(&world, &name, Some(tab)),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "a popup was not taken in"),
            }
        });
    }

    fn keep_logins(&mut self) {
        if let Engine::Running(browser) = &self.browser {
            self.keeping = self.logins.keep(&self.inbox, browser);
        }
    }

    fn own(&self, tab: TabId) -> Result<TabNote, SessionError> {
        let note = self.world.books.tabs.get(&tab).map(|note| note.clone());
        note.filter(|note| note.session == self.name).ok_or(SessionError::NoTab(tab))
    }

    fn current(&self) -> Option<TabId> {
        current_of(&self.world, &self.name)
    }

    fn beside(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.jobs.retain(|job| !job.is_finished());
        self.jobs.push(self.inbox.side_job(work));
    }
}

/// A new browser of ours knows no target of the last one; one that others run goes on without us.
fn forget_targets(name: &SessionName, world: &World) {
    let note = world.books.sessions.get(name).map(|note| note.spec.profile);
    if note == Some(ProfileMode::Attach) {
        return;
    }
    for (tab, _) in world.books.tabs_of(name) {
        world.books.note_tab(tab, |note| note.target = None);
    }
}

fn died(why: &str) -> ActorProcessingErr {
    format!("the browser died: {why}").into()
}

/// Answers an ask that needed the browser.
fn refuse(ask: SessionMsg, why: &str) {
    let error = SessionError::Browser(why.to_owned());
    match ask {
        SessionMsg::NewTab { reply, .. } | SessionMsg::CurrentTab { reply } => {
            let _ = reply.send(Err(error));
        }
        SessionMsg::Describe { reply } => drop(reply.send(Err(error))),
        SessionMsg::OpenPage { reply, .. } => {
            let refused = PageError::Refused { what: "a page", why: why.to_owned() };
            let _ = reply.send(Err(refused));
        }
        SessionMsg::ListTabs { .. }
        | SessionMsg::SwitchTab { .. }
        | SessionMsg::CloseTab { .. }
        | SessionMsg::TabVanished { .. }
        | SessionMsg::TabActed { .. }
        | SessionMsg::Restart { .. }
        | SessionMsg::BrowserSaid(_)
        | SessionMsg::Launched(_)
        | SessionMsg::OpeningEnded { .. }
        | SessionMsg::LoginsKept(_) => {}
    }
}

/// Opens the page that the note tells of, or a new one in its place if it is gone.
async fn open_page(
    browser: &dyn Browser,
    note: TabNote,
    sink: Sink<PageEvent>,
) -> Result<Arc<dyn Page>, PageError> {
    let TabNote { target, url, opener, .. } = note;
    let anew = OpenPage { target: None, url: url.clone() };
    if target.is_some() {
        let opened = browser.open(OpenPage { target, url }, Arc::clone(&sink)).await;
        if opener.is_some() || !matches!(opened, Err(PageError::Gone)) {
            return opened;
        }
    }
    browser.open(anew, sink).await
}

/// Makes a tab; the shell's newest is the one that its commands act on.
async fn made_tab(
    world: &World,
    name: &SessionName,
    url: Option<String>,
    owner: Owner,
) -> Result<TabId, SessionError> {
    let url = url.unwrap_or_else(|| "about:blank".into());
    let tab = admit_tab(world, TabNote::new(name.clone(), owner, url)).await?;
    if owner == Owner::Shell {
        set_current(world, name, Some(tab));
    }
    Ok(tab)
}

async fn admit_tab(world: &World, note: TabNote) -> Result<TabId, SessionError> {
    let number = world.store.next(Counter::Tab).await;
    let tab = TabId(number.map_err(|error| SessionError::Store(error.to_string()))?);
    let name = note.session.clone();
    world.books.tabs.insert(tab, note);
    let add = |reply| SupervisorMsg::Add { seat: Seat::TabGroup(tab), reply };
    let tabs = world.doors.supervisors.find(&Seat::Tabs(name));
    let added = match tabs {
        Some(tabs) => tabs.ask(add, world.settings.patience).await.is_ok_and(|done| done.is_ok()),
        None => false,
    };
    if !added {
        world.books.tabs.remove(&tab);
        return Err(SessionError::Browser("the session is being closed".into()));
    }
    Ok(tab)
}

async fn dismiss_tab(world: &World, session: &SessionName, tab: TabId) {
    let Some(tabs) = world.doors.supervisors.find(&Seat::Tabs(session.clone())) else {
        return;
    };
    let remove = |reply| SupervisorMsg::Remove { seat: Seat::TabGroup(tab), reply };
    if let Err(error) = tabs.ask(remove, world.settings.patience).await {
        tracing::warn!(%tab, %error, "a tab was not dismissed");
    }
}

fn current_of(world: &World, session: &SessionName) -> Option<TabId> {
    let current = world.books.sessions.get(session)?.current?;
    world.books.tabs.contains_key(&current).then_some(current)
}

fn set_current(world: &World, session: &SessionName, tab: Option<TabId>) {
    if let Some(mut note) = world.books.sessions.get_mut(session) {
        note.current = tab;
    }
}
