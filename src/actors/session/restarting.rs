//! A restart that is asked for. The supervisor stops this incarnation in good order, as at a clean
//! end, and with it the tabs; the next one finds what is left to do in the books.

use crate::actors::session::SessionState;
use crate::actors::settle::settle;
use crate::actors::world::World;
use crate::domain::ids::SessionName;
use crate::messages::Reply;
use crate::messages::session::{Restarting, SessionError, SessionMsg};
use crate::messages::supervisor::{Seat, SupervisorMsg};
use crate::ports::browser::ProfileMode;

impl SessionState {
    pub fn restart(&mut self, headed: Option<bool>, reply: Reply<(), SessionError>) {
        let group = self.world.doors.supervisors.find(&Seat::SessionGroup(self.name.clone()));
        let (ours, new_window) = match self.world.books.sessions.get_mut(&self.name) {
            Some(mut note) if note.spec.profile != ProfileMode::Attach => {
                let new_window = headed == Some(true) && note.spec.headless;
                note.spec.headless = headed.map_or(note.spec.headless, |headed| !headed);
                (true, new_window)
            }
            Some(_) | None => (false, false),
        };
        let Some(group) = group.filter(|_| ours) else {
            return settle(&self.desk.vitals, reply, Err(SessionError::NotOurs));
        };
        self.desk.post("ending the browser, to start it again");
        let mut restarting = self.world.books.restarts.entry(self.name.clone()).or_default();
        restarting.replies.push(reply);
        restarting.new_window |= new_window;
        group.tell(SupervisorMsg::Restart { seat: Seat::Session(self.name.clone()) });
    }

    /// Asks that were waiting are served by the next incarnation, if there is to be one; the tabs
    /// that wanted pages are stopped, and ask again.
    pub fn leave_to_next(&mut self) {
        if let Some(mut restarting) = self.world.books.restarts.get_mut(&self.name) {
            let asks = self.waiting.drain(..);
            let still = |ask: &SessionMsg| !matches!(ask, SessionMsg::OpenPage { .. });
            restarting.asks.extend(asks.filter(still));
        }
    }

    /// The browser that a restart was to bring is there, or does not come. One that does not start
    /// with a window works without, as before.
    pub fn end_restart(&mut self, started: Result<(), &str>) {
        let Some(Restarting { replies, new_window, .. }) = self.restarting.take() else {
            return;
        };
        if started.is_err()
            && new_window
            && let Some(mut note) = self.world.books.sessions.get_mut(&self.name)
        {
            note.spec.headless = true;
        }
        for reply in replies {
            let outcome = started.map_err(|why| SessionError::Browser(why.to_owned()));
            settle(&self.desk.vitals, reply, outcome);
        }
    }
}

/// Takes out of the books what the incarnation before this one left.
pub fn left_over(name: &SessionName, world: &World) -> (Option<Restarting>, Vec<SessionMsg>) {
    match world.books.restarts.remove(name) {
        None => (None, Vec::new()),
        Some((_, mut restarting)) => {
            let asks = std::mem::take(&mut restarting.asks);
            (Some(restarting), asks)
        }
    }
}
