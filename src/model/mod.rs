//! The model port: a script that is played, and two services over HTTP.
//!
//! - [`remote`] asks, tries again and says what was meant. [`wire`] says whose words are spoken.
//! - `anthropic` and `openai`: a conversation as a request, and an answer put together from its events.
//! - `service` sends and listens, `failure` reads what went wrong, [`retry`] says when to try again,
//!   `repair` what an answer means that is not quite a call.
//! - [`prompts`]: what every model is told, and the table of tools.
mod anthropic;
mod failure;
mod openai;
pub mod prompts;
pub mod remote;
mod repair;
pub mod retry;
pub mod script;
pub mod service;
mod stream;
pub mod wire;
