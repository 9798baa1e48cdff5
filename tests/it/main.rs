//! Tests without a browser.
mod practice;
#[path = "../live/support/tls.rs"]
mod tls;
