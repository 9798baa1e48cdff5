//! The store port by redb: one file, one thread that does all blocking work.
//!
//! Callers post requests and wait. Whatever waits goes into one transaction, so a hundred rows cost
//! one sync. A read sees every write that was answered before it was asked.
mod batch;
mod file;
pub mod files;
pub mod rules;
pub mod seal;
mod tables;
mod worker;

use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::JoinHandle;

use async_trait::async_trait;
use tokio::sync::oneshot;

use crate::domain::ids::RunId;
use crate::ports::store::{Counter, Durability, Store, StoreError, Table};
use crate::store::batch::{Read, Request, Write, WriteKind};

/// The store in a file. Dropping it waits until everything is on disk.
#[derive(Debug)]
pub struct Redb {
    /// Always there but in `drop`.
    requests: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

/// A store that is open, and what a person should know of how that went.
#[derive(Debug)]
pub struct Opened {
    pub store: Redb,
    /// The file was damaged: where it lies now. The store began empty.
    pub warning: Option<String>,
}

impl Redb {
    /// Opens the store in `path`, and makes it when there is none; its folder must be there.
    ///
    /// A damaged file is moved aside, and said in [`Opened::warning`].
    ///
    /// # Errors
    /// `Locked` while another process (or another part of this one) holds it, `Disk` when the file
    /// cannot be opened or made.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Opened, StoreError> {
        let path = path.into();
        let first = match Self::start(path.clone()).await {
            Err(StoreError::Damaged { why, .. }) => why,
            done => return done.map(|store| Opened { store, warning: None }),
        };
        let aside = file::move_aside(&path).map_err(|error| file::disk(&error))?;
        let store = Self::start(path).await?;
        let warning = format!(
            "the store was damaged ({first}); it was moved to {} and a new one was made",
            aside.display()
        );
        Ok(Opened { store, warning: Some(warning) })
    }

    async fn start(path: PathBuf) -> Result<Self, StoreError> {
        let shown = path.display().to_string();
        Self::with(shown, Box::new(move || file::open(&path))).await
    }

    /// Starts the thread over any way to open a database, and waits until it is open.
    async fn with(path: String, open: worker::Open) -> Result<Self, StoreError> {
        let (requests, inbox) = mpsc::channel();
        let (tell, told) = oneshot::channel();
        let shown = path.clone();
        let thread = std::thread::Builder::new()
            .name("store".into())
            .spawn(move || worker::run(path, open, &inbox, tell))
            .map_err(|error| file::disk(&error))?;
        let store = Self { requests: Some(requests), thread: Some(thread) };
        match told.await {
            Ok(opened) => opened.map(|()| store),
            // The library panics where a file breaks what it takes for granted.
            Err(_) => Err(StoreError::Damaged { path: shown, why: "it cannot be read".into() }),
        }
    }

    async fn ask<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Request,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let requests = self.requests.as_ref().ok_or(StoreError::Closed)?;
        requests.send(request(reply)).map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    async fn write(&self, kind: WriteKind, how: Durability) -> Result<u64, StoreError> {
        self.ask(|reply| Request::Write(Write { kind, how, reply })).await
    }
}

impl Drop for Redb {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}

#[async_trait]
impl Store for Redb {
    async fn append(&self, run: RunId, entry: String, how: Durability) -> Result<u64, StoreError> {
        self.write(WriteKind::Append { run, entry }, how).await
    }

    async fn journal(&self, run: RunId) -> Result<Vec<String>, StoreError> {
        self.ask(|reply| Request::Read(Read::Journal { run, reply })).await
    }

    async fn put(
        &self,
        table: Table,
        key: String,
        value: String,
        how: Durability,
    ) -> Result<(), StoreError> {
        self.write(WriteKind::Put { table, key, value }, how).await.map(drop)
    }

    async fn get(&self, table: Table, key: &str) -> Result<Option<String>, StoreError> {
        let key = key.to_owned();
        self.ask(|reply| Request::Read(Read::Get { table, key, reply })).await
    }

    async fn delete(&self, table: Table, key: &str) -> Result<(), StoreError> {
        let key = key.to_owned();
        self.write(WriteKind::Delete { table, key }, Durability::Synced).await.map(drop)
    }

    async fn all(&self, table: Table) -> Result<Vec<(String, String)>, StoreError> {
        self.ask(|reply| Request::Read(Read::All { table, reply })).await
    }

    async fn next(&self, counter: Counter) -> Result<u32, StoreError> {
        let value = self.write(WriteKind::Next { counter }, Durability::Synced).await?;
        u32::try_from(value).map_err(|_| StoreError::Disk { why: "a counter ran out".into() })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex};

    use redb::backends::InMemoryBackend;

    use super::*;

    /// A disk in memory that outlives the database on it, and can be full.
    #[derive(Debug, Clone, Default)]
    struct Disk {
        bytes: Arc<Mutex<Option<Arc<InMemoryBackend>>>>,
        full: Arc<AtomicBool>,
    }

    impl Disk {
        fn memory(&self) -> Arc<InMemoryBackend> {
            let mut bytes = self.bytes.lock().unwrap();
            Arc::clone(bytes.get_or_insert_with(|| Arc::new(InMemoryBackend::new())))
        }

        fn room(&self) -> std::io::Result<()> {
            let full = self.full.load(Ordering::SeqCst);
            if full { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    impl redb::StorageBackend for Disk {
        fn len(&self) -> std::io::Result<u64> {
            self.memory().len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
            self.memory().read(offset, out)
        }

        fn set_len(&self, len: u64) -> std::io::Result<()> {
            self.room()?;
            self.memory().set_len(len)
        }

        fn sync_data(&self) -> std::io::Result<()> {
            self.room()?;
            self.memory().sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
            self.room()?;
            self.memory().write(offset, data)
        }
    }

    #[tokio::test]
    async fn after_the_disk_was_full_the_store_goes_on_where_it_was() {
        let disk = Disk::default();
        let open = {
            let disk = disk.clone();
            move || redb::Database::builder().create_with_backend(disk.clone())
        };
        let store = Redb::with("a disk".into(), Box::new(open)).await.unwrap();
        let append = |entry: &str| store.append(RunId(1), entry.into(), Durability::Synced);
        assert_eq!(append("kept").await, Ok(0));

        disk.full.store(true, Ordering::SeqCst);
        for _ in 0..2 {
            let refused = append("refused").await.unwrap_err();
            assert!(matches!(refused, StoreError::Disk { .. }), "{refused}");
        }

        disk.full.store(false, Ordering::SeqCst);
        assert_eq!(append("kept too").await, Ok(1));
        assert_eq!(store.journal(RunId(1)).await.unwrap(), ["kept", "kept too"]);
    }
}
