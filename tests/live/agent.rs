//! The agent's tools on real pages: what each does, what the model is told, and what is left behind.
use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use strawmanus::practice::model::ModelService;
use strawmanus::practice::server::{Options, Practice};

use crate::support::shell::{Done, Shell, eventually};

fn practice() -> Practice {
    Practice::start(Options { ports: 2 }).unwrap()
}

fn call(tool: &str, args: Value) -> Value {
    json!({ "tool": tool, "args": args })
}

fn named(role: &str, name: &str) -> Value {
    json!({ "role": role, "name": name })
}

/// Plays a script to its end.
fn play(shell: &Shell, flags: &[&str], calls: &[Value]) -> Done {
    let text: String = calls.iter().map(|call| format!("{call}\n")).collect();
    fs::write(shell.folder().join("play.jsonl"), text).unwrap();
    shell.run(&[&["run", "Try every tool", "--model", "script:play.jsonl"], flags].concat())
}

fn left(done: &Done, name: &str) -> String {
    let folder = done.data("folder").as_str().unwrap_or_else(|| panic!("{done:#?}"));
    fs::read_to_string(format!("{folder}/{name}")).unwrap()
}

/// Each step's outcome, with its lines.
fn steps(done: &Done) -> Vec<(String, String)> {
    let trace: Value = serde_json::from_str(&left(done, "trace.json")).unwrap();
    let step = |step: &Value| {
        let lines = step["delta"].as_array().unwrap().iter();
        let lines: Vec<_> = lines.map(|line| line.as_str().unwrap()).collect();
        (step["outcome"].as_str().unwrap_or("none").to_owned(), lines.join("\n"))
    };
    trace["steps"].as_array().unwrap().iter().map(step).collect()
}

#[test]
fn every_tool_works_on_real_pages() {
    let (practice, shell) = (practice(), Shell::new());
    let at = |page: &str| practice.url("test", &format!("/t/{page}"));
    let (shop, mail) = (practice.url("shop", "/"), practice.url("mail", "/"));
    let calls = [
        ("navigated", call("browser_navigate", json!({ "url": at("console") }))),
        ("listed", call("browser_console_view", json!({ "max_lines": 20 }))),
        ("navigated", call("browser_navigate", json!({ "url": at("fields") }))),
        (
            "changed",
            call(
                "browser_select_option",
                json!({ "index": named("combobox", "Choice"), "option": 1 }),
            ),
        ),
        ("no_effect", call("browser_console_exec", json!({ "javascript": "document.title" }))),
        ("navigated", call("browser_navigate", json!({ "url": shop }))),
        ("found", call("browser_find", json!({ "description": "the search field" }))),
        (
            "navigated",
            call(
                "browser_find",
                json!({ "description": "search field", "action": "input", "text": "desk lamp", "press_enter": true }),
            ),
        ),
        ("extracted", call("browser_extract", json!({ "query": "price of the heron lamp" }))),
        ("no_effect", call("browser_move_mouse", json!({ "coordinate_x": 5, "coordinate_y": 5 }))),
        ("pictured", call("browser_screenshot", json!({ "marks": true }))),
        ("new_tab", call("browser_tabs", json!({ "action": "new" }))),
        ("navigated", call("browser_navigate", json!({ "url": mail }))),
        ("listed", call("browser_tabs", json!({ "action": "list" }))),
        ("changed", call("browser_tabs", json!({ "action": "close" }))),
        (
            "recorded",
            call(
                "record_fact",
                json!({ "claim": "The shop has a desk lamp", "entity": "Shop", "attribute": "lamp",
                        "value": "Heron", "url": practice.url("shop", "/search?q=desk+lamp") }),
            ),
        ),
        ("written", call("file_write", json!({ "path": "lamps.md", "text": "Heron" }))),
        ("navigated", call("browser_restart", json!({ "url": shop }))),
        ("refused", call("browser_takeover", json!({ "reason": "a human check" }))),
        ("finished", call("finish", json!({ "answer": "All tried.", "autonomy": 5 }))),
    ];
    let script: Vec<_> = calls.iter().map(|(_, call)| call.clone()).collect();
    let done = play(&shell, &[], &script).good();
    let steps = steps(&done);
    for (at, (outcome, call)) in calls.iter().enumerate() {
        assert_eq!(steps.get(at).map(|step| step.0.as_str()), Some(*outcome), "{call}: {steps:#?}");
    }
    assert!(steps[3].1.contains("Choice"), "{}", steps[3].1);
    assert!(steps[8].1.contains("Heron"), "{}", steps[8].1);
    let report = left(&done, "report.md");
    assert!(report.contains("| Shop | Heron |"), "{report}");
    assert_eq!(left(&done, "files/lamps.md"), "Heron");
    let folder = done.data("folder").as_str().unwrap();
    let pictures = fs::read_dir(format!("{folder}/screenshots")).unwrap().count();
    assert_eq!(pictures, 1);
}

/// Writes a message, tries to send it, and finishes.
fn letter(practice: &Practice) -> Vec<Value> {
    let compose = practice.url("mail", "/compose");
    let fill = |name: &str, text: &str| {
        let args = json!({ "index": named("textbox", name), "text": text, "press_enter": false });
        call("browser_input", args)
    };
    vec![
        call("browser_navigate", json!({ "url": compose })),
        fill("To", "ada@example.org"),
        fill("Subject", "The lamp"),
        fill("Body", "It is the Heron."),
        call("browser_click", json!({ "index": named("button", "Send") })),
        call("finish", json!({ "answer": "Written." })),
    ]
}

#[test]
fn an_act_is_approved_after_its_run_is_over() {
    let (practice, shell) = (practice(), Shell::new());
    let held = play(&shell, &["--on-hold", "skip"], &letter(&practice));
    assert_eq!(held.exit, 3, "{held:#?}");
    assert_eq!(practice.count("POST", "/send"), 0);
    let id = held.data("held")[0]["id"].as_str().unwrap().to_owned();
    // Its page is kept, and is the person's now.
    let tabs = shell.run(&["tab", "list"]).good();
    assert_eq!(tabs.data("tabs").as_array().unwrap().len(), 1, "{tabs:#?}");
    shell.run(&["approve", &id]).good();
    assert_eq!(practice.count("POST", "/send"), 1);
    let again = shell.run(&["approve", &id]);
    assert_eq!((again.exit, practice.count("POST", "/send")), (1, 1), "{again:#?}");
}

#[test]
fn a_waiting_run_goes_on_when_another_shell_decides() {
    for (word, exit, sent) in [("approve", 0, 1), ("deny", 3, 0)] {
        let (practice, shell) = (practice(), Shell::new());
        let text: String = letter(&practice).iter().map(|call| format!("{call}\n")).collect();
        fs::write(shell.folder().join("letter.jsonl"), text).unwrap();
        let model = ["--model", "script:letter.jsonl", "--on-hold", "wait=2m"];
        let run = shell.start(&[&["run", "Write to Ada"], &model[..]].concat());
        let id = eventually(Duration::from_secs(30), || {
            let waiting = shell.run(&["approve"]).good();
            let id = waiting.data("holds")[0]["id"].as_str().map(str::to_owned);
            id.ok_or(waiting.out)
        });
        assert_eq!(practice.count("POST", "/send"), 0);
        shell.run(&[word, &id.unwrap()]).good();
        let ended = run.wait();
        assert_eq!((ended.exit, practice.count("POST", "/send")), (exit, sent), "{ended:#?}");
        assert!(shell.run(&["tab", "list"]).good().data("tabs").as_array().unwrap().is_empty());
    }
}

#[test]
fn places_from_nowhere_are_not_opened() {
    let (practice, shell) = (practice(), Shell::new().with("ANTHROPIC_API_KEY", "none"));
    let shop = practice.url("shop", "/");
    let foreign = practice.url_at(1, "frames.localhost", "/");
    let go = |url: &str| call("browser_navigate", json!({ "url": url }));
    let calls = [
        go(&shop),
        go(&practice.url("shop", "/admin/orders")),
        go(&foreign),
        call("browser_tabs", json!({ "action": "new", "url": foreign })),
        call("browser_restart", json!({ "url": foreign })),
        // A link that the page really has.
        go(&practice.url("shop", "/cart")),
        call("finish", json!({ "answer": "Seen." })),
    ];
    let text: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let service = ModelService::start(&text).unwrap();
    let task = format!("Look at {shop}");
    let words = ["run", &task, "--base-url", &service.anthropic(), "--model", "claude-test"];
    let done = shell.run(&words).good();
    let outcomes: Vec<_> = steps(&done).into_iter().map(|(outcome, _)| outcome).collect();
    let refused = ["refused"; 4];
    let expected = [&["navigated"][..], &refused, &["navigated", "finished"]].concat();
    assert_eq!(outcomes, expected, "{done:#?}");
    assert_eq!(practice.count("GET", "/admin/orders"), 0);
    let strayed = practice.ledger().iter().any(|asked| asked.host.starts_with("frames."));
    assert!(!strayed, "{:#?}", practice.ledger());
}
