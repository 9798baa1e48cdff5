//! Files that people read: reports and traces.
use std::path::{Path, PathBuf};

use async_trait::async_trait;

/// Why a file could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot write {}: {why}; check the folder and the free space", .path.display())]
pub struct FileError {
    pub path: PathBuf,
    pub why: String,
}

#[async_trait]
pub trait Files: Send + Sync + 'static {
    /// Writes a file whole or not at all; makes its folder.
    async fn write(&self, path: &Path, text: &str) -> Result<(), FileError>;
}
