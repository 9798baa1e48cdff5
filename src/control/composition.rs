//! What the faces of the program need from the composition root, as traits, so that neither names
//! the other.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use crate::config::Config;
use crate::config::home::Home;
use crate::control::answer::Failure;
use crate::control::handler::Handler;

/// Puts the program together. One value of it is all that `main` makes.
#[async_trait]
pub trait Composition: Send + Sync + 'static {
    /// Opens the store and starts the actors; called once, by the one daemon of `home`.
    ///
    /// # Errors
    /// Says why the daemon cannot live, such as a damaged store.
    async fn handler(&self, home: &Home, config: &Config) -> Result<Arc<dyn Handler>, Failure>;
    /// Returns what `doctor` looks at the browser with.
    fn probe(&self, config: &Config) -> Arc<dyn Probe>;
}

/// Looks at the browser without a daemon. Errors are sentences with what was looked for.
#[async_trait]
pub trait Probe: Send + Sync + 'static {
    /// Finds the browser's program.
    fn locate(&self) -> Result<PathBuf, String>;
    /// Starts it on a throw-away profile, ends it, and returns its product, such as `Chrome/156.0`.
    async fn try_start(&self) -> Result<String, String>;
    /// Returns the process that a profile folder is locked by, living or dead.
    fn profile_holder(&self, folder: &Path) -> Option<u32>;
}
