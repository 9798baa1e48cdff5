//! The file itself: opened for its owner alone, moved aside when it is damaged, and what its
//! failures mean for the caller.
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::ports::store::StoreError;

/// The library would take a gibibyte.
const CACHE_BYTES: usize = 4 << 20;

pub(super) fn open(path: &Path) -> Result<redb::Database, redb::DatabaseError> {
    // The journal holds what pages and people wrote, so nobody else may read it.
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).mode(0o600).open(path);
    let file = file.map_err(|error| redb::DatabaseError::Storage(error.into()))?;
    let backend = redb::backends::FileBackend::new(file)?;
    redb::Database::builder().set_cache_size(CACHE_BYTES).create_with_backend(backend)
}

/// Gives a damaged file the first free of the names `<file>.damaged-1`, `<file>.damaged-2`, …
pub(super) fn move_aside(path: &Path) -> std::io::Result<PathBuf> {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{number}"));
        PathBuf::from(name)
    };
    let aside = (1..).map(name).find(|aside| !aside.exists()).unwrap_or_else(|| name(0));
    std::fs::rename(path, &aside)?;
    Ok(aside)
}

pub(super) fn disk(error: &std::io::Error) -> StoreError {
    StoreError::Disk { why: error.to_string() }
}

/// Maps a failure to open.
pub(super) fn unopened(path: &str, error: redb::DatabaseError) -> StoreError {
    match error {
        redb::DatabaseError::DatabaseAlreadyOpen | redb::DatabaseError::LockProtocolMismatch => {
            StoreError::Locked { path: path.to_owned() }
        }
        other => failed(path, &other.into()),
    }
}

/// Maps any failure of the library, by variant.
pub(super) fn failed(path: &str, error: &redb::Error) -> StoreError {
    let damaged = || StoreError::Damaged { path: path.to_owned(), why: error.to_string() };
    match error {
        redb::Error::Io(io) => match io.kind() {
            // The library says so of a file that is none of its own.
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => damaged(),
            _ => disk(io),
        },
        redb::Error::Corrupted(_)
        | redb::Error::UpgradeRequired(_)
        | redb::Error::RepairAborted
        | redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. } => damaged(),
        other => StoreError::Disk { why: other.to_string() },
    }
}
