//! Files of runs: what people read, and what the agent keeps there.
use std::path::{Path, PathBuf};

use async_trait::async_trait;

/// Why a file could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot {what} {}: {why}; check the folder and the free space", .path.display())]
pub struct FileError {
    /// `write`, `read` or `list`.
    pub what: &'static str,
    pub path: PathBuf,
    pub why: String,
}

/// One file of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Below the folder, with `/` between its parts.
    pub path: String,
    pub bytes: u64,
}

#[async_trait]
pub trait Files: Send + Sync + 'static {
    /// Writes a file whole or not at all; makes its folder.
    async fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError>;
    /// Reads a file whole.
    async fn read(&self, path: &Path) -> Result<Vec<u8>, FileError>;
    /// Lists the files below a folder, in order; none where it is not there.
    async fn list(&self, folder: &Path) -> Result<Vec<Listed>, FileError>;
}
