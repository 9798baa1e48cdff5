//! Which call comes next, and which number an element has that the script names.
use std::collections::BTreeMap;
use std::io;

use serde_json::{Value, json};

use crate::domain::tool::ToolCall;

/// How often the page is looked at and scrolled for an element before the script is given up.
const LOOKS: usize = 6;
/// How often a call is made that failed for a reason that passes.
const TRIES: usize = 3;
/// Outcomes after which nothing was done, and the same call may do another time.
const PASSING: [&str; 8] = [
    "stale",
    "ambiguous",
    "not_found",
    "unstable",
    "target_gone",
    "tab_restarted",
    "busy",
    "timed_out",
];

/// Plays a script. Where it stands follows from how many answers a request holds: one that is sent
/// again gets the same answer again.
#[derive(Debug, Default)]
pub(super) struct Actor {
    lines: Vec<ToolCall>,
    /// Where the script stands after that many answers.
    after: BTreeMap<usize, Standing>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Standing {
    line: usize,
    looks: usize,
    tries: usize,
}

/// What is called next.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub id: String,
    pub name: String,
    pub args: Value,
    then: Standing,
    now: Standing,
}

impl Actor {
    /// Reads a script: one tool call a line.
    pub fn read(script: &str) -> io::Result<Self> {
        let lines = script.lines().filter(|line| !line.trim().is_empty());
        let lines = lines.map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(Self { lines, after: BTreeMap::new() })
    }

    pub fn choose(&self, request: &Value) -> Choice {
        let answers = answers(request);
        let before = self.after.range(..answers).next_back();
        let stood = before.map_or_else(Standing::default, |(_, standing)| *standing);
        let texts = shown(request);
        let newest = texts.first().map_or("", String::as_str);
        let now = stood.reconsidered(outcome(newest));
        let id = format!("toolu_{answers}");
        let choice = |name: &str, args: Value, then| Choice {
            id: id.clone(),
            name: name.to_owned(),
            args,
            then,
            now,
        };
        let then = Standing { line: now.line + 1, looks: 0, ..now };
        let look = Standing { looks: now.looks + 1, ..now };
        let whole = newest.contains("[page] url=");
        if now.tries > stood.tries && !whole {
            return choice("browser_view", json!({}), look);
        }
        let Some(call) = self.lines.get(now.line) else {
            return lost(choice, then, "the script is over");
        };
        let call = serde_json::to_value(call).unwrap_or_default();
        let name = call["tool"].as_str().unwrap_or_default();
        let mut args = call["args"].clone();
        let named = args["index"].as_object().cloned();
        let Some(named) = named else { return choice(name, args, then) };
        let word = |field: &str| named.get(field).and_then(Value::as_str).unwrap_or_default();
        let (role, called) = (word("role"), word("name"));
        if let Some(number) = number_of(&texts, role, called) {
            args["index"] = json!(number);
            return choice(name, args, then);
        }
        let ended = now.looks > 0 && outcome(newest) == "no_effect";
        if ended || now.looks >= LOOKS {
            return lost(choice, then, &format!("the page shows no {role} '{called}'"));
        }
        if now.looks == 0 && !whole {
            return choice("browser_view", json!({}), look);
        }
        choice("browser_scroll_down", json!({ "to_bottom": false }), look)
    }

    /// Notes that a choice was told; an answer that says something else in its place leaves the
    /// script where it is.
    pub fn said(&mut self, request: &Value, choice: Choice, advances: bool) {
        let standing = if advances { choice.then } else { choice.now };
        self.after.insert(answers(request), standing);
    }
}

impl Standing {
    /// Goes back to a call that failed for a reason that passes.
    fn reconsidered(self, outcome: &str) -> Self {
        let failed = PASSING.contains(&outcome) && self.looks == 0 && self.line > 0;
        match failed {
            true if self.tries < TRIES => {
                Self { line: self.line - 1, looks: 0, tries: self.tries + 1 }
            }
            true => self,
            // A look in between is no success yet.
            false if self.looks > 0 => self,
            false => Self { tries: 0, ..self },
        }
    }
}

/// Ends a script that cannot go on.
fn lost(choice: impl Fn(&str, Value, Standing) -> Choice, then: Standing, why: &str) -> Choice {
    choice("finish", json!({ "answer": "", "incomplete_reason": why }), then)
}

/// The first word of what came of the last call.
fn outcome(text: &str) -> &str {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("<page-data result "));
    let line = lines.nth(1).unwrap_or_default();
    line.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap_or_default()
}

fn answers(request: &Value) -> usize {
    let messages = request["messages"].as_array().into_iter().flatten();
    messages.filter(|message| message["role"] == "assistant").count()
}

/// Returns what the messages to the model say, newest first.
fn shown(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().into_iter().flatten().rev();
    let told = messages.filter(|it| it["role"] == "user" || it["role"] == "tool");
    told.map(|message| text_of(&message["content"])).collect()
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let text = |block: &Value| match &block["text"] {
                Value::String(text) => text.clone(),
                _ => text_of(&block["content"]),
            };
            blocks.iter().map(text).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Returns the number of an element: of the newest line that shows one of its role and name, else
/// of its name.
fn number_of(texts: &[String], role: &str, name: &str) -> Option<u64> {
    let lines = texts.iter().flat_map(|text| text.lines()).filter_map(Line::read);
    let named: Vec<_> = lines.filter(|line| line.is_called(name)).collect();
    let plays = named.iter().find(|line| line.plays(role));
    plays.or(named.first()).map(|line| line.number)
}

/// A line of an observation: `12[:]<button>Send</button>`, perhaps with a sign of what changed.
struct Line<'a> {
    number: u64,
    tag: &'a str,
    attributes: &'a str,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (number, element) = line.split_once("[:]<")?;
        let number = number.trim();
        // What is gone is of no use.
        if number.starts_with('-') {
            return None;
        }
        let number = number.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
        let (element, _) = element.rsplit_once("</")?;
        let (opened, text) = element.rsplit_once('>')?;
        let (tag, attributes) = opened.split_once(' ').unwrap_or((opened, ""));
        Some(Self { number, tag, attributes, text })
    }

    fn is_called(&self, name: &str) -> bool {
        match self.text.strip_suffix('…') {
            Some(begun) => name.starts_with(begun),
            None => self.text == name,
        }
    }

    fn plays(&self, role: &str) -> bool {
        let kind = |kind: &str| self.attributes.split(' ').any(|it| it == format!("type={kind}"));
        if self.attributes.split(' ').any(|it| it == format!("role={role}")) {
            return true;
        }
        match role {
            "link" => self.tag == "a",
            "button" => self.tag == "button" || kind("submit") || kind("button"),
            "textbox" => self.tag == "textarea" || self.tag == "input",
            "searchbox" => kind("search"),
            "checkbox" | "radio" => kind(role),
            "combobox" | "listbox" => self.tag == "select",
            other => self.tag == other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "result\n  3[:]<a href='/x'>Send</a>\n+ 4[:]<button>Send</button>\n\
        - 5[:]<input type=search>Find</input>\n  6[:]<div role=textbox>To</div>\n\
        [markdown]\n7[:] is no element";

    #[test]
    fn numbers_are_read_off_the_page() {
        let of = |role, name| number_of(&["old\n 9[:]<a>Old</a>".into(), PAGE.into()], role, name);
        assert_eq!(of("button", "Send"), Some(4));
        assert_eq!(of("link", "Send"), Some(3));
        assert_eq!(of("textbox", "To"), Some(6));
        assert_eq!(of("menuitem", "Old"), Some(9), "a name alone will do");
        assert_eq!(of("searchbox", "Find"), None, "it is gone");
        assert_eq!(of("button", "Sen"), None);
    }

    #[test]
    fn a_script_that_finds_nothing_ends() {
        let script = r#"{"tool":"browser_click","args":{"index":{"role":"button","name":"Off"}}}"#;
        let mut actor = Actor::read(script).unwrap();
        let mut calls = Vec::new();
        for turn in 0..4 {
            let said = (0..turn).map(|_| json!({ "role": "assistant", "content": "x" }));
            let page = "<page-data result 1>\nno_effect\n[page] url=x";
            let last = json!({ "role": "user", "content": page });
            let request = json!({ "messages": said.chain([last]).collect::<Vec<_>>() });
            let choice = actor.choose(&request);
            calls.push(choice.name.clone());
            actor.said(&request, choice, true);
        }
        assert_eq!(calls, ["browser_scroll_down", "finish", "finish", "finish"]);
    }

    #[test]
    fn the_script_goes_on_with_the_answers_of_the_request() {
        let script = "{\"tool\":\"browser_click\",\"args\":{\"index\":{\"role\":\"button\",\"name\":\"Send\"}}}\n\
            {\"tool\":\"finish\",\"args\":{\"answer\":\"a\"}}";
        let mut actor = Actor::read(script).unwrap();
        let request = |answers: usize, page: &str| {
            let mut messages = vec![json!({ "role": "user", "content": page })];
            for _ in 0..answers {
                messages.push(json!({ "role": "assistant", "content": "x" }));
                messages.push(json!({ "role": "tool", "content": page }));
            }
            json!({ "messages": messages })
        };
        let came = |what: &str| format!("{PAGE}\n<page-data result 7>\n{what}\n</page-data 7>");
        let mut play = |answers, page: &str, advances| {
            let request = request(answers, page);
            let choice = actor.choose(&request);
            let call = format!("{} {}", choice.name, choice.args);
            actor.said(&request, choice, advances);
            call
        };
        let (click, finish) = (r#"browser_click {"index":4}"#, r#"finish {"answer":"a"}"#);
        assert_eq!(play(0, "nothing", true), "browser_view {}");
        assert_eq!(play(1, "nothing", true), r#"browser_scroll_down {"to_bottom":false}"#);
        assert_eq!(play(2, PAGE, false), click, "another thing is said in its place");
        assert_eq!(play(3, PAGE, true), click);
        assert_eq!(play(4, &came("stale: it is gone"), true), "browser_view {}");
        assert_eq!(play(5, &came("observed"), true), click);
        let whole = format!("{}\n[page] url=x", came("tab_restarted"));
        assert_eq!(play(6, &whole, true), click);
        assert_eq!(play(7, &came("changed: it"), true), finish);
        assert_eq!(play(7, &came("changed: it"), true), finish, "sent again");
        assert!(play(8, PAGE, true).contains("over"));
    }
}
