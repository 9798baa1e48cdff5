//! `demo`: both plays, the kills of the second, and what is left of them.
use std::fs;

use crate::support::processes::processes_with;
use crate::support::shell::Shell;
use crate::verbs::keys::must_fit;

#[test]
fn the_demo_plays_both_runs_and_says_where_their_reports_are() {
    let shell = Shell::new();
    let done = shell.run(&["demo"]).good();
    must_fit("demo", &done);
    assert_eq!(done.data("faults").as_array().unwrap().len(), 0, "{done:#?}");
    for play in ["first", "second"] {
        let run = done.data(play);
        assert_eq!(run["status"], "Partial", "{run}");
        assert_eq!(run["held"].as_array().unwrap().len(), 1, "{run}");
        let report = fs::read_to_string(run["report"].as_str().unwrap()).unwrap();
        let last = report.lines().last().unwrap();
        assert!(
            last.starts_with("**Status:** Partial | **Entities Found:** n/a | **Duration:** "),
            "{report}"
        );
        assert!(report.contains("## Held for approval (not performed)"), "{report}");
    }
    assert!(done.data("first")["restarts"].as_object().unwrap().is_empty());
    let restarts = &done.data("second")["restarts"];
    assert!(
        restarts["tab"].as_u64() >= Some(1) && restarts["browser"].as_u64() >= Some(1),
        "{restarts}"
    );
    let browsers = processes_with(&shell.home().join("profiles/demo").display().to_string());
    assert!(browsers.is_empty(), "{browsers:?}");
}
