//! Runs as scripts and people begin them: how they end, what they leave, and who may stop them.
use std::fs;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use strawmanus::practice::model::ModelService;
use strawmanus::practice::server::{Options, Practice};

use crate::support::shell::{Done, Shell, eventually};
use crate::support::transcript::Transcript;
use crate::verbs::files_with;
use crate::verbs::keys::must_fit;

fn practice() -> Practice {
    Practice::start(Options { ports: 2 }).unwrap()
}

fn navigate(url: &str) -> Value {
    json!({ "tool": "browser_navigate", "args": { "url": url } })
}

fn click(role: &str, name: &str) -> Value {
    json!({ "tool": "browser_click", "args": { "index": { "role": role, "name": name } } })
}

fn input(name: &str, text: &str) -> Value {
    let index = json!({ "role": "textbox", "name": name });
    let args = json!({ "index": index, "text": text, "press_enter": false });
    json!({ "tool": "browser_input", "args": args })
}

fn finish(answer: &str) -> Value {
    json!({ "tool": "finish", "args": { "answer": answer } })
}

/// Writes a script into the shell's folder, and returns how `--model` names it.
fn script(shell: &Shell, name: &str, calls: &[Value]) -> String {
    let text: String = calls.iter().map(|call| format!("{call}\n")).collect();
    fs::write(shell.folder().join(name), text).unwrap();
    format!("script:{name}")
}

/// Reads a file of a run's folder.
fn left(done: &Done, name: &str) -> String {
    let folder = done.data("folder").as_str().unwrap_or_else(|| panic!("{done:#?}"));
    fs::read_to_string(format!("{folder}/{name}")).unwrap()
}

#[test]
fn what_cannot_be_taken_back_is_done_once_where_it_is_allowed() {
    let (practice, shell) = (practice(), Shell::new());
    let calls = [
        navigate(&practice.url("mail", "/compose")),
        input("To", "ada@example.org"),
        input("Subject", "The lamp"),
        click("button", "Send"),
        finish("The message is written."),
    ];
    let model = script(&shell, "send.jsonl", &calls);
    let mut seen = Transcript::new(&shell);
    let words = ["run", "Write to Ada about the lamp", "--model", &model];
    assert_eq!(seen.run(&words).exit, 3);
    let held = shell.run(&words);
    assert_eq!((held.exit, held.word()), (3, "partial"), "{held:#?}");
    assert_eq!(held.json["error"]["kind"], "held");
    assert_eq!(held.data("held")[0]["what"], "click button \"Send\"");
    for others in ["other.localhost", "localhost.example", "l.localhost,notmail.localhost"] {
        let allowed = [&words[..], &["--auto-approve", "--allow", others]].concat();
        assert_eq!(shell.run(&allowed).exit, 3, "{others}");
    }
    assert_eq!(practice.count("POST", "/send"), 0);
    let allowed = [&words[..], &["--auto-approve", "--allow", "mail.localhost"]].concat();
    let sent = shell.run(&allowed).good();
    assert_eq!(practice.count("POST", "/send"), 1);
    assert_eq!(sent.data("status"), "Complete");
    seen.run(&["runs"]);
    seen.run(&["logs", "r1"]);
    let report = |done: &Done| seen.redacted(&left(done, "report.md"));
    insta::assert_snapshot!("a_report_of_held_acts", report(&held));
    insta::assert_snapshot!("a_report_of_a_run_that_sent", report(&sent));

    let guard: Value = serde_json::from_str(&left(&held, "guard.json")).unwrap();
    let decisions = guard["decisions"].as_array().unwrap();
    assert_eq!(decisions.last().unwrap()["verdict"], "held", "{guard:#}");
    assert_eq!(decisions.last().unwrap()["class"], "irreversible");
    let guard: Value = serde_json::from_str(&left(&sent, "guard.json")).unwrap();
    assert_eq!(guard["decisions"].as_array().unwrap().last().unwrap()["verdict"], "allowed");
    let trace: Value = serde_json::from_str(&left(&held, "trace.json")).unwrap();
    assert_eq!(trace["steps"].as_array().unwrap().len(), 5, "{trace:#}");
    assert_eq!((&trace["exit_code"], &trace["task"]), (&json!(3), &json!(words[1])));
    assert_eq!(left(&held, "script.jsonl").lines().count(), 5);
    insta::assert_snapshot!("held_acts_as_a_person_sees_them", seen.text());
}

#[test]
fn a_run_that_cannot_be_done_says_why() {
    let (practice, shell) = (practice(), Shell::new());
    let mut seen = Transcript::new(&shell);
    let mail = practice.url("mail", "/");
    let works = script(&shell, "works.jsonl", &[navigate(&mail), finish("There is mail.")]);
    let over = script(&shell, "over.jsonl", &[navigate(&mail)]);
    let wrong: Vec<_> = (0..9).map(|n| click("button", &format!("Nowhere {n}"))).collect();
    let wrong = script(&shell, "wrong.jsonl", &wrong);
    let gap =
        json!({ "tool": "finish", "args": { "answer": "Half.", "incomplete_reason": "no price" } });
    let gap = script(&shell, "gap.jsonl", &[navigate(&mail), gap]);
    for (name, line, exit) in [
        ("it works", vec!["--model", &works], 0),
        (
            "where it begins cannot be reached",
            vec!["--model", &works, "--url", "nosuch.invalid"],
            1,
        ),
        ("the script is over", vec!["--model", &over], 1),
        ("errors in a row", vec!["--model", &wrong, "--url", &mail], 1),
        ("too many steps", vec!["--model", &works, "--max-steps", "1"], 1),
        ("said to be incomplete", vec!["--model", &gap], 1),
    ] {
        seen.say(name);
        let done = seen.run(&[&["run", "Look for mail"], &line[..]].concat());
        assert_eq!(done.exit, exit, "{name}: {done:#?}");
    }
    seen.run(&["runs"]);
    let quiet = shell.plain(&["run", "Look", "--model", &works, "-q"]);
    assert_eq!(quiet.err, "");
    assert!(quiet.out.starts_with("There is mail.\n"), "{quiet:#?}");
    assert!(shell.run(&["tab", "list"]).good().data("tabs").as_array().unwrap().is_empty());
    insta::assert_snapshot!(seen.text());
}

#[test]
fn runs_go_on_side_by_side_and_end_when_told() {
    let (practice, shell) = (practice(), Shell::new());
    let held = |name: &str| practice.url("test", &format!("/t/hold-document?name={name}"));
    let waits = |name: &str, many| {
        let look =
            || if practice.waiting(name) == many { Ok(()) } else { Err(practice.waiting(name)) };
        eventually(Duration::from_secs(20), look).unwrap();
    };
    // Two names: Chromium makes a second request for one address wait for the first.
    let models = ["one", "two"].map(|name| {
        script(&shell, &format!("{name}.jsonl"), &[navigate(&held(name)), finish("Both.")])
    });
    let started = models.map(|model| shell.start(&["run", "Wait", "--model", &model]));
    waits("one", 1);
    waits("two", 1);
    let tabs = shell.run(&["tab", "list"]).good();
    let owners: Vec<_> =
        tabs.data("tabs").as_array().unwrap().iter().map(|tab| &tab["run"]).collect();
    assert!(owners.contains(&&json!("r1")) && owners.contains(&&json!("r2")), "{tabs:#?}");
    // A shell works beside them.
    shell.run(&["open", &practice.url("test", "/t/blank")]).good();
    let busy = shell.run(&["close"]);
    assert_eq!(busy.exit, 2, "{busy:#?}");
    practice.release("one");
    practice.release("two");
    for run in started {
        assert_eq!(run.wait().good().data("answer"), "Both.");
    }

    let stuck = script(&shell, "stuck.jsonl", &[navigate(&held("stuck")), finish("Never.")]);
    let run = shell.start(&["run", "Wait", "--model", &stuck]);
    waits("stuck", 1);
    let stopped = shell.run(&["stop", "r3"]).good();
    must_fit("stop", &stopped);
    let ended = run.wait();
    assert_eq!((ended.exit, ended.word()), (1, "partial"), "{ended:#?}");
    assert_eq!(ended.data("why"), "stopped by a person");
    assert!(left(&ended, "report.md").contains("stopped by a person"));
    let again = shell.run(&["stop", "r3"]);
    assert_eq!((again.exit, again.word()), (1, "refused"), "{again:#?}");
    let late = shell.run(&["reply", "r3", "The blue one"]);
    assert_eq!((late.exit, late.word()), (1, "refused"), "{late:#?}");

    waits("stuck", 0);
    let run = shell.start(&["run", "Wait", "--model", &stuck]);
    waits("stuck", 1);
    kill(Pid::from_raw(i32::try_from(run.pid()).unwrap()), Signal::SIGINT).unwrap();
    let ended = run.wait();
    assert_eq!((ended.exit, ended.word()), (1, "partial"), "with its report: {ended:#?}");
    assert_eq!(ended.data("why"), "stopped by a person");

    waits("stuck", 0);
    let run = shell.start(&["run", "Wait", "--model", &stuck]);
    waits("stuck", 1);
    kill(Pid::from_raw(i32::try_from(run.pid()).unwrap()), Signal::SIGTERM).unwrap();
    assert_ne!(run.wait().exit, 0);
    let row = eventually(Duration::from_secs(10), || {
        let rows = shell.run(&["runs"]).good();
        let row = rows.data("runs")[0].clone();
        if row["state"] == "running" { Err(row) } else { Ok(row) }
    });
    let row = row.unwrap();
    assert_eq!((&row["id"], &row["state"]), (&json!("r5"), &json!("partial")), "{row}");
    let report = format!("{}/report.md", row["folder"].as_str().unwrap());
    let report = fs::read_to_string(report).unwrap();
    assert!(report.lines().last().unwrap().starts_with("**Status:** Partial |"), "{report}");
    let tabs = shell.run(&["tab", "list"]).good();
    assert_eq!(tabs.data("tabs").as_array().unwrap().len(), 1, "the shell's own: {tabs:#?}");
}

#[test]
fn a_model_behind_a_service_works_and_its_key_is_kept_nowhere() {
    const KEY: &str = "test-key-of-nobody-Zq9";
    let (practice, shell) = (practice(), Shell::new().with("ANTHROPIC_API_KEY", KEY));
    let start = practice.url("mail", "/");
    let calls = [
        navigate(&start),
        click("link", "New message"),
        input("Subject", "Hello"),
        finish("A message was begun."),
    ];
    let text: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let service = ModelService::start(&text).unwrap();
    let task = format!("Begin a message at {start}");
    let words = ["run", &task, "--base-url", &service.anthropic(), "--model", "claude-test"];
    let done = shell.run(&words).good();
    assert_eq!(done.data("answer"), "A message was begun.", "{done:#?}");
    assert_eq!(done.data("status"), "Complete");
    must_fit("run", &done);
    let report = left(&done, "report.md");
    assert!(report.contains("- Model: claude-test\n"), "{report}");
    assert!(report.contains(&format!("- Tokens: {} in", service.tokens().input)), "{report}");
    let asked = service.asked();
    assert_eq!(asked.len(), 4);
    assert!(
        asked.iter().all(|it| it.headers["x-api-key"] == KEY && it.body["model"] == "claude-test")
    );
    let last = asked[3].body["messages"].to_string();
    assert!(last.contains("tool_result") && last.contains("changed"), "{last}");
    let written = files_with(&shell.home(), KEY.as_bytes());
    assert!(written.is_empty(), "{written:?}");
    assert!(!done.out.contains(KEY));
}
