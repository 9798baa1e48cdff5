//! The real program with a home folder of its own, as the tests have it.
#[path = "../../tests/live/support/devtools.rs"]
pub mod devtools;
#[path = "../../tests/live/support/kept.rs"]
pub mod kept;
#[path = "../../tests/live/support/pace.rs"]
pub mod pace;
#[path = "../../tests/live/support/processes.rs"]
pub mod processes;
#[path = "../../tests/live/support/shell.rs"]
pub mod shell;
#[path = "../../tests/live/support/struck.rs"]
pub mod struck;
