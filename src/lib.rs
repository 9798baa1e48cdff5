//! A browser agent: an actor runtime with supervised sessions.

pub mod actors;
pub mod domain;
pub mod messages;
pub mod model;
pub mod perception;
pub mod ports;
pub mod store;
