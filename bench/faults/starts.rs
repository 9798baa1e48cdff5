//! How the daemon starts and ends, and what tabs cost it.
use crate::support::processes::{browsers_below, kill, resident};
use crate::support::shell::{Shell, eventually, now};
use crate::support::struck::{LONG, Stage, tab_costs};
use crate::table::Table;

/// How long a browser may outlive its daemon.
const GONE: u64 = 1000;
const RACING: usize = 20;
const TABS: usize = 50;
/// What a tab may cost the daemon.
const KIB: f64 = 1024.0;

pub fn measure(table: &mut Table, rounds: usize) {
    let (mut first, mut warm, mut gone, mut next) = (vec![], vec![], vec![], vec![]);
    let (mut daemons, mut answers) = (vec![], vec![]);
    for _ in 0..rounds {
        let stage = Stage::new();
        let (shell, url) = (&stage.shell, stage.practice.url("shop", "/"));
        first.push(shell.run(&["open", &url]).good().took);
        warm.push(shell.run(&["open", &url]).good().took);
        let folder = shell.folder().display().to_string();
        let (daemon, at) = (shell.daemon(), now());
        kill(daemon);
        let none = || browsers_below(&folder).is_empty().then(now).ok_or(());
        gone.push(eventually(LONG, none).expect("the browser ends with its daemon") - at);
        next.push(shell.run(&["runs"]).good().took);
        let (started, answered) = race();
        daemons.push(started);
        answers.push(answered);
    }
    table.times("cold start: first `open` (daemon, browser, page)", None, &first);
    table.times("then: `open` of the same page", None, &warm);
    table.times("daemon killed: its browser is gone", Some(GONE), &gone);
    table.times("daemon killed: next command", None, &next);
    table.values("20 commands race on a cold start: daemons", "", Some(1.0), &daemons);
    let missing: Vec<_> = answers.iter().map(|answers| RACING as f64 - answers).collect();
    table.values("20 commands race on a cold start: not answered", "", Some(0.0), &missing);
}

/// Lets commands race; returns how many daemons came to serve, and how many commands were answered.
fn race() -> (f64, f64) {
    let shell = Shell::new();
    let started: Vec<_> = (0..RACING).map(|_| shell.start(&["runs"])).collect();
    let answered = started.into_iter().map(|it| it.wait()).filter(|done| done.exit == 0).count();
    let log = std::fs::read_to_string(shell.home().join("daemon.log")).unwrap_or_default();
    (log.matches(" serving ").count() as f64, answered as f64)
}

pub fn measure_tabs(table: &mut Table, rounds: usize) {
    let (mut open, mut closed, mut again, mut left) = (vec![], vec![], vec![], vec![]);
    for _ in 0..rounds {
        let stage = Stage::new();
        stage.tab("mail", "/");
        tab_costs(&stage, 3);
        let daemon = stage.shell.daemon();
        let before = resident(daemon);
        let each = |bytes: u64| bytes as f64 / 1024.0 / TABS as f64;
        open.push(each(tab_costs(&stage, TABS)));
        let after = resident(daemon);
        closed.push(each(after.saturating_sub(before)));
        tab_costs(&stage, TABS);
        again.push(each(resident(daemon).saturating_sub(after)));
        let pages = stage.shell.devtools().pages().len() - 1;
        let actors = stage.shell.actors();
        let tabs = actors
            .iter()
            .filter(|it| it["name"].as_str().is_some_and(|it| it.starts_with("tab t")));
        left.push((pages + tabs.count() - 1) as f64);
    }
    table.values("50 tabs: the daemon grew by, for each open one", "KiB", Some(KIB), &open);
    table.values("50 tabs: and once they are closed", "KiB", Some(KIB), &closed);
    table.values("50 tabs more: once they are closed too", "KiB", Some(KIB), &again);
    table.values("50 tabs: pages and actors left of them", "", Some(0.0), &left);
}
