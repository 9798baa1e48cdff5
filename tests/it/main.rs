//! What needs no browser.
mod model;
mod store;
