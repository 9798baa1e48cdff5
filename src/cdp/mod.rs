//! The browser and page ports, spoken over the Chrome DevTools Protocol.
//!
//! Commands and events are typed by chromiumoxide's generated crate; the connection is our own,
//! because everything above stands on one promise: **no call waits for what is dead**.
//!
//! From the bottom up: `wire` (a pipe or a WebSocket), `calls` (which calls wait, how sessions
//! stand; no I/O), `connection` (both together, with deadlines), `standing` (how a page stands;
//! pure), `attached` with `attach`, `hearing` and `events` (a page's session and what it says),
//! then what a page can do (`scripting`, `navigation`, `input`, `picture`; `console` keeps what it
//! writes), the ports (`page`, `browser`, `targets`, `cookies`), and how a browser is found, started
//! and ended (`find`, `lock`, `launch`, `process`, `endpoint`).
mod attach;
mod attached;
pub mod browser;
mod calls;
mod connection;
mod console;
mod cookies;
mod endpoint;
mod errors;
mod events;
pub mod find;
mod hearing;
mod input;
mod keyboard;
pub mod launch;
pub mod lock;
mod navigation;
mod page;
mod picture;
mod process;
mod requests;
mod scripting;
mod standing;
mod targets;
mod wire;

pub use crate::cdp::browser::Chromium;
