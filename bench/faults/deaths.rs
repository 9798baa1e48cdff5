//! What dies under a tab: until the pending command is answered, until the tab works again.
use std::time::Duration;

use crate::support::kept::Kept;
use crate::support::shell::eventually;
use crate::support::struck::{Fault, Hammer, Hammered, LONG, NEVER, Stage, usable};
use crate::table::Table;

/// Until a tab works again after its process died, without its page's load; and after the browser's.
const TAB_BACK: u64 = 300;
const ALL_BACK: u64 = 1500;
const ANSWERED: u64 = 500;

#[derive(Default)]
struct Times {
    answered: Vec<Duration>,
    usable: Vec<Duration>,
    load: Vec<Duration>,
    beside: Hammered,
}

pub fn measure(table: &mut Table, rounds: usize) {
    let stage = Stage::new();
    let all =
        ["shop", "mail", "news"].map(|site| (stage.tab(site, "/"), stage.practice.url(site, "/")));
    let (tab, mail) = (&all[0].0, &all[1].0);
    let mut failed = 0;
    for (fault, what) in
        [(Fault::RendererKilled, "page process killed"), (Fault::PageCrashed, "page crashed")]
    {
        let mut times = Times::default();
        (0..rounds).for_each(|_| one(&stage, fault, tab, (&all[..1], Some(mail)), &mut times));
        told(table, what, &times, TAB_BACK);
        failed += times.beside.failed.len();
    }
    let mut closed = Times::default();
    for _ in 0..rounds {
        let victim = stage.tab("test", "/t/blank");
        one(&stage, Fault::TargetClosed, &victim, (&[], Some(mail)), &mut closed);
    }
    table.times("tab closed by another client: pending answered", Some(ANSWERED), &closed.answered);
    failed += closed.beside.failed.len();
    table.values("failed calls on other tabs, all rounds", "", Some(0.0), &[failed as f64]);

    let mut times = Times::default();
    for _ in 0..rounds {
        one(&stage, Fault::BrowserKilled, tab, (&all, None), &mut times);
    }
    told(table, "browser killed", &times, ALL_BACK);
}

fn told(table: &mut Table, what: &str, times: &Times, goal: u64) {
    table.times(&format!("{what}: pending answered"), Some(ANSWERED), &times.answered);
    table.times(&format!("{what}: usable again"), None, &times.usable);
    table.times(&format!("{what}: the page's load in a live tab"), None, &times.load);
    let net: Vec<_> =
        times.usable.iter().zip(&times.load).map(|(all, load)| all.saturating_sub(*load)).collect();
    table.times(&format!("{what}: usable again, without the load"), Some(goal), &net);
    if let Some(slowest) = times.beside.took.iter().max() {
        table.times(&format!("{what}: slowest call on another tab"), None, &[*slowest]);
    }
}

fn one(
    stage: &Stage,
    fault: Fault,
    tab: &str,
    (back, beside): (&[(String, String)], Option<&str>),
    times: &mut Times,
) {
    let shell = &stage.shell;
    let mut kept = shell.keep();
    // What the page takes to load in a process that runs already, and nothing else.
    let url = shell.tab(tab)["url"].as_str().map(str::to_owned).expect("a tab has a URL");
    kept.run(&["open", &url, "--tab", tab]).good();
    let loaded = load(&mut kept, tab);
    let mut victim = stage.victim(tab);
    let before = restarts(stage, fault, tab);
    let hammer = beside.map(|beside| Hammer::on(shell, beside));
    let struck = fault.strike_during(shell, &mut victim, Some(&NEVER));
    let back: Vec<_> =
        back.iter().map(|(tab, url)| usable(&mut kept, tab, url) - struck.at).collect();
    let (done, answered) = struck.pending.expect("a command was under way");
    assert_eq!(done.word(), fault.word(), "{done:?}");
    times.answered.push(answered);
    if let Some(last) = back.iter().max() {
        times.usable.push(*last);
        times.load.push(loaded);
        assert!(restarts(stage, fault, tab) > before, "nothing was started again");
    }
    if let Some(Hammered { took, failed }) = hammer.map(Hammer::stop) {
        times.beside.took.extend(took);
        times.beside.failed.extend(failed);
    }
}

fn restarts(stage: &Stage, fault: Fault, tab: &str) -> u64 {
    let name = match fault {
        Fault::BrowserKilled => "browser of default".to_owned(),
        _ => format!("tab t{tab}"),
    };
    stage.shell.actor(&name)["restarts"].as_u64().unwrap_or_default()
}

/// How long the page that is shown took to load, by the browser's own clock.
fn load(kept: &mut Kept, tab: &str) -> Duration {
    let script = "performance.getEntriesByType('navigation')[0]?.duration ?? 0";
    let loaded = eventually(LONG, || {
        let done = kept.run(&["eval", script, "--tab", tab]);
        let millis = done.data("value").as_f64().filter(|millis| *millis > 0.0);
        millis.map(|millis| Duration::from_secs_f64(millis / 1e3)).ok_or_else(|| Box::new(done))
    });
    loaded.unwrap_or_else(|done| panic!("the page does not load: {done:?}"))
}
