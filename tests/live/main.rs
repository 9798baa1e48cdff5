//! The whole program against a real Chromium and local sites.
#![cfg(feature = "chromium")]
mod cdp;
mod faults;
mod smoke;
mod support;
