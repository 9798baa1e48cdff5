//! A small web of our own to practise on: several origins on this machine, and a ledger of every
//! request that they received. It serves the demo, the tests and the bench.
//!
//! - [`server`]: [`server::Practice`] starts it, and stops it when it is dropped.
//! - [`demo`]: a task on its sites, that task played as a script, and what must be true afterwards.
//! - [`ledger`]: what was received. [`holds`]: requests that wait until a test lets them go.
//! - [`model`]: a model's service that plays a script over HTTP, and slips where it is told to.
//! - The sites: `shop`, `mail`, `news`, `account` (signing in) and `fixtures` (pages under `/t/`, one
//!   for each thing that a browser can do to us). Their texts lie in `site/`.
//!
//! Nothing here needs a clock: whatever has to happen later waits for a hold or a tick.

pub mod demo;
pub mod holds;
pub mod ledger;
pub mod model;
pub mod raw;
pub mod server;

mod account;
mod exchange;
mod fixtures;
mod mail;
mod news;
mod shop;
mod template;
mod web;
