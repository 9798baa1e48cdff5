//! What needs no browser.
mod cli;
mod config;
mod control;
mod daemon;
mod doctor;
mod fake;
mod model;
mod practice;
mod store;
mod support;
#[path = "../live/support/tls.rs"]
mod tls;
