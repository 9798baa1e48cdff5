//! A browser agent: an actor runtime with supervised sessions.

pub mod actors;
#[cfg(feature = "chromium")]
pub mod cdp;
pub mod domain;
pub mod messages;
pub mod perception;
pub mod ports;
