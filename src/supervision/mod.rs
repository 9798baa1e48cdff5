//! Starts actors and starts them again; nobody else may.
pub mod child;
pub mod policy;
pub mod roster;
pub mod strategy;
pub mod supervisor;
pub mod tree;
