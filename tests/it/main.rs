//! What needs no browser.
mod store;
