//! Carry out; one actor a file.
pub mod guard;
pub mod ledger;
pub mod orchestrator;
pub mod perception;
pub mod selector_cache;
pub mod session;
pub mod settle;
pub mod tab;
pub mod world;
