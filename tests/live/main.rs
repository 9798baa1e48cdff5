//! The whole program against a real Chromium and local sites.
#![cfg(feature = "chromium")]
mod agent;
mod cdp;
mod demo;
mod faults;
mod guard;
mod inputs;
mod runs;
mod smoke;
mod support;
mod verbs;
mod wires;
