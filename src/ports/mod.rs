//! What the runtime needs from the world, as traits. Adapters implement them; tests fake them.
//!
//! A port's error says what the *caller* can do.
pub mod browser;
pub mod clock;
pub mod files;
pub mod model;
pub mod nonces;
pub mod page;
pub mod rules;
pub mod sealed;
pub mod store;

use std::sync::Arc;

/// Where an adapter posts what it sees. Called from any thread; never blocks.
pub type Sink<T> = Arc<dyn Fn(T) + Send + Sync>;
