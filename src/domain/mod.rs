//! Pure: what decides, with data, history and `now` as arguments.
pub mod action;
pub mod address;
pub mod guard;
pub mod ids;
pub mod journal;
pub mod keys;
pub mod outcome;
pub mod page;
pub mod plan;
pub mod report;
pub mod run;
pub mod selector;
pub mod target;
pub mod tool;
