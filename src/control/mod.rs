//! How a command reaches the daemon: one typed protocol for every face of the program.
pub mod answer;
pub mod answers;
pub mod build;
pub mod client;
pub mod composition;
mod connection;
pub mod daemon;
pub mod flags;
pub mod handler;
pub mod link;
pub mod protocol;
pub mod server;
pub mod sight;
pub mod starter;
pub mod verbs;
