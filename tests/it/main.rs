//! What needs no browser.
mod address;
mod agent;
mod cache;
mod cli;
mod config;
mod control;
mod corpus;
mod daemon;
mod doctor;
mod fake;
mod faults;
mod guard;
mod ledger;
mod looking;
mod model;
mod practice;
// The program is built only with its browser.
#[cfg(feature = "chromium")]
mod program;
mod restarting;
mod restarts;
mod run;
mod session;
mod store;
mod strategies;
mod support;
mod tab;
#[cfg(feature = "chromium")]
mod terminal;
mod tickets;
#[path = "../live/support/tls.rs"]
mod tls;
