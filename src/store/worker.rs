//! The store's thread: takes what waits, commits it at once, answers.
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::ports::store::{Durability, StoreError};
use crate::store::batch::{Batch, Read, Request, Write};
use crate::store::file;
use crate::store::tables;

/// How to open the database, at the start and again after the disk failed.
pub(super) type Open = Box<dyn Fn() -> Result<redb::Database, redb::DatabaseError> + Send>;

/// How long a write that need not be on disk may stay away from it.
const SOON: Duration = Duration::from_secs(1);

/// Runs until every sender is gone, then flushes. Says once through `opened` how opening went.
pub(super) fn run(
    path: String,
    open: Open,
    inbox: &Receiver<Request>,
    opened: oneshot::Sender<Result<(), StoreError>>,
) {
    let mut worker = Worker { path, open, db: None, flush_by: None };
    let ready = worker.db().map(drop);
    let stop = ready.is_err();
    let _ = opened.send(ready);
    if stop {
        return;
    }
    while let Some(request) = worker.wait(inbox) {
        worker.carry_out(Batch::of(request, inbox.try_iter()));
    }
    worker.flush();
}

struct Worker {
    path: String,
    open: Open,
    /// None before the start, and after a failure: the library serves nothing more after one.
    db: Option<redb::Database>,
    /// Until when something must get to disk that is not there yet.
    flush_by: Option<Instant>,
}

impl Worker {
    /// Waits for a request, and flushes in between when it is time. None: nobody is left to ask.
    fn wait(&mut self, inbox: &Receiver<Request>) -> Option<Request> {
        loop {
            let Some(by) = self.flush_by else { return inbox.recv().ok() };
            match inbox.recv_timeout(by.saturating_duration_since(Instant::now())) {
                Ok(request) => return Some(request),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.flush(),
            }
        }
    }

    fn carry_out(&mut self, batch: Batch) {
        if !batch.writes.is_empty() {
            let how = batch.durability();
            let done = self.commit(&batch.writes, how);
            for (at, write) in batch.writes.into_iter().enumerate() {
                let number = |numbers: &Vec<u64>| numbers[at];
                let _ = write.reply.send(done.as_ref().map(number).map_err(Clone::clone));
            }
        }
        for read in batch.reads {
            match read {
                Read::Journal { run, reply } => {
                    let _ = reply.send(self.read(|db| tables::journal(db, run)));
                }
                Read::Get { table, key, reply } => {
                    let _ = reply.send(self.read(|db| tables::get(db, table, &key)));
                }
                Read::All { table, reply } => {
                    let _ = reply.send(self.read(|db| tables::all(db, table)));
                }
            }
        }
    }

    /// Writes everything or nothing, and returns the numbers in order.
    fn commit(&mut self, writes: &[Write], how: Durability) -> Result<Vec<u64>, StoreError> {
        let overdue = self.flush_by.is_some_and(|by| by <= Instant::now());
        let how = if overdue { Durability::Synced } else { how };
        let db = self.db()?;
        let numbers = transact(db, how, |transaction| {
            writes.iter().map(|write| tables::write(transaction, &write.kind)).collect()
        });
        match (&numbers, how) {
            (Ok(_), Durability::Synced) => self.flush_by = None,
            (Ok(_), Durability::Soon) => {
                self.flush_by.get_or_insert_with(|| Instant::now() + SOON);
            }
            (Err(_), _) => {}
        }
        numbers.map_err(|error| self.fail(&error))
    }

    fn read<T>(
        &mut self,
        read: impl FnOnce(&redb::Database) -> Result<T, redb::Error>,
    ) -> Result<T, StoreError> {
        let db = self.db()?;
        read(db).map_err(|error| self.fail(&error))
    }

    /// Brings to disk what was only committed. A failure is said with the next write.
    fn flush(&mut self) {
        if self.flush_by.take().is_none() {
            return;
        }
        let Some(db) = &self.db else { return };
        if let Err(error) = transact(db, Durability::Synced, |_| Ok(())) {
            tracing::error!(%error, path = self.path, "the last writes did not get to disk");
            self.fail(&error);
        }
    }

    /// Returns the database, opened again when a failure closed it.
    fn db(&mut self) -> Result<&redb::Database, StoreError> {
        if self.db.is_none() {
            let unopened = |error| file::unopened(&self.path, error);
            let db = (self.open)().map_err(unopened)?;
            transact(&db, Durability::Synced, tables::make)
                .map_err(|error| file::failed(&self.path, &error))?;
            self.db = Some(db);
        }
        self.db.as_ref().ok_or(StoreError::Closed)
    }

    fn fail(&mut self, error: &redb::Error) -> StoreError {
        (self.db, self.flush_by) = (None, None);
        file::failed(&self.path, error)
    }
}

fn transact<T>(
    db: &redb::Database,
    how: Durability,
    work: impl FnOnce(&redb::WriteTransaction) -> Result<T, redb::Error>,
) -> Result<T, redb::Error> {
    let mut transaction = db.begin_write()?;
    let synced = how == Durability::Synced;
    transaction.set_durability(if synced {
        redb::Durability::Immediate
    } else {
        redb::Durability::None
    })?;
    // Makes opening after a kill a matter of milliseconds.
    transaction.set_quick_repair(synced);
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}
