//! The daemon's end of the socket: one task a connection, and one for each request, which outlives
//! its connection.
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::net::UnixListener;
use tokio::sync::watch;

use crate::control::answer::{Answer, Failure};
use crate::control::answers::{Answers, Memory, Outcome};
use crate::control::build::Build;
use crate::control::connection::Connection;
use crate::control::handler::{Handler, Progress};
use crate::control::protocol::{Hello, Line, PROTOCOL, Request};
use crate::control::verbs::Verb;
use crate::domain::outcome::OutcomeKind;

/// What bounds a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// It ends after this long without a request or a run.
    pub idle: Duration,
    /// A handler gets this much longer than the request's deadline, to answer in its own words and
    /// to start a browser.
    pub grace: Duration,
    /// How long requests under way and the handler may take to end.
    pub farewell: Duration,
    /// The longest line that is read, in bytes.
    pub line: usize,
    pub memory: Memory,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(60 * 60),
            grace: GRACE,
            farewell: Duration::from_secs(10),
            line: 8 << 20,
            memory: Memory { count: 256, bytes: 16 << 20 },
        }
    }
}

/// See [`Limits::grace`]; callers wait a little longer still.
pub const GRACE: Duration = Duration::from_secs(15);

/// What all connections share.
pub struct Server {
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) limits: Limits,
    pub(crate) build: Build,
    pub(crate) answers: Answers,
    /// How many requests are under way or being answered.
    active: watch::Sender<usize>,
    ending: watch::Sender<bool>,
}

/// Counts something as activity for as long as it lives.
pub(crate) struct Active(Arc<Server>);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.send_modify(|active| *active -= 1);
    }
}

impl Server {
    pub fn new(handler: Arc<dyn Handler>, build: Build, limits: Limits) -> Arc<Self> {
        let answers = Answers::new(limits.memory);
        let (active, ending) = (watch::Sender::new(0), watch::Sender::new(false));
        Arc::new(Self { handler, limits, build, answers, active, ending })
    }

    /// Serves until it has been idle for long, is told to end, or `stop` resolves. Then nothing new
    /// is taken, and the handler is shut down.
    pub async fn serve(self: &Arc<Self>, listener: UnixListener, stop: impl Future<Output = ()>) {
        tokio::pin!(stop);
        let mut ending = self.ending.subscribe();
        let idle = self.idle();
        tokio::pin!(idle);
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        tokio::spawn(Connection::new(Arc::clone(self), stream).serve());
                    }
                    // Out of files, most likely: those who wait are served when some are free.
                    Err(error) => {
                        tracing::warn!(%error, "a connection was not accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
                () = &mut stop => break,
                () = &mut idle => break,
                () = told_to_end(&mut ending) => break,
            }
        }
        self.end();
        drop(listener);
        self.say_farewell().await;
    }

    async fn say_farewell(&self) {
        let shut_down = tokio::time::timeout(self.limits.farewell, self.handler.shut_down());
        if shut_down.await.is_err() {
            tracing::warn!("the handler did not shut down in time");
        }
        let mut active = self.active.subscribe();
        let quiet = active.wait_for(|active| *active == 0);
        let _ = tokio::time::timeout(self.limits.farewell, quiet).await;
    }

    /// Resolves when nothing was under way for the whole idle time.
    async fn idle(&self) {
        let mut active = self.active.subscribe();
        loop {
            if active.wait_for(|active| *active == 0).await.is_err() {
                return;
            }
            let slept = tokio::time::sleep(self.limits.idle);
            tokio::select! {
                () = slept => if self.handler.busy().is_none() {
                    tracing::info!("idle for long enough; ending");
                    return;
                },
                _ = active.changed() => {}
            }
        }
    }

    pub(crate) fn hello(&self) -> Hello {
        Hello {
            protocol: PROTOCOL,
            pid: std::process::id(),
            build: Some(self.build.clone()),
            busy: self.handler.busy(),
        }
    }

    pub(crate) fn is_ending(&self) -> bool {
        *self.ending.borrow()
    }

    pub(crate) fn end(&self) {
        self.ending.send_replace(true);
    }

    pub(crate) fn active(self: &Arc<Self>) -> Active {
        self.active.send_modify(|active| *active += 1);
        Active(Arc::clone(self))
    }

    /// Begins a request in a task of its own, which goes on when the connection breaks. Returns
    /// where its answer appears; an id that is known already is not done again.
    pub(crate) fn begin(self: &Arc<Self>, request: Request, progress: Progress) -> Option<Outcome> {
        let id = request.id.clone();
        let looks = looks_only(&request.verb);
        let Some((told, outcome)) = self.answers.begin(&id) else {
            return self.answers.find(&id);
        };
        let (server, active) = (Arc::clone(self), self.active());
        tokio::spawn(async move {
            let answer = Line::Answer(Box::new(server.perform(request, progress).await));
            let line: Arc<str> = serde_json::to_string(&answer).unwrap_or_default().into();
            let size = line.len();
            told.send_replace(Some(line));
            if looks {
                server.answers.forget(&id);
            } else {
                server.answers.end(&id, size);
            }
            drop(active);
        });
        Some(outcome)
    }

    async fn perform(&self, request: Request, progress: Progress) -> Answer {
        let (name, id) = (request.verb.name(), request.id.clone());
        if request.verb.is_local() {
            let failure = Failure::new("usage", format!("`{name}` is carried out by the caller"));
            return Answer::failed(2, failure);
        }
        let looks = looks_only(&request.verb);
        if !looks {
            tracing::info!(%id, verb = name, "begun");
        }
        let ends_all = matches!(request.verb, Verb::Close { all: true });
        let deadline = request.deadline;
        let work = AssertUnwindSafe(self.handler.handle(request, progress)).catch_unwind();
        let done = match deadline {
            Some(deadline) => tokio::time::timeout(deadline.0 + self.limits.grace, work).await,
            None => Ok(work.await),
        };
        let answer = match done {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Answer::failed(4, internal(&name)),
            Err(_) => timed_out(&name),
        };
        if !looks {
            tracing::info!(%id, verb = name, exit = answer.exit, "answered");
        }
        if ends_all && answer.exit == 0 {
            self.end();
        }
        answer
    }
}

/// A view looks four times a second: that would fill the log, and push answers out of the memory that
/// somebody may still ask for.
fn looks_only(verb: &Verb) -> bool {
    matches!(verb, Verb::Attach { .. })
}

async fn told_to_end(ending: &mut watch::Receiver<bool>) {
    let _ = ending.wait_for(|ending| *ending).await;
}

fn internal(name: &str) -> Failure {
    Failure::new("internal", format!("`{name}` failed inside the daemon"))
        .hint("see daemon.log in the home folder")
}

fn timed_out(name: &str) -> Answer {
    Answer::acted(OutcomeKind::TimedOut, format!("`{name}` took longer than its deadline"))
        .with_hint("look at the page before you repeat it, or give it more with --timeout")
}
