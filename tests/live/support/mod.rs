//! The real program with a home folder of its own, and what a test does to its processes.
pub mod shell;
pub mod tls;
