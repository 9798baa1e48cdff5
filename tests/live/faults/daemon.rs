//! The daemon is killed in the middle of a run.
use std::time::Duration;

use serde_json::json;

use crate::support::processes::{browsers_below, kill};
use crate::support::shell::eventually;
use crate::support::struck::{LONG, Stage};

/// Ten times what the browser may outlive its daemon by.
const GONE: Duration = Duration::from_secs(10);

#[test]
fn a_killed_daemon_leaves_no_browser_and_its_run_is_seen_as_interrupted() {
    let stage = Stage::new();
    let shell = &stage.shell;
    shell.run(&["open", &stage.practice.url("shop", "/")]).good();
    let go = |path: &str| {
        let url = stage.practice.url("test", path);
        json!({ "tool": "browser_navigate", "args": { "url": url } }).to_string()
    };
    let finish = json!({ "tool": "finish", "args": { "answer": "never" } }).to_string();
    let script = [go("/t/blank"), go("/t/hold-document?name=step"), finish].join("\n");
    std::fs::write(shell.folder().join("script.jsonl"), script).unwrap();
    let run = shell.start(&["run", "practise", "--model", "script:script.jsonl"]);
    let reached = eventually(LONG, || match stage.practice.waiting("step") {
        0 => Err(()),
        _ => Ok(()),
    });
    assert!(reached.is_ok(), "{:#?}", shell.run(&["logs", "1"]));

    let (folder, daemon) = (shell.folder().display().to_string(), shell.daemon());
    assert!(!browsers_below(&folder).is_empty());
    kill(daemon);
    let gone = eventually(GONE, || {
        let left = browsers_below(&folder);
        if left.is_empty() { Ok(()) } else { Err(left) }
    });
    gone.unwrap_or_else(|left| panic!("left: {left:?}"));
    let done = run.wait();
    assert_eq!((done.exit, done.word()), (1, "in_doubt"), "{done:?}");

    // The next daemon opens the store, and says so if anything was lost.
    let runs = shell.run(&["runs"]).good();
    assert_eq!(runs.json["warnings"], json!([]), "{runs:?}");
    assert_ne!(shell.daemon(), daemon);
    let [row] = &runs.data("runs").as_array().unwrap()[..] else { panic!("{runs:?}") };
    assert_eq!((&row["id"], &row["state"]), (&json!("r1"), &json!("interrupted")));
    let logs = shell.run(&["logs", "1"]).good();
    let entries = logs.data("entries").to_string();
    assert!(entries.contains("/t/hold-document"), "{entries}");
    // The same profile, whose lock the dead browser left.
    shell.run(&["open", &stage.practice.url("shop", "/")]).good();
    assert_eq!(shell.run(&["eval", "1 + 1"]).good().data("value"), 2);
}
