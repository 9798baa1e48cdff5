//! A store, sealed secrets, files and a clock, all in memory.
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use strawmanus::domain::ids::RunId;
use strawmanus::ports::clock::Clock;
use strawmanus::ports::files::{FileError, Files, Listed};
use strawmanus::ports::nonces::Nonces;
use strawmanus::ports::rules::RuleFile;
use strawmanus::ports::sealed::{Sealed, SealedError};
use strawmanus::ports::store::{Counter, Durability, Store, StoreError, Table};

/// What outlives a house: clones are one.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    journals: BTreeMap<RunId, Vec<String>>,
    tables: HashMap<Table, BTreeMap<String, String>>,
    counters: HashMap<Counter, u32>,
    secrets: HashMap<String, Vec<u8>>,
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Writes to the journal that fail, from this one on (from 0).
    full_from: Option<usize>,
    appended: usize,
    nonces: u32,
    began: Option<tokio::time::Instant>,
    begun: u32,
    slow: bool,
    /// Tables that take no row, and tables that never answer.
    without: Vec<Table>,
    silent: Vec<Table>,
    without_files: bool,
    /// The user's own rules.
    rules: Option<String>,
    /// So many readings of a whole table never answer.
    deaf: usize,
}

impl Memory {
    /// Makes the disk full from the nth append on.
    pub fn full_from(self, nth: usize) -> Self {
        self.0.lock().unwrap().full_from = Some(nth);
        self
    }

    /// Makes every append take its time, the first the longest.
    pub fn slow(self) -> Self {
        self.0.lock().unwrap().slow = true;
        self
    }

    /// Makes the writing of rows to a table fail.
    pub fn without(self, table: Table) -> Self {
        self.0.lock().unwrap().without.push(table);
        self
    }

    /// Makes the first readings of a whole table never answer.
    pub fn deaf(self, times: usize) -> Self {
        self.0.lock().unwrap().deaf = times;
        self
    }

    /// Writes the user's rules, in place of what stood there.
    pub fn rule(&self, text: &str) {
        self.0.lock().unwrap().rules = Some(text.to_owned());
    }

    /// Makes the writing of files fail.
    pub fn without_files(self) -> Self {
        self.0.lock().unwrap().without_files = true;
        self
    }

    /// Makes the writing of rows to a table never answer.
    pub fn silent(self, table: Table) -> Self {
        self.0.lock().unwrap().silent.push(table);
        self
    }

    pub fn lines(&self, run: RunId) -> Vec<String> {
        self.0.lock().unwrap().journals.get(&run).cloned().unwrap_or_default()
    }

    /// Puts a journal there, as an earlier life left it.
    pub fn leave(&self, run: RunId, lines: Vec<String>) {
        self.0.lock().unwrap().journals.insert(run, lines);
    }

    pub fn file(&self, name: &str) -> Option<String> {
        let inner = self.0.lock().unwrap();
        let found = inner.files.iter().find(|(path, _)| path.ends_with(name));
        found.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
    }

    pub fn secret(&self, name: &str) -> Option<String> {
        let secret = self.0.lock().unwrap().secrets.get(name).cloned();
        secret.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// Keeps a secret there, as an earlier life left it.
    pub fn seal(&self, name: &str, secret: &str) {
        self.0.lock().unwrap().secrets.insert(name.to_owned(), secret.as_bytes().to_vec());
    }

    pub fn rows(&self, table: Table) -> usize {
        self.0.lock().unwrap().tables.get(&table).map_or(0, BTreeMap::len)
    }
}

#[async_trait]
impl Store for Memory {
    async fn append(&self, run: RunId, entry: String, _: Durability) -> Result<u64, StoreError> {
        let pause = {
            let mut inner = self.0.lock().unwrap();
            inner.begun += 1;
            inner.slow.then(|| Duration::from_millis(500) / inner.begun)
        };
        if let Some(pause) = pause {
            tokio::time::sleep(pause).await;
        }
        let mut inner = self.0.lock().unwrap();
        inner.appended += 1;
        if inner.full_from.is_some_and(|nth| inner.appended > nth) {
            return Err(StoreError::Disk { why: "no space left on device".into() });
        }
        let journal = inner.journals.entry(run).or_default();
        journal.push(entry);
        Ok(journal.len() as u64 - 1)
    }

    async fn journal(&self, run: RunId) -> Result<Vec<String>, StoreError> {
        Ok(self.lines(run))
    }

    async fn put(
        &self,
        table: Table,
        key: String,
        value: String,
        _: Durability,
    ) -> Result<(), StoreError> {
        let silent = self.0.lock().unwrap().silent.contains(&table);
        if silent {
            std::future::pending::<()>().await;
        }
        let mut inner = self.0.lock().unwrap();
        if inner.without.contains(&table) {
            return Err(StoreError::Disk { why: "no space left on device".into() });
        }
        inner.tables.entry(table).or_default().insert(key, value);
        Ok(())
    }

    async fn get(&self, table: Table, key: &str) -> Result<Option<String>, StoreError> {
        let inner = self.0.lock().unwrap();
        Ok(inner.tables.get(&table).and_then(|rows| rows.get(key).cloned()))
    }

    async fn delete(&self, table: Table, key: &str) -> Result<(), StoreError> {
        self.0.lock().unwrap().tables.entry(table).or_default().remove(key);
        Ok(())
    }

    async fn all(&self, table: Table) -> Result<Vec<(String, String)>, StoreError> {
        let deaf = {
            let mut inner = self.0.lock().unwrap();
            let deaf = inner.deaf > 0;
            inner.deaf = inner.deaf.saturating_sub(1);
            deaf
        };
        if deaf {
            std::future::pending::<()>().await;
        }
        let inner = self.0.lock().unwrap();
        let rows = inner.tables.get(&table).into_iter().flatten();
        Ok(rows.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    async fn next(&self, counter: Counter) -> Result<u32, StoreError> {
        let mut inner = self.0.lock().unwrap();
        let count = inner.counters.entry(counter).or_default();
        *count += 1;
        Ok(*count)
    }
}

#[async_trait]
impl Sealed for Memory {
    async fn read(&self, name: &str) -> Result<Option<Vec<u8>>, SealedError> {
        Ok(self.0.lock().unwrap().secrets.get(name).cloned())
    }

    async fn write(&self, name: &str, secret: &[u8]) -> Result<(), SealedError> {
        self.0.lock().unwrap().secrets.insert(name.to_owned(), secret.to_vec());
        Ok(())
    }

    async fn remove(&self, name: &str) -> Result<(), SealedError> {
        self.0.lock().unwrap().secrets.remove(name);
        Ok(())
    }
}

#[async_trait]
impl Files for Memory {
    async fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let mut inner = self.0.lock().unwrap();
        let path = path.to_owned();
        if inner.without_files {
            let why = "no space left on device".into();
            return Err(FileError { what: "write", path, why });
        }
        inner.files.insert(path, bytes.to_vec());
        Ok(())
    }

    async fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        let missing =
            || FileError { what: "read", path: path.to_owned(), why: "no such file".into() };
        self.0.lock().unwrap().files.get(path).cloned().ok_or_else(missing)
    }

    async fn list(&self, folder: &Path) -> Result<Vec<Listed>, FileError> {
        let inner = self.0.lock().unwrap();
        let below = inner.files.iter().filter_map(|(path, bytes)| {
            let path = path.strip_prefix(folder).ok()?.to_string_lossy().into_owned();
            Some(Listed { path, bytes: bytes.len() as u64 })
        });
        Ok(below.collect())
    }
}

#[async_trait]
impl RuleFile for Memory {
    async fn read(&self) -> Result<Option<String>, String> {
        Ok(self.0.lock().unwrap().rules.clone())
    }
}

impl Clock for Memory {
    /// Goes with the tests' time, from a moment of its own.
    fn now(&self) -> Timestamp {
        let mut inner = self.0.lock().unwrap();
        let began = *inner.began.get_or_insert_with(tokio::time::Instant::now);
        let noon: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        noon + began.elapsed()
    }
}

impl Nonces for Memory {
    fn draw(&self) -> String {
        let mut inner = self.0.lock().unwrap();
        inner.nonces += 1;
        format!("nonce{:04}", inner.nonces)
    }
}
