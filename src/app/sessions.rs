//! Sessions and tabs for verbs: found, or taken on.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::app::told::{not_answered, session_failed, tab_failed, trouble, usage};
use crate::app::{Call, Told};
use crate::cdp::find;
use crate::config::values::Headless;
use crate::control::answer::Answer;
use crate::domain::ids::{SessionName, TabId};
use crate::messages::Reply;
use crate::messages::address::{Address, AskError};
use crate::messages::books::SessionNote;
use crate::messages::session::{Owner, SessionError, SessionMsg};
use crate::messages::supervisor::{Seat, SeatError, SupervisorMsg};
use crate::messages::tab::{TabError, TabMsg};
use crate::perception::scripts::LIBRARY;
use crate::ports::browser::{LaunchSpec, ProfileMode};

/// A browser may have to start first.
pub const STARTING: Duration = Duration::from_secs(40);
/// Beyond the tab's own patience, which gives the better answer.
const GRACE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);
const NO_DISPLAY: &str = "there is no display, so the browser works without a window (--headless \
                          says so from the start)";

impl Call<'_> {
    /// Returns the session that the command works in; takes it on when it is not there.
    pub async fn session(&self) -> Told<Address<SessionMsg>> {
        let name = self.session_name();
        self.session_named(&name, self.launch_spec(&name)?).await
    }

    pub async fn session_named(
        &self,
        name: &SessionName,
        spec: LaunchSpec,
    ) -> Told<Address<SessionMsg>> {
        let _one_at_a_time = self.app.admission.lock().await;
        let books = &self.app.world.books;
        if let Some(address) = self.app.world.doors.sessions.find(name) {
            // One that never ran is free to be started as this command wants it.
            let failed = books.sessions.get_mut(name).filter(|note| note.failed);
            if let Some(mut note) = failed {
                note.spec = spec;
            } else {
                self.must_fit(name, &spec)?;
            }
            return Ok(address);
        }
        if spec.headless && self.config.browser.headless == Headless::Auto {
            self.app.say_once(NO_DISPLAY);
        }
        books.sessions.insert(name.clone(), SessionNote { spec, failed: false, current: None });
        let sessions = self.app.world.doors.supervisors.find(&Seat::Sessions);
        let Some(sessions) = sessions else {
            return trouble("daemon", "the daemon is ending; try again");
        };
        let seat = Seat::SessionGroup(name.clone());
        let add = |reply| SupervisorMsg::Add { seat, reply };
        match sessions.ask(add, STARTING).await {
            Ok(Ok(()) | Err(SeatError::Taken)) => {}
            Ok(Err(error)) => return trouble("daemon", error.to_string()),
            Err(error) => return Err(not_answered("the sessions' supervisor", error)),
        }
        match self.app.world.doors.sessions.find(name) {
            Some(address) => Ok(address),
            None => trouble("daemon", format!("the session {name} could not be taken on")),
        }
    }

    /// What a flag asks for must be what the running session is.
    fn must_fit(&self, name: &SessionName, wanted: &LaunchSpec) -> Told<()> {
        let Some(has) = self.app.world.books.sessions.get(name).map(|note| note.spec.clone())
        else {
            return Ok(());
        };
        let globals = &self.request.globals;
        let differs = (globals.profile.is_some() && has.profile != wanted.profile)
            || (globals.cdp.is_some() && has.endpoint != wanted.endpoint)
            || ((globals.headed || globals.headless) && has.headless != wanted.headless);
        if differs {
            let how = "--profile, --cdp, --headed and --headless count when a session starts";
            return usage(format!(
                "the session {name} runs already, and otherwise ({how}); `strawmanus close` it \
                 first, or use another --session"
            ));
        }
        Ok(())
    }

    pub fn launch_spec(&self, name: &SessionName) -> Told<LaunchSpec> {
        let (browser, globals) = (&self.config.browser, &self.request.globals);
        let endpoint = globals.cdp.clone();
        let profile = if endpoint.is_some() { ProfileMode::Attach } else { browser.profile };
        let environment = &self.request.context.environment;
        let executable = if profile == ProfileMode::Attach {
            None
        } else {
            let found = find::locate(browser.program().as_deref(), &environment.search_path());
            Some(found.or_else(|error| trouble("browser", error.to_string()))?)
        };
        let display = self.request.context.environment.has_display();
        let folder = self.app.home.below(&self.config.folders.profiles).join(name.as_str());
        let size = browser.viewport;
        let mut arguments = vec![format!("--window-size={},{}", size.width, size.height)];
        arguments.extend(browser.arguments.iter().cloned());
        Ok(LaunchSpec {
            session: name.clone(),
            profile,
            headless: browser.headless.applies(display),
            endpoint,
            executable,
            folder,
            arguments,
            screen: environment.screen(),
            library: LIBRARY,
        })
    }

    /// Asks the session, which may have to start its browser first.
    pub async fn ask_session<T: Send + 'static>(
        &self,
        session: &Address<SessionMsg>,
        build: impl FnOnce(Reply<T, SessionError>) -> SessionMsg,
    ) -> Told<T> {
        match session.ask(build, STARTING).await {
            Ok(answer) => answer.map_err(|error| session_failed(&error)),
            Err(error) => Err(not_answered("the session", error)),
        }
    }

    /// Returns the tab that the command acts on: `--tab`, or the session's current one.
    pub async fn tab_id(&self) -> Told<TabId> {
        let session = self.session().await?;
        let Some(tab) = self.request.globals.tab else {
            return self.ask_session(&session, |reply| SessionMsg::CurrentTab { reply }).await;
        };
        let name = self.session_name();
        match self.app.world.books.tabs.get(&tab).map(|note| note.clone()) {
            Some(note) if note.session == name => match note.owner {
                Owner::Shell => Ok(tab),
                Owner::Run(run) => Err(session_failed(&SessionError::Owned(tab, run))),
            },
            _ => Err(session_failed(&SessionError::NoTab(tab))),
        }
    }

    /// Asks a tab. One that is being started again is waited for, as long as nothing was begun.
    pub async fn ask_tab<T: Send + 'static>(
        &self,
        tab: TabId,
        patience: Duration,
        build: impl Fn(Duration, Reply<T, TabError>) -> TabMsg,
    ) -> Told<T> {
        let until = Instant::now() + patience;
        let mut left = patience;
        loop {
            let Some(address) = self.app.world.doors.tabs.find(&tab) else {
                return Err(tab_failed(&TabError::TargetGone));
            };
            let asked = address.ask(|reply| build(left, reply), left + GRACE).await;
            let error = match asked {
                Ok(Ok(answer)) => return Ok(answer),
                // What was given, not what was left of it when the page was asked.
                Ok(Err(TabError::TimedOut { what, .. })) => TabError::TimedOut { what, patience },
                Ok(Err(error)) => error,
                Err(AskError::Died) => {
                    let note = self.app.world.books.tabs.get(&tab).map(|note| note.url.clone());
                    let (url, note) = (note.unwrap_or_default(), String::new());
                    TabError::TabRestarted { url, note, dispatched: true }
                }
                Err(AskError::TimedOut) => {
                    TabError::TimedOut { what: "the command".into(), patience }
                }
                Err(AskError::Stopped) => TabError::TargetGone,
            };
            if error != TabError::NotBegun || Instant::now() >= until {
                return Err(self.refused(&error).await);
            }
            sleep(PAUSE).await;
            left = until.saturating_duration_since(Instant::now());
        }
    }

    pub async fn close(&self, all: bool) -> Told<Answer> {
        let names: Vec<_> = if all {
            self.app.world.books.sessions.iter().map(|note| note.key().clone()).collect()
        } else {
            vec![self.session_name()]
        };
        let mut closed = Vec::new();
        for name in names {
            if self.busy_with(&name) && !all {
                return usage(format!("a run works in the session {name}; stop it first"));
            }
            if self.app.close_session(&name).await.map_err(|e| not_answered("the session", e))? {
                closed.push(name.to_string());
            }
        }
        let text = if closed.is_empty() {
            "no browser was open".to_owned()
        } else {
            format!("closed {}", closed.join(", "))
        };
        Ok(Answer::told(text, serde_json::json!({ "closed": closed })))
    }

    fn busy_with(&self, name: &SessionName) -> bool {
        self.app.world.books.runs.iter().any(|note| note.order.session == *name)
    }
}

impl crate::app::App {
    /// Ends a session in good order. Says whether there was one.
    pub async fn close_session(&self, name: &SessionName) -> Result<bool, AskError> {
        let _one_at_a_time = self.admission.lock().await;
        let Some(sessions) = self.world.doors.supervisors.find(&Seat::Sessions) else {
            return Ok(false);
        };
        let seat = Seat::SessionGroup(name.clone());
        let remove = |reply| SupervisorMsg::Remove { seat, reply };
        let removed = sessions.ask(remove, STARTING).await?;
        for (tab, _) in self.world.books.tabs_of(name) {
            self.world.books.tabs.remove(&tab);
        }
        Ok(removed.is_ok())
    }
}
