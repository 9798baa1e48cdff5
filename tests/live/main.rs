//! The browser adapter against a real Chromium and local sites.
#![cfg(feature = "chromium")]
mod cdp;
