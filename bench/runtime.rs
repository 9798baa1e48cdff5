//! What the runtime promises, measured: see `bench/runtime`.
use std::time::Duration;

use crate::support::processes::{browsers_below, kill, processes_with};
use crate::support::shell::{Shell, Started, eventually, now};
use crate::support::struck::{Fault, Hammer, LONG, NEVER, Stage, latencies, tab_costs, usable};

#[expect(dead_code, reason = "shared with the live tests, which use all of it")]
#[path = "../tests/live/support/mod.rs"]
mod support;

/// How many tabs are opened, read and closed to see what one costs.
const TABS: usize = 50;
/// How many commands race on a cold start.
const RACERS: usize = 20;

fn main() {
    let rounds = rounds();
    println!("{rounds} rounds; medians, and in brackets the worst\n");
    for fault in [Fault::RendererKilled, Fault::PageCrashed, Fault::BrowserKilled] {
        deaths(fault, rounds);
    }
    closed(rounds);
    hangs(rounds);
    daemon_killed(rounds);
    many_tabs();
    cold_starts(rounds);
}

fn rounds() -> usize {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => 10,
        ["--rounds", number] if number.parse().is_ok_and(|number: usize| number > 0) => {
            number.parse().unwrap_or(10)
        }
        _ => {
            eprintln!("usage: bench/runtime [--rounds N]");
            std::process::exit(2);
        }
    }
}

/// Three tabs on sites of their own; one has a script under way when the fault strikes.
fn deaths(fault: Fault, rounds: usize) {
    let stage = Stage::new();
    let (tab, mail, news) =
        (stage.tab("shop", "/"), stage.tab("mail", "/"), stage.tab("news", "/"));
    let mut kept = stage.shell.keep();
    let url = stage.practice.url("shop", "/");
    let (mut answered, mut well, mut all_well, mut loads, mut failed, mut calls) =
        (vec![], vec![], vec![], vec![], 0, 0);
    for _ in 0..rounds {
        loads.push(kept.run(&["open", &url, "--tab", &tab]).good().took);
        let mut victim = stage.victim(&tab);
        let hammer = (fault != Fault::BrowserKilled).then(|| Hammer::on(&stage.shell, &mail));
        let struck = fault.strike_during(&stage.shell, &mut victim, Some(&NEVER));
        answered.extend(struck.pending.map(|(_, after)| after));
        well.push(usable(&mut kept, &tab) - struck.at);
        usable(&mut kept, &mail);
        all_well.push(usable(&mut kept, &news) - struck.at);
        if let Some(hammered) = hammer.map(Hammer::stop) {
            failed += hammered.failed.len();
            calls += hammered.took.len();
        }
    }
    println!("{fault:?}");
    row("the call under way is answered", &mut answered);
    row("the tab is usable again, at its page", &mut well);
    if fault == Fault::BrowserKilled {
        row("all three tabs are usable again", &mut all_well);
    } else {
        println!("  {:<46} {failed} of {calls}", "failed calls on a tab in another process");
    }
    row("for comparison: one load of that page", &mut loads);
}

fn closed(rounds: usize) {
    let stage = Stage::new();
    let mut answered = Vec::new();
    for _ in 0..rounds {
        let tab = stage.tab("shop", "/");
        let mut victim = stage.victim(&tab);
        let struck = Fault::TargetClosed.strike_during(&stage.shell, &mut victim, Some(&NEVER));
        answered.extend(struck.pending.map(|(_, after)| after));
    }
    println!("TargetClosed by another client");
    row("the call under way is answered", &mut answered);
}

/// The same commands on one tab, before and while another page hangs, in turn.
fn hangs(rounds: usize) {
    let stage = Stage::new();
    let mail = stage.tab("mail", "/");
    let mut kept = stage.shell.keep();
    for (name, path, press) in [
        ("a page in while(1)", "/t/spin", "role=button[name=\"Start spinning\"]"),
        ("an open alert", "/t/alert", "role=button[name=\"Open alert\"]"),
    ] {
        let (mut before, mut beside) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            before.extend(latencies(&mut kept, &mail, 5));
            let tab = stage.tab("test", path);
            kept.run(&["click", press, "--tab", &tab, "--timeout", "1s"]);
            beside.extend(latencies(&mut kept, &mail, 5));
            kept.run(&["tab", "close", &tab]).good();
        }
        println!("{name}");
        row("a command on another tab, before", &mut before);
        row("a command on another tab, meanwhile", &mut beside);
    }
}

fn daemon_killed(rounds: usize) {
    let (mut gone, mut next) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let stage = Stage::new();
        stage.tab("shop", "/");
        let folder = stage.shell.folder().display().to_string();
        let daemon = stage.shell.daemon();
        let began = now();
        kill(daemon);
        let left = eventually(LONG, || match browsers_below(&folder) {
            left if left.is_empty() => Ok(now()),
            left => Err(left),
        });
        gone.push(left.expect("its browser ends") - began);
        next.push(stage.shell.run(&["runs"]).good().took);
    }
    println!("kill -9 of the daemon");
    row("the last process of its browser is gone", &mut gone);
    row("the next command, with a new daemon", &mut next);
}

fn many_tabs() {
    let stage = Stage::new();
    stage.tab("mail", "/");
    tab_costs(&stage, 3);
    let grown = tab_costs(&stage, TABS);
    println!("{TABS} tabs opened, read and closed");
    let each = grown / 1024 / TABS as u64;
    println!("  {:<46} {each} KiB", "memory of the daemon, each tab");
    let pages = stage.shell.devtools().pages().len();
    println!("  {:<46} {}", "pages left of them", pages - 1);
}

fn cold_starts(rounds: usize) {
    let (mut first, mut answers, mut daemons) = (Vec::new(), 0, Vec::new());
    for _ in 0..rounds {
        let shell = Shell::new();
        let racers: Vec<Started> = (0..RACERS).map(|_| shell.start(&["runs"])).collect();
        let done: Vec<_> = racers.into_iter().map(Started::wait).collect();
        answers += done.iter().filter(|done| done.exit == 0).count();
        first.extend(done.iter().map(|done| done.took));
        let home = shell.home().display().to_string();
        let living = processes_with(&home);
        daemons.push(living.iter().filter(|(_, command)| command.contains(" daemon")).count());
    }
    println!("{RACERS} commands at once without a daemon");
    let asked = rounds * RACERS;
    println!("  {:<46} {answers} of {asked}", "answers");
    println!("  {:<46} {:?}", "daemons", daemons.iter().max().unwrap_or(&0));
    row("a command is answered", &mut first);
}

fn row(name: &str, times: &mut [Duration]) {
    times.sort();
    let Some(worst) = times.last() else {
        return println!("  {name:<46} not measured");
    };
    let median = times[times.len() / 2];
    let shown = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1000.0);
    println!("  {name:<46} {:<9} ({})", shown(median), shown(*worst));
}
