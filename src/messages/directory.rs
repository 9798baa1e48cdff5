//! The doors of one kind of actor, by typed id. Made at the root, it outlives every supervisor, so
//! an address survives the restart of the supervisor too.

use std::hash::Hash;
use std::sync::Arc;

use dashmap::DashMap;
use ractor::Message;

use crate::messages::address::{Address, Door};
use crate::messages::inbox::Inbox;

/// Cheap to clone; all clones are one directory.
#[derive(Debug)]
pub struct Directory<K: Eq + Hash, M: Message>(Arc<DashMap<K, Door<M>>>);

impl<K: Eq + Hash, M: Message> Clone for Directory<K, M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash, M: Message> Default for Directory<K, M> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Eq + Hash, M: Message> Directory<K, M> {
    /// Hangs a door for `id`, shut. Its address is valid from now until [`close`](Self::close).
    pub fn add(&self, id: K) {
        self.0.entry(id).or_default();
    }

    /// Returns where `id` can be reached, or `None` if there is no such actor, or no more.
    pub fn find(&self, id: &K) -> Option<Address<M>> {
        self.0.get(id).map(|door| door.address())
    }

    /// Puts `incarnation` behind the door of `id`.
    pub fn open(&self, id: &K, incarnation: Inbox<M>) {
        if let Some(door) = self.0.get(id) {
            door.open(incarnation);
        }
    }

    /// Nobody is behind the door of `id` for now.
    pub fn shut(&self, id: &K) {
        if let Some(door) = self.0.get(id) {
            door.shut();
        }
    }

    /// Takes the door of `id` away: its asks end with `Stopped`.
    pub fn close(&self, id: &K) {
        if let Some((_, door)) = self.0.remove(id) {
            door.shut();
        }
    }
}
