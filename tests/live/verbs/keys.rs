//! `docs/json.md` against what the verbs answer: every key that is there is listed, and the other way.
use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::support::shell::{Done, Shell};
use crate::verbs::practice;

const DOCUMENT: &str = include_str!("../../../docs/json.md");

/// What the document says of a value: `name`, `name[]{…}`, `name{key:…}`.
#[derive(Debug, Clone, PartialEq, Default)]
struct Shape {
    optional: bool,
    list: bool,
    /// None: nothing is said of what is inside.
    fields: Option<BTreeMap<String, Shape>>,
    /// Its keys are data; this is the shape of each value.
    map: Option<Box<Shape>>,
}

/// Reads the rows of the table: command → keys.
fn documented() -> BTreeMap<String, BTreeMap<String, Shape>> {
    let (_, section) = DOCUMENT.split_once("## Data by command").unwrap();
    let rows = section.lines().filter_map(|line| {
        let cells = line.trim().strip_prefix("| ")?.strip_suffix(" |")?;
        let (command, keys) = cells.split_once(" | ")?;
        let keys = keys.split('`').skip(1).step_by(2).map(|mut text| field(&mut text));
        Some((command.replace('`', ""), keys.collect()))
    });
    rows.filter(|(command, _)| command != "command").collect()
}

/// Reads one shape off the front of `rest`.
fn field(rest: &mut &str) -> (String, Shape) {
    let end = rest.find(|c: char| "[]{}?,:".contains(c)).unwrap_or(rest.len());
    let name = rest[..end].to_owned();
    *rest = &rest[end..];
    let mut shape = Shape { optional: take(rest, "?"), list: take(rest, "[]"), ..Shape::default() };
    if take(rest, "{}") {
        return (name, shape);
    }
    if take(rest, "{") {
        let first = rest.find(|c: char| "{},:".contains(c)).unwrap_or_default();
        if rest[first..].starts_with(':') {
            *rest = &rest[first + 1..];
            let plain = rest.starts_with('}');
            shape.map = Some(Box::new(if plain { Shape::default() } else { field(rest).1 }));
        } else {
            let mut fields = BTreeMap::new();
            loop {
                let (name, shape) = field(rest);
                fields.insert(name, shape);
                if !take(rest, ",") {
                    break;
                }
            }
            shape.fields = Some(fields);
        }
        assert!(take(rest, "}"), "`{name}` is not closed: {rest}");
    }
    (name, shape)
}

fn take(rest: &mut &str, word: &str) -> bool {
    let found = rest.strip_prefix(word);
    *rest = found.unwrap_or(rest);
    found.is_some()
}

fn compare(at: &str, value: &Value, fields: &BTreeMap<String, Shape>) {
    let object = value.as_object().unwrap_or_else(|| panic!("{at} is no object: {value}"));
    for key in object.keys() {
        assert!(fields.contains_key(key), "{at}.{key} is not in docs/json.md: {value}");
    }
    for (key, shape) in fields {
        match object.get(key) {
            None => {
                assert!(shape.optional, "{at}.{key} is in docs/json.md, and not there: {value}")
            }
            Some(value) => fit(&format!("{at}.{key}"), value, shape),
        }
    }
}

fn fit(at: &str, value: &Value, shape: &Shape) {
    if shape.list {
        let Some(list) = value.as_array() else { return assert!(value.is_null(), "{at}: {value}") };
        let one = Shape { list: false, ..shape.clone() };
        return list.iter().for_each(|value| fit(at, value, &one));
    }
    if let Some(fields) = &shape.fields {
        compare(at, value, fields);
    }
    if let Some(each) = &shape.map {
        value.as_object().unwrap().values().for_each(|value| fit(at, value, each));
    }
}

#[test]
fn every_key_is_documented_and_every_documented_key_is_there() {
    let (practice, shell, table) = (practice(), Shell::new(), documented());
    let mut left: Vec<_> = table.keys().cloned().collect();
    let mut check = |command: &str, done: &Done| {
        let keys = table.get(command).unwrap_or_else(|| panic!("no row for {command}"));
        compare(command, &done.json["data"], keys);
        left.retain(|other| other != command);
    };
    let page = |name: &str| practice.url("test", &format!("/t/{name}"));
    let sends = practice.url("mail", "/compose");
    let script = format!(
        "{{\"tool\":\"browser_navigate\",\"args\":{{\"url\":\"{sends}\"}}}}\n\
         {{\"tool\":\"browser_click\",\"args\":{{\"index\":{{\"role\":\"button\",\"name\":\"Send\"}}}}}}\n\
         {{\"tool\":\"finish\",\"args\":{{\"answer\":\"held\"}}}}\n"
    );
    fs::write(shell.folder().join("script.jsonl"), script).unwrap();
    for (command, line) in [
        ("open", &["open", &page("effects")] as &[&str]),
        ("observe", &["observe"]),
        ("snapshot", &["snapshot"]),
        ("find", &["find", "Change text"]),
        ("find, not_found", &["find", "a purple elephant"]),
        ("read", &["read"]),
        ("extract", &["extract", "text"]),
        ("screenshot", &["screenshot"]),
        ("click", &["click", "Change text"]),
        ("fill", &["fill", "Field", "x"]),
        ("press", &["press", "Tab"]),
        ("get", &["get", "title"]),
        ("eval", &["eval", "1"]),
        ("wait", &["wait", "h1"]),
        ("any, ambiguous", &["click", "Change"]),
        ("any, held", &["click", "Push state"]),
        ("approve", &["approve"]),
        ("approve HOLD", &["approve", "h1"]),
        ("any, held", &["click", "Push state"]),
        ("deny", &["deny", "h2"]),
        ("tab new", &["tab", "new"]),
        ("tab new URL", &["tab", "new", &page("alert")]),
        ("click", &["click", "Open alert"]),
        ("dialog", &["dialog", "accept"]),
        ("tab list", &["tab", "list"]),
        ("tab switch", &["tab", "switch", "1"]),
        ("tab close", &["tab", "close", "2"]),
        ("run", &["run", "Send it", "--model", "script:script.jsonl"]),
        ("runs", &["runs"]),
        ("logs", &["logs", "r1"]),
        ("attach", &["attach"]),
        ("doctor", &["doctor"]),
        ("config show", &["config", "show"]),
        ("config show --origin", &["config", "show", "--origin"]),
    ] {
        let done = shell.run(line);
        assert_eq!(done.json["v"], 1, "{done:#?}");
        assert_eq!(done.json["ok"] == true, done.exit == 0, "{done:#?}");
        assert_eq!(done.out.lines().count(), 1, "{done:#?}");
        assert!(
            done.exit != 0 || done.json["delta"].is_array() && done.json["warnings"].is_array()
        );
        check(command, &done);
    }
    let failed = shell.run(&["open", &page("status/404")]);
    check("open", &failed);
    check("close", &shell.run(&["close"]));
    // These have tests of their own, which look at their keys.
    left.retain(|command| {
        !["stop", "demo", "reply", "approve HOLD, its run waits"].contains(&command.as_str())
    });
    assert!(left.is_empty(), "no command was given for {left:?}");
}

/// Fits an answer to its row; for tests elsewhere.
pub fn must_fit(command: &str, done: &Done) {
    compare(command, &done.json["data"], &documented()[command]);
}

#[test]
fn shapes_are_read_from_the_document() {
    let mut text = "refs{e12:{role,box[]}},more";
    let (name, shape) = field(&mut text);
    assert_eq!((name.as_str(), text), ("refs", ",more"));
    let each = shape.map.unwrap().fields.unwrap();
    assert!(each["box"].list && !each["role"].list && each.len() == 2, "{each:?}");
    let table = documented();
    assert_eq!(table["tab close"].keys().collect::<Vec<_>>(), ["tab"]);
    assert!(table["doctor"]["checks"].fields.as_ref().unwrap()["remedy"].optional);
    assert!(table["wait"].is_empty());
}
