//! Settings and where they come from.
pub mod environment;
pub mod span;
