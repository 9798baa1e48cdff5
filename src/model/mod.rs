//! The model port: a script that is played, and Anthropic's Messages over HTTP.
pub mod anthropic;
mod conversation;
pub mod retry;
pub mod script;
