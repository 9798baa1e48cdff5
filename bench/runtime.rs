//! Measures how the program takes faults, on a real Chromium and the practice sites: `bench/runtime`.
//!
//! Every figure is counted from outside, by a clock of this process: from the moment something is
//! killed to the answer of a command. It prints one table; a figure beyond its goal is marked.
#[path = "faults/deaths.rs"]
mod deaths;
#[path = "faults/hangs.rs"]
mod hangs;
#[path = "faults/starts.rs"]
mod starts;
#[expect(dead_code, reason = "tests use more of it")]
#[path = "faults/support.rs"]
mod support;
#[path = "faults/table.rs"]
mod table;

use std::process::ExitCode;

use crate::table::Table;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds = match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Some(10),
        ["--rounds", rounds] => rounds.parse().ok().filter(|rounds| *rounds > 0),
        _ => None,
    };
    let Some(rounds) = rounds else {
        eprintln!("usage: bench/runtime [--rounds N]");
        return ExitCode::from(2);
    };
    let mut table = Table::default();
    table.note(&format!("{rounds} rounds; load before: {}", load()));
    starts::measure(&mut table, rounds);
    deaths::measure(&mut table, rounds);
    hangs::measure(&mut table, rounds);
    starts::measure_tabs(&mut table, rounds.div_ceil(5));
    table.note(&format!("load after: {}", load()));
    println!("{table}");
    ExitCode::SUCCESS
}

/// How busy the machine is: processes that want a core, over 1, 5 and 15 minutes.
fn load() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<_> = load.split_whitespace().take(3).collect();
    format!("{} on {cores} cores", load.join(" "))
}
