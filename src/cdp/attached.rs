//! One page target that we are attached to: its session, how it stands, who listens.
//!
//! It lives as long as the target, so that a page that is opened again finds its dialog, its
//! document and its contexts as they are.
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chromiumoxide_types::Command;
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::cdp::calls::SessionKey;
use crate::cdp::connection::Connection;
use crate::cdp::console::Console;
use crate::cdp::errors::{CallError, FAILED, page_error};
use crate::cdp::requests::Requests;
use crate::cdp::standing::{Life, Standing};
use crate::ports::Sink;
use crate::ports::page::{PageError, PageEvent, TargetKey};

/// The events that explain an error of the browser come before it or after, late on a busy
/// computer.
const EXPLANATION: Duration = Duration::from_secs(1);

/// A page target and its session.
pub(super) struct Attached {
    pub connection: Arc<Connection>,
    pub target: TargetKey,
    pub session: SessionKey,
    /// What every isolated world is equipped with.
    pub library: &'static str,
    pub standing: watch::Sender<Standing>,
    pub requests: Mutex<Requests>,
    pub console: Mutex<Console>,
    /// The URL of the window that the page opens now; its target is created without one.
    pub opening: Mutex<Option<String>>,
    lease: Mutex<Lease>,
}

/// Who hears of the page: whoever opened it last.
#[derive(Default)]
struct Lease {
    number: u64,
    sink: Option<Sink<PageEvent>>,
}

/// A moment until which something is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    pub at: Instant,
    patience: Duration,
}

impl Deadline {
    pub fn after(patience: Duration) -> Self {
        Self { at: Instant::now() + patience, patience }
    }

    pub fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    pub fn error(&self, what: &'static str) -> PageError {
        PageError::TimedOut { what, patience: self.patience }
    }
}

impl Attached {
    pub fn new(
        connection: Arc<Connection>,
        target: TargetKey,
        session: SessionKey,
        library: &'static str,
    ) -> Self {
        // A page target bears the name of its main frame.
        let mut standing = Standing::default();
        target.0.clone_into(&mut standing.frame);
        Self {
            connection,
            target,
            session,
            library,
            standing: watch::Sender::new(standing),
            requests: Mutex::default(),
            console: Mutex::default(),
            opening: Mutex::default(),
            lease: Mutex::default(),
        }
    }

    /// Makes `sink` the one that hears of the page, and returns the lease's number.
    pub fn lease(&self, sink: Sink<PageEvent>) -> u64 {
        let number = {
            let mut lease = self.lease.lock().unwrap_or_else(PoisonError::into_inner);
            *lease = Lease { number: lease.number + 1, sink: Some(Arc::clone(&sink)) };
            lease.number
        };
        let dialog = self.standing.borrow().dialog.clone();
        if let Some(dialog) = dialog {
            sink(PageEvent::DialogOpened(dialog));
        }
        number
    }

    /// Ends a lease, unless a newer one took its place.
    pub fn release(&self, number: u64) {
        let mut lease = self.lease.lock().unwrap_or_else(PoisonError::into_inner);
        if lease.number == number {
            lease.sink = None;
        }
    }

    pub fn tell(&self, event: PageEvent) {
        let sink = self.lease.lock().unwrap_or_else(PoisonError::into_inner).sink.clone();
        if let Some(sink) = sink {
            sink(event);
        }
    }

    pub fn life(&self) -> Life {
        self.standing.borrow().life
    }

    pub fn number(&self) -> u64 {
        self.standing.borrow().number
    }

    /// Asks the session, whether or not the page can run scripts now.
    pub async fn ask<R: DeserializeOwned>(
        &self,
        command: impl Command,
        what: &'static str,
        patience: Duration,
    ) -> Result<R, PageError> {
        let answer = self.connection.ask(Some(&self.session), command, patience).await;
        answer.map_err(|error| page_error(error, what, patience))
    }

    /// Asks what only a page without an open dialog answers.
    pub async fn ask_page<R: DeserializeOwned>(
        &self,
        command: impl Command,
        patience: Duration,
    ) -> Result<R, Interrupted> {
        if self.standing.borrow().dialog.is_some() {
            return Err(Interrupted::Dialog);
        }
        tokio::select! {
            biased;
            answer = self.connection.ask(Some(&self.session), command, patience) => {
                answer.map_err(Interrupted::Call)
            }
            () = self.dialog() => Err(Interrupted::Dialog),
        }
    }

    /// Waits until a dialog is open.
    pub async fn dialog(&self) {
        let mut changes = self.standing.subscribe();
        // The sender lives in `self`: this waits for as long as it has to.
        let _ = changes.wait_for(|page| page.dialog.is_some()).await;
    }

    /// Says what an interruption of a script means, with what became of the page meanwhile.
    pub async fn explain(
        &self,
        interrupted: Interrupted,
        since: u64,
        (what, patience): (&'static str, Duration),
    ) -> PageError {
        let error = match interrupted {
            Interrupted::Dialog => return PageError::DialogOpen,
            Interrupted::Call(error) => error,
        };
        if !matches!(error, CallError::Protocol { code: FAILED, .. }) {
            return page_error(error, what, patience);
        }
        let mut changes = self.standing.subscribe();
        let replaced = changes.wait_for(|page| page.number != since);
        match tokio::time::timeout(EXPLANATION, replaced).await {
            Ok(Ok(page)) => page.life.check().err().unwrap_or(PageError::Navigated { what }),
            _ => page_error(error, what, patience),
        }
    }
}

/// Why a script has no answer.
#[derive(Debug)]
pub(super) enum Interrupted {
    Dialog,
    Call(CallError),
}
