//! Every verb as a person uses it: what is shown is a snapshot, what happened is asked of the page.
use std::fs;
use std::path::Path;
use std::time::Duration;

use strawmanus::practice::server::{Options, Practice};

use crate::support::shell::{Done, Shell};
use crate::support::transcript::Transcript;

mod effects;
mod eyes;
pub mod keys;

pub fn practice() -> Practice {
    Practice::start(Options { ports: 2 }).unwrap()
}

/// Two rows with the same button, and one field for each way to name it.
const ROWS: &str = "data:text/html,<title>Rows</title>\
    <table><tr><td>Acme<td><button onclick=\"said.textContent='edit Acme'\">Edit</button>\
    <tr><td>Bolt<td><button onclick=\"said.textContent='edit Bolt'\">Edit</button></table>\
    <button id=add class=\"big primary\" onclick=\"said.textContent='added'\">Add to cart</button>\
    <a href=\"%23top\" onclick=\"said.textContent='linked'\">Order history</a>\
    <label>City <input name=city></label><input placeholder=\"Your name\"><input data-testid=code>\
    <p id=said>nothing</p>";

#[test]
fn pages_are_shown_in_each_form() {
    let (practice, shell) = (practice(), Shell::new());
    let mut seen = Transcript::new(&shell);
    let url = practice.url("test", "/t/covered");
    seen.run(&["open", &url]);
    seen.run(&["observe"]);
    seen.run(&["snapshot"]);
    seen.run(&["snapshot", "-i"]);
    seen.run(&["snapshot", "--depth", "1"]);
    seen.run(&["snapshot", "--viewport"]);
    seen.run(&["observe", "--url", &practice.url("mail", "/messages/3")]);
    let far = practice.url("test", "/t/below-fold");
    shell.run(&["open", &far]).good();
    let shown = |words: &[&str]| shell.plain(words).out.contains("Press far down");
    assert!(shown(&["snapshot"]) && !shown(&["snapshot", "--viewport"]));
    insta::assert_snapshot!(seen.text());
}

#[test]
fn an_element_is_named_in_every_way() {
    let shell = Shell::new();
    let mut seen = Transcript::new(&shell);
    shell.run(&["open", ROWS]).good();
    let number = shell.number_of("button", "Add to cart");
    let digits = number.trim_start_matches('e').to_owned();
    let said = |done: Done, words: &str| {
        assert_eq!(done.exit, 0, "{done:#?}");
        let text = shell.run(&["get", "text", "#said"]).good();
        assert_eq!(text.data("value"), words, "{done:#?}");
        shell.run(&["eval", "said.textContent = 'nothing'"]).good();
    };
    for target in [
        &number,
        &format!("@{number}"),
        &format!("ref={number}"),
        &digits,
        "Add to cart",
        "add TO cart",
        "\"Add to cart\"",
        "text=Add to cart",
        "role=button[name=\"Add to cart\"]",
        "#add",
        "button.primary",
        "css=[class~=big]",
        "xpath=//button[@id='add']",
        "//button[@id='add']",
    ] {
        said(seen.run(&["click", target]), "added");
    }
    said(seen.run(&["click", "Order history"]), "linked");
    for (line, words) in [
        (&["click", "Edit", "--in", "Acme"] as &[&str], "edit Acme"),
        (&["click", "button", "--in", "Bolt"], "edit Bolt"),
        (&["click", "Acme >> Edit"], "edit Acme"),
        (&["click", "text=\"Bolt\" >> role=button[name=\"Edit\"]"], "edit Bolt"),
        (&["click", "tr:nth-child(2) >> Edit"], "edit Bolt"),
        (&["click", "table >> tr:nth-child(1) >> button"], "edit Acme"),
    ] {
        said(seen.run(line), words);
    }
    for (target, name) in [("label=City", "city"), ("City", "city"), ("[name=city]", "city")] {
        seen.run(&["fill", target, &format!("{name} by {target}")]);
        let value = shell.run(&["get", "value", "[name=city]"]).good();
        assert_eq!(value.data("value"), &format!("{name} by {target}"));
    }
    seen.run(&["fill", "placeholder=Your name", "Ada"]);
    seen.run(&["fill", "testid=code", "42"]);
    assert_eq!(shell.run(&["get", "value", "testid=code"]).good().data("value"), "42");
    let text =
        seen.text().replace(&number, "NUMBER").replace(&format!("click {digits}\n"), "click N\n");
    insta::assert_snapshot!(text);
}

#[test]
fn every_native_field_is_filled_and_read_back() {
    let (practice, shell) = (practice(), Shell::new());
    let mut seen = Transcript::new(&shell);
    shell.run(&["open", &practice.url("test", "/t/fields")]).good();
    for (field, text, holds) in [
        ("Text", "Ada Lovelace", "Ada Lovelace"),
        ("Text", "", ""),
        ("Email", "ada@example.org", "ada@example.org"),
        ("Address", "http://a.example/", "http://a.example/"),
        ("Telephone", "+49 30 1234", "+49 30 1234"),
        ("Search", "lamp", "lamp"),
        ("Number", "12", "12"),
        ("Number", "-1.5e3", "-1.5e3"),
        ("Range", "9", "9"),
        ("Date", "2026-01-31", "2026-01-31"),
        ("Time", "14:30", "14:30"),
        ("Date and time", "2026-01-31T14:30", "2026-01-31T14:30"),
        ("Month", "2026-01", "2026-01"),
        ("Week", "2026-W05", "2026-W05"),
        ("Colour", "#ff8800", "#ff8800"),
        ("Choice", "Birch", "Birch"),
        ("Many", "East", "East"),
        ("Area", "one\ntwo", "one\ntwo"),
        ("Hinted", "가나다 ☕", "가나다 ☕"),
        ("Listed", "Beech", "Beech"),
        ("Rich text", "plain again", "plain again"),
    ] {
        let target = format!("label={field}");
        let done = seen.run(&["fill", &target, text]);
        assert_eq!(done.exit, 0, "{done:#?}");
        let value = shell.run(&["get", "value", &target]).good();
        assert_eq!(value.data("value"), holds, "{field}");
    }
    // What a field makes of it is told.
    seen.run(&["fill", "label=Range", "99"]);
    seen.run(&["fill", "label=Number", "many"]);
    seen.run(&["fill", "label=Text", "twice"]);
    seen.run(&["fill", "label=Text", "twice"]);
    seen.run(&["click", "Check"]);
    seen.run(&["click", "role=radio[name=Two]"]);
    let consent = ["--auto-approve", "--allow", "test.localhost"];
    let sent = seen.run(&[&["click", "Submit fields"], &consent[..]].concat());
    assert_eq!(sent.exit, 0, "{sent:#?}");
    let ledger = practice.ledger();
    let posted = ledger.iter().find(|row| row.path == "/t/echo").unwrap();
    for (name, value) in [
        ("email", "ada@example.org"),
        ("date", "2026-01-31"),
        ("range", "10"),
        ("color", "#ff8800"),
        ("choice", "b"),
        ("many", "East"),
        ("check", "yes"),
        ("pick", "two"),
        ("area", "one\r\ntwo"),
        ("readonly", "cannot change"),
    ] {
        assert_eq!(posted.field(name).as_deref(), Some(value), "{name}");
    }
    insta::assert_snapshot!(seen.text());
}

#[test]
fn a_password_is_shown_nowhere() {
    const SECRET: &str = "pa55-of-mine-Zq9";
    let (practice, shell) = (practice(), Shell::new());
    shell.run(&["open", &practice.url("test", "/t/fields")]).good();
    let field = shell.number_of("textbox", "Password");
    let mut said = Vec::new();
    let mut ask = |words: &[&str]| {
        said.push(shell.run(words).out);
        let plain = shell.plain(words);
        said.extend([plain.out, plain.err]);
    };
    ask(&["fill", &field, SECRET]);
    for words in [
        &["observe"] as &[&str],
        &["snapshot"],
        &["get", "value", &field],
        &["get", "attr", &field, "value"],
        &["get", "html"],
        &["get", "html", &field],
        &["get", "text"],
        &["click", &field],
        &["fill", &field, SECRET, "--press-enter"],
        &["click", "Nowhere"],
        &["attach"],
        &["logs", "r1"],
    ] {
        ask(words);
    }
    let typed = shell.run(&["eval", "document.getElementById('password')?.value ?? 'sent'"]).good();
    assert!([SECRET, "sent"].contains(&typed.data("value").as_str().unwrap()), "{typed:#?}");
    for text in said {
        assert!(!text.contains(SECRET) && !text.contains("hunter-of-newts"), "{text}");
    }
    let written = files_with(&shell.home(), SECRET.as_bytes());
    assert!(written.is_empty(), "{written:?}");
}

/// The files below a folder that hold these bytes, but for a browser's own.
pub fn files_with(folder: &Path, needle: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() && !path.ends_with("profiles") {
            found.extend(files_with(&path, needle));
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap();
            if bytes.windows(needle.len()).any(|window| window == needle) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn keys_scripts_questions_waits_and_dialogs() {
    let (practice, shell) = (practice(), Shell::new());
    let page = |name: &str| practice.url("test", &format!("/t/{name}"));
    let mut seen = Transcript::new(&shell);
    shell.run(&["open", ROWS]).good();
    seen.say("get");
    for line in [
        &["get", "title"] as &[&str],
        &["get", "url"],
        &["get", "text", "#add"],
        &["get", "text"],
        &["get", "html", "#said"],
        &["get", "count", "role=button"],
        &["get", "count", "#nosuch"],
        &["get", "attr", "#add", "class"],
        &["get", "attr", "#add", "title"],
        &["get", "value", "[name=city]"],
    ] {
        let done = seen.run(&if line[1] == "url" { vec!["get", "title"] } else { line.to_vec() });
        assert_eq!(done.exit, 0, "{done:#?}");
    }
    assert_eq!(
        shell.run(&["get", "url"]).good().data("value").as_str().unwrap().get(..9),
        Some("data:text")
    );
    let bounds = shell.run(&["get", "box", "#add"]).good();
    assert!(bounds.data("value")[2].as_f64().unwrap() > 20.0, "{bounds:#?}");
    let address = shell.plain(&["get", "cdp-url"]);
    assert!(address.out.starts_with("ws://127.0.0.1:"), "{address:#?}");
    seen.say("eval");
    for script in [
        "1 + 1",
        "document.title",
        "({ list: [1, 'two', null], deep: { yes: true } })",
        "'two\\nlines'",
        "Promise.resolve('later')",
        "undefined",
        "null",
        "NaN",
        "10n",
        "document.body",
        "() => 1",
        "-1",
    ] {
        let done = seen.run(&["eval", script]);
        assert_eq!(done.exit, 0, "{done:#?}");
    }
    let thrown = shell.run(&["eval", "throw new TypeError('boo')"]);
    assert_eq!((thrown.exit, thrown.word()), (1, "refused"), "{thrown:#?}");
    seen.say("press");
    shell.run(&["open", &practice.url("shop", "/")]).good();
    seen.run(&["press", "Tab"]);
    seen.run(&["fill", "role=searchbox", "lamp"]);
    seen.run(&["press", "Control+A"]);
    seen.run(&["press", "k"]);
    seen.run(&["press", "Enter"]);
    assert_eq!(practice.ledger().iter().filter(|row| row.query == "q=k").count(), 1);
    seen.say("wait");
    seen.run(&["wait", "--url-has", "/search"]);
    seen.run(&["wait", "--text", "Finch"]);
    seen.run(&["wait", "role=searchbox"]);
    seen.run(&["wait", "#nosuch", "--gone"]);
    shell.run(&["eval", "setTimeout(() => document.body.append('late words'), 300)"]).good();
    seen.run(&["wait", "--text", "late words", "--timeout", "10s"]);
    seen.say("dialogs");
    shell.run(&["open", &page("prompt")]).good();
    seen.run(&["click", "button"]);
    seen.run(&["observe"]);
    seen.run(&["click", "button"]);
    seen.run(&["dialog", "accept", "my words"]);
    seen.run(&["get", "text"]);
    shell.run(&["open", &page("confirm")]).good();
    seen.run(&["click", "button"]);
    seen.run(&["dialog", "dismiss"]);
    seen.run(&["dialog", "dismiss"]);
    insta::assert_snapshot!(seen.text());
}

#[test]
fn tabs_sessions_actors_and_the_end() {
    let (practice, shell) = (practice(), Shell::new());
    let mut seen = Transcript::new(&shell);
    for line in [
        &["tab", "list"] as &[&str],
        &["close"],
        &["open", &practice.url("test", "/t/blank")],
        &["tab", "new", &practice.url("shop", "/")],
        &["tab", "new"],
        &["tab", "list"],
        &["tab", "switch", "t2"],
        &["get", "title"],
        &["get", "title", "--tab", "1"],
        &["tab", "list"],
        &["tab", "close"],
        &["tab", "close", "t3"],
        &["tab", "list"],
        &["open", &practice.url("mail", "/"), "--session", "second"],
        &["tab", "list", "--session", "second"],
        &["attach"],
        &["runs"],
        &["close", "--session", "second"],
        &["tab", "list", "--session", "second"],
        &["tab", "list"],
    ] {
        let done = seen.run(line);
        assert_eq!(done.exit, 0, "{done:#?}");
    }
    let popup = practice.url("test", "/t/popup");
    shell.run(&["open", &popup]).good();
    seen.say("a page that opens another");
    let opened = shell.run(&["click", "Open popup"]).good();
    assert_eq!(opened.word(), "new_tab", "{opened:#?}");
    seen.run(&["wait", "--text", "has an opener"]);
    seen.run(&["tab", "list"]);
    seen.run(&["click", "Close this window"]);
    seen.run(&["tab", "list"]);
    shell.run(&["click", "Open popup"]).good();
    shell.run(&["eval", "window.close()"]).good();
    assert_eq!(shell.run(&["get", "url"]).good().data("value"), &popup, "back to what opened it");
    seen.say("the end");
    seen.run(&["close"]);
    seen.run(&["close", "--all"]);
    seen.run(&["close", "--all"]);
    insta::assert_snapshot!(seen.text());
}

#[test]
fn quiet_and_settings() {
    let (practice, shell) = (practice(), Shell::new());
    shell.run(&["open", &practice.url("test", "/t/effects")]).good();
    let quiet = shell.plain(&["click", "Change text", "-q"]);
    assert_eq!(
        (quiet.out.as_str(), quiet.err.as_str()),
        ("changed: click button \"Change text\"\n", "")
    );
    fs::write(shell.home().join("config.toml"), "[limits]\nsteps = 7\n").unwrap();
    fs::write(shell.folder().join(".env"), "STRAWMANUS_LIMITS__ACTION=7s\n").unwrap();
    let shown = shell.plain(&["config", "show", "--origin", "--max-minutes", "3"]);
    for (key, origin) in [
        ("limits.steps = 7 ", "config.toml"),
        ("limits.action = \"7s\" ", ".env"),
        ("limits.minutes = 3 ", "--max-minutes"),
        ("browser.headless = \"true\" ", "STRAWMANUS_BROWSER__HEADLESS"),
        ("limits.navigation = \"30s\" ", "default"),
    ] {
        let line = shown.out.lines().find(|line| line.starts_with(key));
        assert!(line.is_some_and(|line| line.contains(origin)), "{key}: {}", shown.out);
    }
    let timely = shell.run(&["eval", "new Promise(() => {})", "--timeout", "300ms"]);
    assert_eq!((timely.exit, timely.word()), (1, "timed_out"), "{timely:#?}");
    assert!(timely.took < Duration::from_secs(3), "{timely:#?}");
}
