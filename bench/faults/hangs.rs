//! A page that loops, or shows an alert: what it costs the commands of another tab.
use std::time::Duration;

use crate::support::struck::{Stage, latencies};
use crate::table::Table;

/// How much longer a command on another tab may take.
const DELAY: u64 = 100;
/// How often each of three commands is given, before and during, in every round.
const TIMES: usize = 5;

pub fn measure(table: &mut Table, rounds: usize) {
    let stage = Stage::new();
    let mail = stage.tab("mail", "/");
    let spin: [&str; 4] = ["click", "role=button[name=\"Start spinning\"]", "--timeout", "1s"];
    let alert: [&str; 2] = ["click", "role=button[name=\"Open alert\"]"];
    for (what, path, press) in
        [("a page loops", "/t/spin", &spin[..]), ("an alert is open", "/t/alert", &alert)]
    {
        let (mut before, mut during, mut delays) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            let tab = stage.tab("test", path);
            let mut kept = stage.shell.keep();
            // Before and during take turns, so that a busy machine falls on both.
            let calm = latencies(&mut kept, &mail, TIMES);
            kept.run(&[press, &["--tab", &tab]].concat());
            let hung = latencies(&mut kept, &mail, TIMES);
            kept.run(&["tab", "close", &tab]).good();
            let slowest = |times: &[Duration]| times.iter().copied().max().unwrap_or_default();
            delays.push(slowest(&hung).saturating_sub(slowest(&calm)));
            before.extend(calm);
            during.extend(hung);
        }
        table.times(&format!("{what}: commands on another tab before"), None, &before);
        table.times(&format!("{what}: commands on another tab meanwhile"), None, &during);
        table.times(&format!("{what}: the slowest later by"), Some(DELAY), &delays);
    }
}
