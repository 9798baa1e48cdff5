//! What needs no browser.
mod model;
mod practice;
mod store;
#[path = "../live/support/tls.rs"]
mod tls;
