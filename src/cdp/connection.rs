//! One connection to a browser: typed calls out, answers and events in.
//!
//! Every call has a deadline. When a session crashes or detaches, or the wire closes, each call
//! that waits on it is answered at once. Events are handled on the reading task in the order in
//! which the browser sent them, and before any answer that came after them.
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use chromiumoxide_cdp::cdp::browser_protocol::inspector;
use chromiumoxide_cdp::cdp::browser_protocol::target;
use chromiumoxide_types::Command;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::cdp::calls::{Answer, Calls, Ear, Heard, Listeners, Need, SessionKey};
use crate::cdp::errors::CallError;
use crate::cdp::wire::{Incoming, Outgoing, Wire};

/// Messages that may wait for the wire. A browser that takes none for so long does not run.
const QUEUE: usize = 4096;

/// A connection. Dropping the last reference closes it and ends its two tasks.
pub(super) struct Connection {
    shared: Arc<Shared>,
    outgoing: mpsc::Sender<String>,
    tasks: [AbortHandle; 2],
}

struct Shared {
    calls: Mutex<Calls>,
    root: Weak<dyn Ear>,
    complained: AtomicBool,
}

impl Connection {
    /// Starts to read and write. `root` hears what belongs to no session, and the end.
    pub fn start(wire: Wire, root: Weak<dyn Ear>) -> Arc<Self> {
        let shared =
            Arc::new(Shared { calls: Mutex::default(), root, complained: AtomicBool::new(false) });
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let reader = tokio::spawn(read(Arc::clone(&shared), wire.incoming));
        let writer = tokio::spawn(write(Arc::clone(&shared), wire.outgoing, queue));
        let tasks = [reader.abort_handle(), writer.abort_handle()];
        Arc::new(Self { shared, outgoing, tasks })
    }

    /// Sends a command and waits for its typed answer. Dropping the future forgets the call.
    pub async fn call<C: Command>(
        &self,
        session: Option<&SessionKey>,
        command: C,
        patience: Duration,
    ) -> Result<C::Response, CallError> {
        self.ask(session, command, patience).await
    }

    /// Like [`Self::call`], with an answer of which only some fields are read.
    pub async fn ask<R: DeserializeOwned>(
        &self,
        session: Option<&SessionKey>,
        command: impl Command,
        patience: Duration,
    ) -> Result<R, CallError> {
        read_answer(&self.raw(session, &command, Need::Live, patience).await?)
    }

    /// Sends the navigation that gives a crashed page a new process.
    pub async fn revive<C: Command>(
        &self,
        session: &SessionKey,
        command: C,
        patience: Duration,
    ) -> Result<C::Response, CallError> {
        let answer = self.raw(Some(session), &command, Need::Revives, patience).await?;
        let revived = self.shared.lock().revive(session);
        tell(revived, Heard::Revived);
        read_answer(&answer)
    }

    async fn raw<C: Command>(
        &self,
        session: Option<&SessionKey>,
        command: &C,
        need: Need,
        patience: Duration,
    ) -> Answer {
        let (id, answer) = self.shared.lock().begin(session, need)?;
        let _forgets = Forgets { shared: &self.shared, id };
        let message = message(id, session, command)?;
        let sent_and_answered = async {
            self.outgoing.send(message).await.map_err(|_| CallError::Closed)?;
            answer.await.unwrap_or(Err(CallError::Closed))
        };
        tokio::time::timeout(patience, sent_and_answered).await.unwrap_or(Err(CallError::TimedOut))
    }

    /// Sends a command whose answer nobody waits for. Never blocks.
    pub fn post(&self, session: Option<&SessionKey>, command: impl Command) {
        let id = self.shared.lock().next_id();
        let Ok(message) = message(id, session, &command) else { return };
        if self.outgoing.try_send(message).is_err() {
            tracing::debug!(method = %command.identifier(), "the browser takes no messages");
        }
    }

    pub fn key(&self, session: &str) -> Option<SessionKey> {
        self.shared.lock().key(session)
    }

    /// Sets who follows `session`; returns whether it stands crashed, or `None` when it is gone.
    pub fn follow(&self, session: &str, ear: Weak<dyn Ear>) -> Option<bool> {
        self.shared.lock().follow(session, ear)
    }

    /// Ends it now: all that waits is answered.
    pub fn close(&self, why: &str) {
        self.shared.close(why);
        for task in &self.tasks {
            task.abort();
        }
    }

    #[cfg(test)]
    pub fn sizes(&self) -> (usize, usize) {
        self.shared.lock().sizes()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close("the connection was let go");
    }
}

#[derive(Serialize)]
struct Outbound<'a, P> {
    id: u64,
    method: &'a str,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    params: &'a P,
}

fn message<C: Command>(
    id: u64,
    session: Option<&SessionKey>,
    command: &C,
) -> Result<String, CallError> {
    let method = command.identifier();
    let outbound =
        Outbound { id, method: &method, session: session.map(AsRef::as_ref), params: command };
    serde_json::to_string(&outbound).map_err(|error| CallError::Unreadable(error.to_string()))
}

fn read_answer<R: DeserializeOwned>(raw: &RawValue) -> Result<R, CallError> {
    serde_json::from_str(raw.get()).map_err(|error| CallError::Unreadable(error.to_string()))
}

/// Takes a call out of the book however its future ends.
struct Forgets<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for Forgets<'_> {
    fn drop(&mut self) {
        self.shared.lock().forget(self.id);
    }
}

/// What comes in: an answer has an id, an event a method.
#[derive(Deserialize)]
struct Inbound<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<chromiumoxide_types::Error>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, message: &[u8]) {
        let inbound: Inbound<'_> = match serde_json::from_slice(message) {
            Ok(inbound) => inbound,
            Err(error) => return self.complain(&error),
        };
        match inbound {
            Inbound { id: Some(id), error: Some(error), .. } => {
                let (code, message) = (error.code, error.message);
                self.lock().answer(id, Err(CallError::Protocol { code, message }));
            }
            Inbound { id: Some(id), result, .. } => {
                let result = result.map(ToOwned::to_owned);
                let answer = result.ok_or_else(|| CallError::Unreadable("it is empty".into()));
                self.lock().answer(id, answer);
            }
            Inbound { id: None, method: Some(method), session, params, .. } => {
                let params = params.map_or("{}", RawValue::get);
                self.happened(session.as_deref(), &method, params);
            }
            Inbound { .. } => {}
        }
    }

    /// Books what an event means for calls and sessions, then lets it be heard.
    fn happened(&self, session: Option<&str>, method: &str, params: &str) {
        match method {
            target::EventAttachedToTarget::IDENTIFIER => {
                if let Ok(Attached { session_id, target_info }) = serde_json::from_str(params) {
                    self.lock().attached(&session_id, &target_info.target_id, session);
                }
            }
            target::EventDetachedFromTarget::IDENTIFIER => {
                if let Ok(OfSession { session_id }) = serde_json::from_str(params) {
                    let gone = self.lock().detach(&session_id);
                    tell(gone, Heard::Detached);
                }
            }
            inspector::EventTargetCrashed::IDENTIFIER => {
                self.each(session, |calls, key| calls.crash(key), Heard::Crashed);
            }
            inspector::EventTargetReloadedAfterCrash::IDENTIFIER => {
                self.each(session, |calls, key| calls.revive(key), Heard::Revived);
            }
            target::EventTargetCrashed::IDENTIFIER => {
                let on = self.on_target(params);
                self.each(
                    on.iter().map(AsRef::as_ref),
                    |calls, key| calls.crash(key),
                    Heard::Crashed,
                );
            }
            target::EventTargetDestroyed::IDENTIFIER => {
                let on = self.on_target(params);
                self.each(
                    on.iter().map(AsRef::as_ref),
                    |calls, key| calls.detach(key),
                    Heard::Detached,
                );
            }
            _ => {}
        }
        let ear = match session {
            None => self.root.upgrade(),
            Some(session) => self.lock().ear(session),
        };
        if let Some(ear) = ear {
            ear.hear(Heard::Event { session, method, params });
        }
    }

    fn on_target(&self, params: &str) -> Vec<SessionKey> {
        let of: Result<OfTarget<'_>, _> = serde_json::from_str(params);
        of.map(|of| self.lock().on_target(&of.target_id)).unwrap_or_default()
    }

    fn each<'a>(
        &self,
        sessions: impl IntoIterator<Item = &'a str>,
        book: impl Fn(&mut Calls, &str) -> Listeners,
        heard: Heard<'_>,
    ) {
        for session in sessions {
            let told = book(&mut self.lock(), session);
            tell(told, heard);
        }
    }

    fn complain(&self, error: &serde_json::Error) {
        if !self.complained.swap(true, Ordering::Relaxed) {
            tracing::warn!(%error, "a message of the browser is not readable; ignored, said once");
        }
    }

    fn close(&self, why: &str) {
        let (was_open, told) = {
            let mut calls = self.lock();
            (!calls.is_closed(), calls.close())
        };
        tell(told, Heard::Closed { why });
        if let Some(root) = self.root.upgrade().filter(|_| was_open) {
            root.hear(Heard::Closed { why });
        }
    }
}

#[derive(Deserialize)]
struct Attached<'a> {
    #[serde(borrow, rename = "sessionId")]
    session_id: Cow<'a, str>,
    #[serde(borrow, rename = "targetInfo")]
    target_info: OfTarget<'a>,
}

#[derive(Deserialize)]
struct OfSession<'a> {
    #[serde(borrow, rename = "sessionId")]
    session_id: Cow<'a, str>,
}

#[derive(Deserialize)]
struct OfTarget<'a> {
    #[serde(borrow, rename = "targetId")]
    target_id: Cow<'a, str>,
}

fn tell(listeners: Listeners, heard: Heard<'_>) {
    for ear in listeners {
        ear.hear(heard);
    }
}

async fn read(shared: Arc<Shared>, mut incoming: Box<dyn Incoming>) {
    let why = loop {
        match incoming.next().await {
            Ok(Some(message)) => shared.take(&message),
            Ok(None) => break "the browser closed the connection".to_owned(),
            Err(error) => break format!("the connection broke: {error}"),
        }
    };
    shared.close(&why);
}

async fn write(
    shared: Arc<Shared>,
    mut outgoing: Box<dyn Outgoing>,
    mut queue: mpsc::Receiver<String>,
) {
    while let Some(message) = queue.recv().await {
        if let Err(error) = outgoing.send(message).await {
            return shared.close(&format!("the connection broke: {error}"));
        }
    }
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
