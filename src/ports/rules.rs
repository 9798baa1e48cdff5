//! The user's own rules for the guard: a file that may change at any time.
use async_trait::async_trait;

#[async_trait]
pub trait RuleFile: Send + Sync + 'static {
    /// Returns what the file says now; none where there is no file.
    ///
    /// # Errors
    /// Says why it cannot be read.
    async fn read(&self) -> Result<Option<String>, String>;
}
