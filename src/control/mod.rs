//! How a command reaches the daemon: one typed protocol for every face of the program.
pub mod protocol;
pub mod verbs;
