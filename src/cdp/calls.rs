//! The book of a connection: which calls wait, and how each CDP session stands. No I/O.
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::cdp::errors::CallError;

/// A CDP session's name.
pub(super) type SessionKey = Arc<str>;

/// What a connection tells whoever follows a session. Called on the reading task: never blocks.
pub(super) trait Ear: Send + Sync + 'static {
    fn hear(&self, heard: Heard<'_>);
}

/// Something that happened on a session.
#[derive(Debug, Clone, Copy)]
pub(super) enum Heard<'a> {
    /// An event of the protocol; `session` is a child of the session that is followed, or itself.
    Event { session: Option<&'a str>, method: &'a str, params: &'a str },
    /// The renderer died.
    Crashed,
    /// The renderer runs again.
    Revived,
    /// The session is gone.
    Detached,
    /// The whole connection is gone.
    Closed { why: &'a str },
}

/// May a call go to a crashed session?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Only a live session can answer.
    Live,
    /// The navigation that gives a crashed page a new process.
    Revives,
}

/// A call's answer: the raw `result`.
pub(super) type Answer = Result<Box<RawValue>, CallError>;

struct Pending {
    session: Option<SessionKey>,
    reply: oneshot::Sender<Answer>,
}

struct Session {
    target: Box<str>,
    parent: Option<SessionKey>,
    crashed: bool,
    /// What follows it; children without one of their own are heard by their parent's.
    ear: Option<Weak<dyn Ear>>,
}

/// The whole book.
#[derive(Default)]
pub(super) struct Calls {
    last: u64,
    pending: HashMap<u64, Pending>,
    sessions: HashMap<SessionKey, Session>,
    closed: bool,
}

/// Who has to be told, once the book is no longer locked.
pub(super) type Listeners = Vec<Arc<dyn Ear>>;

impl Calls {
    /// Notes a call and returns its id, or refuses at once.
    pub fn begin(
        &mut self,
        session: Option<&SessionKey>,
        need: Need,
    ) -> Result<(u64, oneshot::Receiver<Answer>), CallError> {
        if self.closed {
            return Err(CallError::Closed);
        }
        if let Some(key) = session {
            match self.sessions.get(key) {
                None => return Err(CallError::Detached),
                Some(standing) if standing.crashed && need == Need::Live => {
                    return Err(CallError::Crashed);
                }
                Some(_) => {}
            }
        }
        let id = self.next_id();
        let (reply, answer) = oneshot::channel();
        self.pending.insert(id, Pending { session: session.cloned(), reply });
        Ok((id, answer))
    }

    /// Returns an id for a call whose answer nobody wants.
    pub fn next_id(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub fn forget(&mut self, id: u64) {
        self.pending.remove(&id);
    }

    /// Gives a call its answer; one that nobody waits for any more is dropped.
    pub fn answer(&mut self, id: u64, answer: Answer) {
        if let Some(pending) = self.pending.remove(&id) {
            let _ = pending.reply.send(answer);
        }
    }

    pub fn attached(&mut self, session: &str, target: &str, parent: Option<&str>) {
        let parent = parent.and_then(|parent| self.key(parent));
        let session: SessionKey = session.into();
        let fresh = Session { target: target.into(), parent, crashed: false, ear: None };
        self.sessions.entry(session).or_insert(fresh);
    }

    /// Sets who follows `session`; returns whether it stands crashed, or `None` when it is gone.
    pub fn follow(&mut self, session: &str, ear: Weak<dyn Ear>) -> Option<bool> {
        let session = self.sessions.get_mut(session)?;
        session.ear = Some(ear);
        Some(session.crashed)
    }

    pub fn key(&self, session: &str) -> Option<SessionKey> {
        self.sessions.get_key_value(session).map(|(key, _)| Arc::clone(key))
    }

    /// Returns who hears the events of `session`: its own ear, else that of the nearest ancestor.
    pub fn ear(&self, session: &str) -> Option<Arc<dyn Ear>> {
        let mut at = self.sessions.get(session)?;
        loop {
            if let Some(ear) = &at.ear {
                return ear.upgrade();
            }
            at = self.sessions.get(at.parent.as_deref()?)?;
        }
    }

    /// The process of `session` died: all that waits is answered, and it refuses from now on.
    pub fn crash(&mut self, session: &str) -> Listeners {
        self.stand(session, true)
    }

    pub fn revive(&mut self, session: &str) -> Listeners {
        self.stand(session, false)
    }

    fn stand(&mut self, key: &str, crashed: bool) -> Listeners {
        let Some(session) = self.sessions.get_mut(key) else { return Vec::new() };
        if session.crashed == crashed {
            return Vec::new();
        }
        session.crashed = crashed;
        let own = session.ear.as_ref().and_then(Weak::upgrade);
        if crashed {
            self.fail(CallError::Crashed, |pending| pending.session.as_deref() == Some(key));
        }
        own.into_iter().collect()
    }

    /// Returns the sessions on `target`.
    pub fn on_target(&self, target: &str) -> Vec<SessionKey> {
        let on = self.sessions.iter().filter(|(_, session)| &*session.target == target);
        on.map(|(key, _)| Arc::clone(key)).collect()
    }

    /// `session` and everything below it is gone.
    pub fn detach(&mut self, session: &str) -> Listeners {
        let Some(key) = self.key(session) else { return Vec::new() };
        let (mut gone, mut told) = (vec![key], Vec::new());
        while let Some(key) = gone.pop() {
            let below = self.sessions.iter().filter(|(_, at)| at.parent.as_ref() == Some(&key));
            gone.extend(below.map(|(child, _)| Arc::clone(child)));
            self.fail(CallError::Detached, |pending| pending.session.as_ref() == Some(&key));
            let session = self.sessions.remove(&key);
            told.extend(session.and_then(|session| session.ear?.upgrade()));
        }
        told
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The connection is gone; nothing is taken any more. Tells nobody the second time.
    pub fn close(&mut self) -> Listeners {
        if std::mem::replace(&mut self.closed, true) {
            return Vec::new();
        }
        self.fail(CallError::Closed, |_| true);
        self.sessions.drain().filter_map(|(_, session)| session.ear?.upgrade()).collect()
    }

    fn fail(&mut self, error: CallError, which: impl Fn(&Pending) -> bool) {
        for (_, pending) in self.pending.extract_if(|_, pending| which(pending)) {
            let _ = pending.reply.send(Err(error.clone()));
        }
    }

    #[cfg(test)]
    pub fn sizes(&self) -> (usize, usize) {
        (self.pending.len(), self.sessions.len())
    }
}
