//! The program `strawmanus`.
use std::process::ExitCode;

use strawmanus::app::compose::House;

fn main() -> ExitCode {
    strawmanus::cli::main(House)
}
