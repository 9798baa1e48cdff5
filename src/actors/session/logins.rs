//! The session's own copy of its cookies. Chromium writes its own late (killed a second after a
//! login, it has lost it), so the copy is refreshed after every action, and given back at a start.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::time::timeout;

use crate::actors::world::World;
use crate::domain::ids::SessionName;
use crate::messages::inbox::{Inbox, Job};
use crate::messages::session::SessionMsg;
use crate::ports::browser::{Browser, CookieJar, ProfileMode};
use crate::ports::sealed::Sealed;

/// A page may set a cookie a moment after the action that led to it: the pauses between copies.
const LATER: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];
/// How long a browser may take to give its cookies, or to take them.
const HANDING_OVER: Duration = Duration::from_secs(5);

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Logins {
    sealed: Arc<dyn Sealed>,
    name: String,
    /// A browser that others run keeps its own.
    ours: bool,
    last: Arc<Mutex<Option<CookieJar>>>,
}

impl Logins {
    pub fn new(session: SessionName, world: &World) -> Self {
        let note = world.books.sessions.get(&session);
        let ours = note.is_some_and(|note| note.spec.profile != ProfileMode::Attach);
        let name = format!("cookies-{session}");
        Self { sealed: Arc::clone(&world.sealed), name, ours, last: Arc::default() }
    }

    /// Gives the copy back to a browser that has just started. A copy that cannot be read is as
    /// good as none, and is said.
    pub async fn restore(&self, browser: &dyn Browser) {
        if !self.ours {
            return;
        }
        let jar = match self.sealed.read(&self.name).await {
            Ok(Some(bytes)) => String::from_utf8(bytes).ok().map(CookieJar),
            Ok(None) => None,
            Err(error) => return tracing::warn!(%error, "logins were not restored"),
        };
        let Some(jar) = jar else {
            return;
        };
        match timeout(HANDING_OVER, browser.restore_cookies(&jar)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "logins were not restored"),
            Err(_elapsed) => tracing::warn!("logins were not restored in time"),
        }
    }

    /// Copies the cookies now and a moment later, beside the mailbox. What an earlier call left to
    /// do is done by this one.
    pub fn keep(&self, inbox: &Inbox<SessionMsg>, browser: &Arc<dyn Browser>) -> Option<Job> {
        if !self.ours {
            return None;
        }
        let (logins, browser) = (self.clone(), Arc::clone(browser));
        Some(inbox.job(async move {
            let mut kept = logins.copy(browser.as_ref()).await;
            for later in LATER {
                if kept.is_err() {
                    break;
                }
                tokio::time::sleep(later).await;
                kept = logins.copy(browser.as_ref()).await;
            }
            SessionMsg::LoginsKept(kept)
        }))
    }

    /// The last copy, before the browser is ended in good order.
    pub async fn keep_last(&self, browser: &dyn Browser) {
        if let Err(why) = self.copy(browser).await {
            tracing::warn!(why, "logins were not kept");
        }
    }

    async fn copy(&self, browser: &dyn Browser) -> Result<(), String> {
        if !self.ours {
            return Ok(());
        }
        let jar = timeout(HANDING_OVER, browser.cookies()).await;
        let jar = jar.map_err(|_elapsed| "the browser did not give its cookies in time")?;
        let jar = jar.map_err(|error| error.to_string())?;
        if self.last.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(&jar) {
            return Ok(());
        }
        let written = self.sealed.write(&self.name, jar.0.as_bytes()).await;
        written.map_err(|error| error.to_string())?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(jar);
        Ok(())
    }
}
