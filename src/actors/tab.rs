//! The tab: owns one page target, and is the only thing that talks to it.
//!
//! - **Takes** [`TabMsg`].
//! - **Answers** every ask, with a value or a [`TabError`]; a refused action is an answer, not a crash.
//! - **Dies** when its page's process dies, and once when a page that a run works in is closed.
//! - **Then** its supervisor starts it again, and it goes back to its URL by navigation, so that no
//!   form is sent twice. Element numbers go on, and the old ones are stale.
//!
//! One piece of work at a time runs beside the mailbox, and a few wait in line; answering a dialog,
//! describing and closing never wait for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::actors::settle::settle;
use crate::actors::tab::judging::Asker;
use crate::actors::tab::timed::Timed;
use crate::actors::tab::work::{Flag, Hands};
use crate::actors::world::World;
use crate::domain::action::Action;
use crate::domain::ids::TabId;
use crate::domain::run::Consent;
use crate::messages::Reply;
use crate::messages::board::Desk;
use crate::messages::inbox::{Inbox, Job};
use crate::messages::session::{Owner, SessionMsg};
use crate::messages::tab::{Generation, JobEnd, Order, TabCard, TabError, TabMsg};
use crate::ports::Sink;
use crate::ports::page::{ConsoleLines, Dialog, Page, PageError, PageEvent, RequestKind};

pub mod acting;
pub mod filling;
pub mod judging;
pub mod looking;
pub mod scripting;
pub mod settling;
pub mod timed;
pub mod work;

/// How long the session may take to open a page; a browser may have to start first.
const OPENING: Duration = Duration::from_secs(28);
/// How long an answer is kept back for the page's title and address.
const NOTING: Duration = Duration::from_secs(1);

/// How long a new page may take to say its title.
const NAMING: Duration = Duration::from_millis(400);

/// Behaviour only; everything that changes is in [`TabState`].
pub struct Tab;

/// What a tab needs to start, the first time and after every death.
pub struct TabArgs {
    pub id: TabId,
    pub world: World,
    pub desk: Desk,
}

/// What a tab knows. Dropping it aborts the job, however the tab ended.
pub struct TabState {
    id: TabId,
    world: World,
    desk: Desk,
    inbox: Inbox<TabMsg>,
    page: Arc<Timed>,
    running: Option<Running>,
    queue: VecDeque<TabMsg>,
    /// The last document request was a form's, and was not redirected yet.
    form_sent: bool,
    /// Learns the title of a page that nobody works with.
    naming: Option<Job>,
    end: JobEnd,
}

/// The work under way.
struct Running {
    events: mpsc::UnboundedSender<PageEvent>,
    /// Ends the work with an answer, where the page will give none.
    cut: Option<oneshot::Sender<TabError>>,
    dispatched: Flag,
    _job: Job,
}

/// One piece of work, and who waits for it how long.
struct Task<T: Send + 'static> {
    what: String,
    patience: Duration,
    reply: Reply<T, TabError>,
}

impl Actor for Tab {
    type Msg = TabMsg;
    type State = TabState;
    type Arguments = TabArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<TabMsg>,
        TabArgs { id, world, desk }: TabArgs,
    ) -> Result<TabState, ActorProcessingErr> {
        desk.post("opening its page");
        let inbox = Inbox::new(myself, Arc::clone(&desk.vitals));
        let page = open(id, &world, &inbox).await?;
        desk.post("idle");
        let mut state = TabState {
            id,
            world,
            desk,
            inbox,
            page,
            running: None,
            queue: VecDeque::new(),
            form_sent: false,
            naming: None,
            end: JobEnd::Alive,
        };
        state.learn_title();
        Ok(state)
    }

    async fn handle(
        &self,
        _myself: ActorRef<TabMsg>,
        message: TabMsg,
        state: &mut TabState,
    ) -> Result<(), ActorProcessingErr> {
        state.desk.vitals.took();
        match message {
            work @ (TabMsg::Navigate { .. }
            | TabMsg::Observe { .. }
            | TabMsg::Act { .. }
            | TabMsg::Evaluate { .. }
            | TabMsg::Get { .. }
            | TabMsg::Picture { .. }
            | TabMsg::Wait { .. }) => state.take(work),
            TabMsg::Console { most, reply } => state.console(most, reply),
            TabMsg::AnswerDialog { accept, text, consent, reply } => {
                state.answer_dialog(accept, (text, consent), reply);
            }
            TabMsg::Describe { reply } => state.describe(reply),
            TabMsg::PageSaid(event) => state.hear(event),
            TabMsg::JobEnded(end) => state.finish(end),
        }
        state.carry_on()
    }
}

/// Asks the session for the tab's page, and notes its target.
async fn open(
    id: TabId,
    world: &World,
    inbox: &Inbox<TabMsg>,
) -> Result<Arc<Timed>, ActorProcessingErr> {
    let name = world.books.tabs.get(&id).map(|note| note.session.clone());
    let session = name.and_then(|name| world.doors.sessions.find(&name));
    let session = session.ok_or("its session is closed")?;
    let inbox = inbox.clone();
    let sink: Sink<PageEvent> = Arc::new(move |event| inbox.post(TabMsg::PageSaid(event)));
    let ask = |reply| SessionMsg::OpenPage { tab: id, sink, patience: OPENING, reply };
    let page = session.ask(ask, OPENING).await??;
    let pace = world.books.note_tab(id, |note| {
        note.target = Some(page.target());
        note.dialog = None;
        note.landings += 1;
        note.pace.clone()
    });
    Ok(Arc::new(Timed::new(page, pace.unwrap_or_default())))
}

impl TabState {
    fn take(&mut self, work: TabMsg) {
        if self.end != JobEnd::Alive {
            return refuse(work, self.parting());
        }
        let waiting = self.queue.len();
        if waiting >= self.world.settings.tab_queue {
            return refuse(work, TabError::Busy { waiting });
        }
        self.queue.push_back(work);
    }

    /// Starts what is next, or dies of what has happened to the page.
    fn carry_on(&mut self) -> Result<(), ActorProcessingErr> {
        if self.running.is_some() {
            return Ok(());
        }
        if self.end != JobEnd::Alive {
            return self.part();
        }
        match self.queue.pop_front() {
            Some(work) => self.start(work),
            None => self.desk.post(self.idle()),
        }
        Ok(())
    }

    fn start(&mut self, work: TabMsg) {
        match work {
            TabMsg::Navigate { url, patience, reply } => {
                let task = Task { what: format!("navigating to {url}"), patience, reply };
                self.run(task, |mut hands| async move { hands.navigate(&url).await });
            }
            TabMsg::Observe { view, patience, reply } => {
                let task = Task { what: "reading the page".into(), patience, reply };
                self.run(task, |hands| async move { hands.observe(view).await });
            }
            TabMsg::Act { order, patience, reply } => {
                let task = Task { what: "acting".into(), patience, reply };
                self.run(task, |hands| hands.act(*order));
            }
            TabMsg::Evaluate { script, consent, patience, reply } => {
                let task = Task { what: "evaluating a script".into(), patience, reply };
                self.run(task, |hands| async move { hands.evaluate(script, consent).await });
            }
            TabMsg::Get { question, patience, reply } => {
                let task = Task { what: "answering a question".into(), patience, reply };
                self.run(task, |hands| async move { hands.get(question).await });
            }
            TabMsg::Picture { order, patience, reply } => {
                let task = Task { what: "taking a picture".into(), patience, reply };
                self.run(task, |hands| async move { hands.picture(order).await });
            }
            TabMsg::Wait { until, patience, reply } => {
                let task = Task { what: "waiting".into(), patience, reply };
                self.run(task, |hands| async move { hands.wait(until).await });
            }
            TabMsg::Console { .. }
            | TabMsg::AnswerDialog { .. }
            | TabMsg::Describe { .. }
            | TabMsg::PageSaid(_)
            | TabMsg::JobEnded(_) => {}
        }
    }

    /// Runs one piece of work beside the mailbox: it answers its caller by itself, at the latest
    /// when its patience is over or when it is cut.
    fn run<T, W, F>(&mut self, task: Task<T>, work: W)
    where
        T: Send + 'static,
        W: FnOnce(Hands) -> F + Send + 'static,
        F: Future<Output = Result<T, TabError>> + Send,
    {
        let Task { what, patience, reply } = task;
        let (events, heard) = mpsc::unbounded_channel();
        let (cut, cut_off) = oneshot::channel();
        let who = (self.id, self.desk.incarnation);
        let hands = Hands::new(who, (&self.world, &self.page), heard, patience);
        let (vitals, dispatched) = (Arc::clone(&self.desk.vitals), hands.dispatched());
        let (world, id, page) = (self.world.clone(), self.id, Arc::clone(&self.page));
        self.desk.post(&what);
        let job = self.inbox.job(async move {
            let dispatched = hands.dispatched();
            let outcome = tokio::select! {
                outcome = timeout(patience, work(hands)) => match outcome {
                    Ok(outcome) => outcome,
                    Err(_elapsed) => Err(TabError::TimedOut { what, patience }),
                },
                Ok(error) = cut_off => Err(error),
            };
            let end = outcome.as_ref().err().map_or(JobEnd::Alive, TabError::fate);
            let outcome =
                outcome.map_err(|error| with_words(&world, id, error, dispatched.is_set()));
            if end == JobEnd::Alive {
                let _ = timeout(NOTING, note_place(&world, id, page.as_ref())).await;
            }
            settle(&vitals, reply, outcome);
            TabMsg::JobEnded(end)
        });
        self.running = Some(Running { events, cut: Some(cut), dispatched, _job: job });
    }

    fn finish(&mut self, end: JobEnd) {
        self.running = None;
        self.worsen(end);
        let session = self.world.books.tabs.get(&self.id).map(|note| note.session.clone());
        if let Some(session) = session.and_then(|name| self.world.doors.sessions.find(&name)) {
            session.tell(SessionMsg::TabActed { tab: self.id });
        }
    }

    fn console(&self, most: usize, reply: Reply<ConsoleLines, TabError>) {
        settle(&self.desk.vitals, reply, Ok(self.page.console(most)));
    }

    fn answer_dialog(
        &mut self,
        accept: bool,
        (text, consent): (Option<String>, Consent),
        reply: Reply<Dialog, TabError>,
    ) {
        let open = self.world.books.tabs.get(&self.id).and_then(|note| note.dialog.clone());
        let Some(dialog) = open else {
            let why = "no dialog is open".into();
            return settle(&self.desk.vitals, reply, Err(TabError::Refused { why }));
        };
        let (page, vitals) = (Arc::clone(&self.page), Arc::clone(&self.desk.vitals));
        // Not the tab's one piece of work: that may be what waits for this very answer.
        let patience = self.world.settings.patience;
        let (world, tab) = (self.world.clone(), self.id);
        self.inbox.detached(async move {
            if accept {
                let asker = Asker { world: &world, tab, patience };
                let order = Order::new(Action::AcceptDialog { text: text.clone() }, consent);
                if let Err(error) = asker.judge_dialog(&dialog, &order).await {
                    return settle(&vitals, reply, Err(error));
                }
            }
            let answered = timeout(patience, page.answer_dialog(accept, text.as_deref())).await;
            let what = "the answer to a dialog";
            let answered = answered.unwrap_or(Err(PageError::TimedOut { what, patience }));
            settle(&vitals, reply, answered.map(|()| dialog).map_err(TabError::from));
        });
    }

    fn describe(&self, reply: Reply<TabCard, TabError>) {
        let generation = self.generation();
        let card = self.world.books.tabs.get(&self.id).map(|note| TabCard {
            url: note.url.clone(),
            title: note.title.clone(),
            dialog: note.dialog.clone(),
            generation,
        });
        settle(&self.desk.vitals, reply, card.ok_or(TabError::TargetGone));
    }

    fn hear(&mut self, event: PageEvent) {
        match &event {
            PageEvent::Crashed => self.worsen(JobEnd::Crashed),
            PageEvent::Gone => self.worsen(JobEnd::Gone),
            PageEvent::DialogOpened(dialog) => {
                self.world.books.note_tab(self.id, |note| note.dialog = Some(dialog.clone()));
            }
            PageEvent::DialogClosed => {
                self.world.books.note_tab(self.id, |note| note.dialog = None);
            }
            PageEvent::Navigated { url, same_document } => self.note_landing(url, *same_document),
            PageEvent::Sent { kind: RequestKind::Document, .. } => self.form_sent = true,
            PageEvent::Answered { status: 300..=399, .. } => self.form_sent = false,
            PageEvent::Sent { .. } | PageEvent::Answered { .. } => {}
        }
        if let Some(running) = &self.running {
            // The work may have ended, and not been seen off yet.
            let _ = running.events.send(event);
        }
    }

    fn note_landing(&mut self, url: &str, same_document: bool) {
        let from_form = std::mem::take(&mut self.form_sent);
        self.learn_title();
        self.world.books.note_tab(self.id, |note| {
            // An error page has no address of its own to go back to.
            if !url.starts_with("chrome-error:") {
                url.clone_into(&mut note.url);
            }
            if !same_document {
                note.landings += 1;
                note.from_form = from_form;
                note.dialog = None;
            }
        });
    }

    /// A page has its title a moment after it begins to show.
    fn learn_title(&mut self) {
        let (world, id, page) = (self.world.clone(), self.id, Arc::clone(&self.page));
        self.naming = Some(self.inbox.side_job(async move {
            tokio::time::sleep(NAMING).await;
            let _ = timeout(NOTING, note_place(&world, id, page.as_ref())).await;
        }));
    }

    /// The page has come to this. What is under way is answered now: it will get no answer.
    fn worsen(&mut self, end: JobEnd) {
        if end == JobEnd::Alive || self.end != JobEnd::Alive {
            return;
        }
        self.end = end;
        let parting = match end {
            JobEnd::Crashed => TabError::TabRestarted {
                url: String::new(),
                note: String::new(),
                dispatched: false,
            },
            JobEnd::Gone => TabError::TargetGone,
            JobEnd::Alive | JobEnd::Lost => TabError::BrowserLost { dispatched: false },
        };
        // What a press closed is what came of it; the act hears of that as it hears of the rest.
        let acted = |running: &&mut Running| end != JobEnd::Gone || !running.dispatched.is_set();
        let cut = self.running.as_mut().filter(acted).and_then(|running| running.cut.take());
        if let Some(cut) = cut {
            let _ = cut.send(parting);
        }
        let waiting = std::mem::take(&mut self.queue);
        waiting.into_iter().for_each(|work| refuse(work, self.parting()));
    }

    /// What is said to those whose work was not begun.
    fn parting(&self) -> TabError {
        match self.end {
            JobEnd::Gone if !self.comes_back() => TabError::TargetGone,
            JobEnd::Alive | JobEnd::Crashed | JobEnd::Gone | JobEnd::Lost => TabError::NotBegun,
        }
    }

    /// A page that a run works in is opened once more when somebody closes it; a popup never, for
    /// what opened it goes on without it.
    fn comes_back(&self) -> bool {
        self.world.books.tabs.get(&self.id).is_some_and(|note| {
            matches!(note.owner, Owner::Run(_)) && note.opener.is_none() && !note.reopened
        })
    }

    fn part(&mut self) -> Result<(), ActorProcessingErr> {
        match self.end {
            JobEnd::Alive => Ok(()),
            JobEnd::Crashed => Err("the page's process died".into()),
            JobEnd::Gone if self.comes_back() => {
                self.world.books.note_tab(self.id, |note| {
                    (note.reopened, note.target) = (true, None);
                });
                Err("the page was closed by somebody else".into())
            }
            JobEnd::Gone => {
                self.desk.post("closed");
                let session = self.world.books.tabs.get(&self.id).map(|note| note.session.clone());
                let session = session.and_then(|name| self.world.doors.sessions.find(&name));
                if let Some(session) = session {
                    session.tell(SessionMsg::TabVanished { tab: self.id });
                }
                Ok(())
            }
            JobEnd::Lost => {
                self.desk.post("its browser is gone");
                Ok(())
            }
        }
    }

    fn generation(&self) -> Generation {
        let landing = self.world.books.tabs.get(&self.id).map_or(0, |note| note.landings);
        Generation { incarnation: self.desk.incarnation, landing }
    }

    fn idle(&self) -> String {
        let note = self.world.books.tabs.get(&self.id);
        let (url, dialog) = note.map(|note| (note.url.clone(), note.dialog.clone())).unzip();
        let dialog = dialog.flatten().map(|dialog| format!(", {} open", dialog.kind));
        format!("idle at {}{}", url.unwrap_or_default(), dialog.unwrap_or_default())
    }
}

/// Answers an ask whose work was not begun.
fn refuse(work: TabMsg, error: TabError) {
    match work {
        TabMsg::Navigate { reply, .. } => drop(reply.send(Err(error))),
        TabMsg::Observe { reply, .. } => drop(reply.send(Err(error))),
        TabMsg::Act { reply, .. } => drop(reply.send(Err(error))),
        TabMsg::Evaluate { reply, .. } | TabMsg::Get { reply, .. } => {
            drop(reply.send(Err(error)));
        }
        TabMsg::Picture { reply, .. } => drop(reply.send(Err(error))),
        TabMsg::Wait { reply, .. } => drop(reply.send(Err(error))),
        TabMsg::Console { .. }
        | TabMsg::AnswerDialog { .. }
        | TabMsg::Describe { .. }
        | TabMsg::PageSaid(_)
        | TabMsg::JobEnded(_) => {}
    }
}

/// Puts in what the tab knows and the page's error does not.
fn with_words(world: &World, id: TabId, error: TabError, dispatched: bool) -> TabError {
    let note = world.books.tabs.get(&id).map(|note| note.clone());
    match (error, note) {
        (TabError::TabRestarted { .. }, Some(note)) => {
            let form = if note.from_form { "; the page's form was not sent again" } else { "" };
            TabError::TabRestarted { url: note.url, note: form.into(), dispatched }
        }
        (TabError::DialogOpen { .. }, Some(note)) if note.dialog.is_some() => {
            let Dialog { kind, message } = note.dialog.unwrap_or_default();
            TabError::DialogOpen { kind, message }
        }
        (TabError::BrowserLost { .. }, _) => TabError::BrowserLost { dispatched },
        // The page took the input, and then fell silent.
        (TabError::TimedOut { what, .. }, _) if dispatched => TabError::InDoubt { what },
        (TabError::TargetGone, _) if dispatched => TabError::InDoubt { what: "the command".into() },
        (error, _) => error,
    }
}

/// Notes where the page is, as far as the browser process knows; needs no answer of the page.
async fn note_place(world: &World, id: TabId, page: &dyn Page) {
    if let Ok(place) = page.location().await {
        world.books.note_tab(id, |note| {
            note.title = place.title;
            // An error page has no address of its own to go back to.
            if !place.url.starts_with("chrome-error:") && !place.url.is_empty() {
                note.url = place.url;
            }
        });
    }
}
