//! A browser agent: an actor runtime with supervised sessions.

pub mod actors;
pub mod cli;
pub mod config;
pub mod control;
pub mod domain;
pub mod messages;
pub mod perception;
pub mod ports;
pub mod practice;
