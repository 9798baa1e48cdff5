//! Tests without a browser.
mod cli;
mod config;
mod control;
mod daemon;
mod doctor;
mod fake;
