//! The real program with a home folder of its own, and what a test does to its processes.
pub mod commands;
pub mod devtools;
pub mod kept;
pub mod pace;
pub mod processes;
pub mod shell;
pub mod struck;
pub mod tls;
pub mod transcript;
