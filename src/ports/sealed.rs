//! Small secrets at rest: what is written is encrypted, and what is read was written by us.
use async_trait::async_trait;

/// Why a secret could not be kept or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealedError {
    #[error("cannot use {path}: {why}; check its owner and mode (0600)")]
    File { path: String, why: String },
    #[error("{path} was sealed with another key, or is damaged; remove it to start again")]
    Unreadable { path: String },
}

#[async_trait]
pub trait Sealed: Send + Sync + 'static {
    /// Returns what was kept under `name`, if anything was.
    async fn read(&self, name: &str) -> Result<Option<Vec<u8>>, SealedError>;
    /// Keeps `secret` under `name`, in place of what was there; whole or not at all.
    async fn write(&self, name: &str, secret: &[u8]) -> Result<(), SealedError>;
    async fn remove(&self, name: &str) -> Result<(), SealedError>;
}
