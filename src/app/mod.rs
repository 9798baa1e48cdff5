//! The composition root: puts the house together, and carries out the verbs of the control protocol.

pub mod browsing;
pub mod compose;
pub mod deciding;
pub mod demo;
pub mod lines;
pub mod models;
pub mod reading;
pub mod rows;
pub mod running;
pub mod seeing;
pub mod sessions;
pub mod told;
pub mod watching;

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use ractor::ActorRef;
use tokio::sync::Mutex;

use crate::actors::world::World;
use crate::config::home::Home;
use crate::config::{Config, Settings};
use crate::control::answer::{Answer, Failure};
use crate::control::handler::{Handler, Progress};
use crate::control::protocol::Request;
use crate::control::verbs::Verb;
use crate::domain::ids::SessionName;
use crate::messages::supervisor::SupervisorMsg;
use crate::supervision::tree::Tree;

/// The running house.
pub struct App {
    home: Home,
    world: World,
    tree: Arc<Tree>,
    root: ActorRef<SupervisorMsg>,
    /// Sessions and runs are taken on one at a time: two callers may want the same.
    admission: Mutex<()>,
    notices: std::sync::Mutex<Notices>,
}

/// What is said once, with the next answer: such as a damaged store.
#[derive(Default)]
struct Notices {
    due: Vec<String>,
    /// Everything that was ever due.
    said: HashSet<String>,
}

/// One command under way: whose it is, and what it may use.
pub struct Call<'a> {
    app: &'a App,
    request: &'a Request,
    config: Config,
    progress: &'a Progress,
}

#[async_trait]
impl Handler for App {
    async fn handle(&self, request: Request, progress: Progress) -> Answer {
        let flags = request.globals.settings();
        let settings = Settings::load(&self.home, &request.context.environment, &flags);
        let mut answer = match settings {
            Ok(Settings { config, .. }) => {
                let call = Call { app: self, request: &request, config, progress: &progress };
                call.carry_out().await.unwrap_or_else(|answer| *answer)
            }
            Err(error) => Answer::failed(2, Failure::new("config", error.to_string())),
        };
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        answer.warnings.append(&mut notices.due);
        answer
    }

    fn busy(&self) -> Option<String> {
        let mut runs: Vec<_> = self.world.books.runs.iter().map(|note| *note.key()).collect();
        runs.sort();
        runs.first().map(|run| format!("run {run}"))
    }

    async fn shut_down(&self) {
        self.stop_runs().await;
        // The root stops its children last first; browsers end in good order.
        if let Err(error) = self.root.stop_and_wait(None, Some(Duration::from_secs(60))).await {
            tracing::warn!(%error, "the tree did not stop in time");
        }
    }
}

impl App {
    /// Says something with the next answer, and never again.
    fn say_once(&self, notice: &str) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if notices.said.insert(notice.to_owned()) {
            notices.due.push(notice.to_owned());
        }
    }
}

/// The way out of a verb that cannot go on: the answer that says why.
type Told<T> = Result<T, Box<Answer>>;

impl Call<'_> {
    async fn carry_out(&self) -> Told<Answer> {
        match &self.request.verb {
            Verb::Run { task, url } => self.run(task, url.as_deref()).await,
            Verb::Runs {} => self.runs().await,
            Verb::Logs { id } => self.logs(*id).await,
            Verb::Stop { id } => self.stop(*id).await,
            Verb::Approve { id } => self.approve(*id).await,
            Verb::Deny { id } => self.deny(*id).await,
            Verb::Reply { id, text } => self.reply(*id, text).await,
            Verb::Demo {} => self.demo().await,
            Verb::Open { url } => self.open(url).await,
            Verb::Observe { url } => self.observe(url.as_deref()).await,
            Verb::Snapshot { interactive, viewport, depth } => {
                self.snapshot(*interactive, *viewport, *depth).await
            }
            Verb::Screenshot { target, full_page, marks, output } => {
                self.screenshot(target.as_deref(), (*full_page, *marks), output.as_deref()).await
            }
            Verb::Find { words } => self.find(words).await,
            Verb::Extract { query, max_chars } => self.extract(query, *max_chars).await,
            Verb::Read {} => self.read().await,
            Verb::Tab { action } => self.tab(action).await,
            Verb::Click { target, within } => self.click(target, within.as_deref()).await,
            Verb::Fill { target, text, press_enter, within } => {
                self.fill((target, within.as_deref()), text, *press_enter).await
            }
            Verb::Press { chord } => self.press(chord).await,
            Verb::Eval { script } => self.eval(script).await,
            Verb::Get { what, target, name } => {
                self.get(*what, target.as_deref(), name.as_deref()).await
            }
            Verb::Wait { target, gone, text, url_has } => {
                let words = (text.as_deref(), url_has.as_deref());
                self.wait(target.as_deref(), *gone, words).await
            }
            Verb::Dialog { action } => self.dialog(action).await,
            Verb::Close { all } => self.close(*all).await,
            Verb::Attach { run } => self.attach(*run).await,
            Verb::Doctor { .. } | Verb::Config { .. } | Verb::Daemon {} => {
                let why = "this verb runs without the daemon";
                Err(Box::new(Answer::failed(2, Failure::new("usage", why))))
            }
        }
    }

    fn session_name(&self) -> SessionName {
        self.request.globals.session()
    }

    /// Returns how long an action may take: `--timeout`, else the setting.
    fn action_time(&self) -> Duration {
        self.request.globals.timeout.unwrap_or(self.config.limits.action).0
    }

    /// Returns how long a navigation may take: `--timeout`, else the setting.
    fn navigation_time(&self) -> Duration {
        self.request.globals.timeout.unwrap_or(self.config.limits.navigation).0
    }
}
