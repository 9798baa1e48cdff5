//! What needs no browser.
mod address;
mod cli;
mod config;
mod control;
mod daemon;
mod doctor;
mod fake;
mod model;
mod practice;
mod restarts;
mod store;
mod strategies;
mod support;
mod tab;
#[path = "../live/support/tls.rs"]
mod tls;
