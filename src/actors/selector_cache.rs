//! The selector cache: what was found for which words, in memory in front of the store.
//!
//! - **Takes** [`SelectorCacheMsg`].
//! - **Answers** from memory; a change is answered when the store has it.
//! - **Dies** of a store that cannot be read at its start.
//! - **Then** it is started again, and reads the store anew.

use std::sync::Arc;

use dashmap::DashMap;
use ractor::{Actor, ActorProcessingErr, ActorRef};

use crate::actors::settle::settle;
use crate::actors::world::World;
use crate::messages::Reply;
use crate::messages::board::Desk;
use crate::messages::inbox::{Inbox, Job};
use crate::messages::selector_cache::{CacheEntry, CacheError, CacheKey, SelectorCacheMsg};
use crate::ports::store::{Durability, Store, StoreError, Table};

/// Behaviour only; see [`SelectorCacheState`].
pub struct SelectorCache;

pub struct SelectorCacheArgs {
    pub world: World,
    pub desk: Desk,
}

pub struct SelectorCacheState {
    store: Arc<dyn Store>,
    desk: Desk,
    inbox: Inbox<SelectorCacheMsg>,
    known: DashMap<CacheKey, CacheEntry>,
    jobs: Vec<Job>,
}

impl Actor for SelectorCache {
    type Msg = SelectorCacheMsg;
    type State = SelectorCacheState;
    type Arguments = SelectorCacheArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<SelectorCacheMsg>,
        SelectorCacheArgs { world, desk }: SelectorCacheArgs,
    ) -> Result<SelectorCacheState, ActorProcessingErr> {
        let rows = world.store.all(Table::Selectors).await?;
        // A row that an older version wrote otherwise is as good as none: it is learned again.
        let known = rows.iter().filter_map(|(key, row)| {
            Some((serde_json::from_str(key).ok()?, serde_json::from_str(row).ok()?))
        });
        let known: DashMap<CacheKey, CacheEntry> = known.collect();
        let inbox = Inbox::new(myself, Arc::clone(&desk.vitals));
        let state = SelectorCacheState { store: world.store, desk, inbox, known, jobs: vec![] };
        state.post();
        Ok(state)
    }

    async fn handle(
        &self,
        _myself: ActorRef<SelectorCacheMsg>,
        message: SelectorCacheMsg,
        state: &mut SelectorCacheState,
    ) -> Result<(), ActorProcessingErr> {
        state.desk.vitals.took();
        match message {
            SelectorCacheMsg::Look { key, reply } => {
                let found = state.known.get(&key).map(|entry| entry.clone());
                settle(&state.desk.vitals, reply, Ok(found));
            }
            SelectorCacheMsg::Count { key, hit, reply } => state.count(key, hit, reply),
            SelectorCacheMsg::Keep { key, selector, fingerprint, reply } => {
                let entry = CacheEntry { selector, fingerprint, hits: 0, misses: 0 };
                state.keep(key, entry, reply);
            }
            SelectorCacheMsg::List { domain, reply } => {
                settle(&state.desk.vitals, reply, Ok(state.list(domain.as_deref())));
            }
            SelectorCacheMsg::Clear { domain, reply } => state.clear(domain.as_deref(), reply),
        }
        state.post();
        Ok(())
    }
}

impl SelectorCacheState {
    fn count(&mut self, key: CacheKey, hit: bool, reply: Reply<(), CacheError>) {
        let counted = self.known.get(&key).map(|entry| {
            let mut entry = entry.clone();
            let counter = if hit { &mut entry.hits } else { &mut entry.misses };
            *counter = counter.saturating_add(1);
            entry
        });
        match counted {
            Some(entry) => self.keep(key, entry, reply),
            None => settle(&self.desk.vitals, reply, Ok(())),
        }
    }

    fn keep(&mut self, key: CacheKey, entry: CacheEntry, reply: Reply<(), CacheError>) {
        let name = serde_json::to_string(&key).expect("a key is plain data");
        let row = serde_json::to_string(&entry).expect("an entry is plain data");
        self.known.insert(key, entry);
        let store = Arc::clone(&self.store);
        self.answer_after(reply, async move {
            store.put(Table::Selectors, name, row, Durability::Soon).await
        });
    }

    fn list(&self, domain: Option<&str>) -> Vec<(CacheKey, CacheEntry)> {
        let of = |key: &CacheKey| domain.is_none_or(|domain| key.domain == domain);
        let fits = self.known.iter().filter(|row| of(row.key()));
        let mut rows: Vec<_> = fits.map(|row| (row.key().clone(), row.clone())).collect();
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        rows
    }

    fn clear(&mut self, domain: Option<&str>, reply: Reply<usize, CacheError>) {
        let gone: Vec<_> = self.list(domain).into_iter().map(|(key, _)| key).collect();
        gone.iter().for_each(|key| drop(self.known.remove(key)));
        let store = Arc::clone(&self.store);
        self.answer_after(reply, async move {
            for key in &gone {
                let name = serde_json::to_string(key).expect("a key is plain data");
                store.delete(Table::Selectors, &name).await?;
            }
            Ok(gone.len())
        });
    }

    fn answer_after<T: Send + 'static>(
        &mut self,
        reply: Reply<T, CacheError>,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) {
        let vitals = Arc::clone(&self.desk.vitals);
        self.jobs.retain(|job| !job.is_finished());
        self.jobs.push(self.inbox.side_job(async move {
            let done = work.await.map_err(|error| CacheError::Store(error.to_string()));
            settle(&vitals, reply, done);
        }));
    }

    fn post(&self) {
        self.desk.post(format!("{} entries", self.known.len()));
    }
}
