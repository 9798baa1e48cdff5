//! A browser agent: an actor runtime with supervised sessions that gives a language model hands,
//! eyes, memory and brakes in a real Chromium.
//!
//! Read it in floor order, bottom up:
//!
//! - [`domain`] decides, and touches nothing: ids, pages, targets, the guard's classes, the journal.
//! - [`perception`] is what runs in the page, and how its answer is read.
//! - [`ports`] are what we need of the world, as traits.
//! - [`messages`] are what actors say to one another, and how they are reached.
//! - [`actors`] carry out; one a file.
//! - [`supervision`] starts them and starts them again; nobody else may.
//!   [`supervision::tree`] is the tree as one picture.
//! - The adapters `cdp`, [`store`] and [`model`] implement ports, and hang from `app` alone.
//! - `app` puts the house together and carries out the verbs; [`control`] is the daemon's socket;
//!   [`cli`] is the face for shells.
//! - [`practice`] is a small web of several origins for the demo, the tests and the bench.

pub mod actors;
#[cfg(feature = "chromium")]
pub mod app;
#[cfg(feature = "chromium")]
pub mod cdp;
pub mod cli;
pub mod config;
pub mod control;
pub mod domain;
pub mod messages;
pub mod model;
pub mod perception;
pub mod ports;
pub mod practice;
pub mod store;
pub mod supervision;
