//! The same in the middle of a run: it ends well, says what was started again, and did nothing twice.
use serde_json::{Value, json};

use crate::support::shell::{Done, Started, eventually};
use crate::support::struck::{Fault, Hammer, LONG, Stage, Victim};

/// Where a run can be struck in the middle of a step: a page, and the hold that it waits at. A page
/// that is on its way to another cannot be crashed, so that is done while a picture is missing,
/// which no step waits for longer than a second: everything must be prepared before.
fn place(fault: Fault) -> (&'static str, &'static str) {
    match fault {
        Fault::PageCrashed => ("/t/slow-subresource", "slow-subresource"),
        Fault::RendererKilled => ("/t/hold-document?name=killed", "killed"),
        Fault::TargetClosed => ("/t/hold-document?name=closed", "closed"),
        Fault::BrowserKilled => ("/t/hold-document?name=browser", "browser"),
    }
}

#[test]
fn a_run_goes_on_after_its_tabs_process_is_killed() {
    goes_on(Fault::RendererKilled, "tab");
}

#[test]
fn a_run_goes_on_after_its_tabs_page_is_crashed() {
    goes_on(Fault::PageCrashed, "tab");
}

#[test]
fn a_run_goes_on_after_its_tab_is_closed_by_somebody() {
    goes_on(Fault::TargetClosed, "tab");
}

#[test]
fn a_run_goes_on_after_its_browser_is_killed() {
    goes_on(Fault::BrowserKilled, "browser");
}

/// Where a fault that must be quick is prepared.
const BEFORE: (&str, &str) = ("/t/hold-document?name=before", "before");

fn goes_on(fault: Fault, what: &str) {
    let stage = Stage::new();
    let mail = stage.tab("mail", "/");
    let other = stage.victim(&mail);
    let run = begin(&stage, &[fault]);
    let hammer = (fault != Fault::BrowserKilled).then(|| Hammer::on(&stage.shell, &mail));
    strike(&stage, fault, 1, &[other]);
    let_go(&stage, fault);
    let done = ends_well(run);
    if let Some(hammered) = hammer.map(Hammer::stop) {
        assert!(hammered.failed.is_empty(), "{:?}", hammered.failed);
    }
    assert_eq!(*done.data("restarts"), json!({ what: 1 }), "{done:?}");
    let report = std::fs::read_to_string(done.data("report").as_str().unwrap()).unwrap();
    assert!(report.contains(&format!("- Restarts: 1 ({what} 1)")), "{report}");
    assert_eq!(stage.practice.count("POST", "/cart"), 1);
    assert_eq!(stage.practice.count("POST", "/t/post-form"), 1);
    // What the run opened went with it; the shell's tab is as it was.
    let pages = stage.shell.devtools().pages();
    assert_eq!(pages.len(), 1, "{pages:?}");
    assert!(pages[0].0.contains("//mail."), "{pages:?}");
}

#[test]
fn a_run_survives_one_death_after_another() {
    let stage = Stage::new();
    let faults =
        [Fault::RendererKilled, Fault::BrowserKilled, Fault::PageCrashed, Fault::TargetClosed];
    let run = begin(&stage, &faults);
    for fault in faults {
        strike(&stage, fault, 1, &[]);
        let_go(&stage, fault);
    }
    let done = ends_well(run);
    assert_eq!(*done.data("restarts"), json!({ "browser": 1, "tab": 3 }), "{done:?}");
    assert_eq!(stage.practice.count("POST", "/cart"), 1);
    assert_eq!(stage.practice.count("POST", "/t/post-form"), 1);
}

#[test]
fn a_run_whose_tab_is_closed_again_and_again_ends_with_a_report() {
    let stage = Stage::new();
    let fault = Fault::TargetClosed;
    let run = begin(&stage, &[fault, fault]);
    for time in 1..=2 {
        strike(&stage, fault, time, &[]);
    }
    let done = run.wait();
    assert_eq!((done.exit, done.word()), (1, "blocked"), "{done:?}");
    assert_eq!(*done.data("restarts"), json!({ "tab": 1 }), "{done:?}");
    let report = std::fs::read_to_string(done.data("report").as_str().unwrap()).unwrap();
    assert!(report.trim_end().lines().last().unwrap().contains("Blocked"), "{report}");
    assert_eq!(stage.practice.count("POST", "/cart"), 1);
}

/// Begins a run that posts twice, and then comes to where each of the faults is to strike.
fn begin(stage: &Stage, faults: &[Fault]) -> Started {
    let url = |site: &str, path: &str| stage.practice.url(site, path);
    let go = |url: String| json!({ "tool": "browser_navigate", "args": { "url": url } });
    let press = |name: &str| {
        let index = json!({ "role": "button", "name": name });
        json!({ "tool": "browser_click", "args": { "index": index } })
    };
    let mut steps = vec![
        go(url("shop", "/products/heron-desk-lamp")),
        press("Add to cart"),
        go(url("test", "/t/post-form")),
        press("Submit form"),
        go(url("test", "/t/blank")),
    ];
    for fault in faults {
        if *fault == Fault::PageCrashed {
            steps.push(go(url("test", BEFORE.0)));
        }
        steps.push(go(url("test", place(*fault).0)));
        steps.push(go(url("test", "/t/hold-document?name=after")));
    }
    steps.push(json!({ "tool": "finish", "args": { "answer": "all done" } }));
    let script = steps.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    std::fs::write(stage.shell.folder().join("script.jsonl"), script).unwrap();
    let model = ["run", "practise", "--model", "script:script.jsonl"];
    stage.shell.start(&[&model[..], &["--auto-approve", "--allow", "test.localhost"]].concat())
}

/// Strikes in the middle of the run's step, for the `time`th time.
fn strike(stage: &Stage, fault: Fault, time: usize, others: &[Victim]) {
    let here = place(fault);
    let mut victim = if fault == Fault::PageCrashed {
        reach(stage, BEFORE, time);
        let victim = stage.victim_at(BEFORE.0, others);
        stage.practice.release(BEFORE.1);
        reach(stage, here, time);
        victim
    } else {
        reach(stage, here, time);
        stage.victim_at(here.0, others)
    };
    fault.strike(&mut victim);
}

/// Waits until the run is in the middle of its step, for the `time`th time.
fn reach(stage: &Stage, (path, hold): (&str, &str), time: usize) {
    let reached = eventually(LONG, || {
        let ledger = stage.practice.ledger();
        let asked = ledger.iter().filter(|row| {
            path.ends_with(&format!("?{}", row.query)) || row.path == format!("/__hold/{hold}")
        });
        if asked.count() >= time { Ok(()) } else { Err(()) }
    });
    if reached.is_err() {
        panic!("{path} was not reached: {:#?}", stage.shell.run(&["logs", "1"]));
    }
}

/// Lets the step end; the one after it waits until the tab was started again.
fn let_go(stage: &Stage, fault: Fault) {
    stage.practice.release(place(fault).1);
    let seen = eventually(LONG, || {
        let actors = stage.shell.actors();
        let again = |card: &Value| {
            let name = card["name"].as_str().unwrap_or_default();
            let dies = if fault == Fault::BrowserKilled { "browser of" } else { "tab t" };
            name.starts_with(dies) && card["restarts"].as_u64() > Some(0)
        };
        if actors.iter().any(again) { Ok(()) } else { Err(actors) }
    });
    seen.unwrap_or_else(|actors| panic!("nothing was started again: {actors:#?}"));
    stage.practice.release("after");
}

fn ends_well(run: Started) -> Done {
    let done = run.wait();
    assert_eq!((done.exit, done.word()), (0, "complete"), "{done:#?}");
    assert_eq!(*done.data("answer"), "all done");
    done
}
