//! What an answer means: a call, or why it is none. A call that was written as text is understood.
//! Pure.
use std::ops::Range;

use serde_json::{Map, Value};

use crate::domain::tool::{BadCall, ToolCall};
use crate::ports::model::{FaultKind, Meaning};

/// How often something in a text is tried as JSON.
const TRIES: usize = 64;
/// How deep a call may lie in what wraps it.
const DEPTH: usize = 4;

/// Under which names models write a tool, and its arguments.
const NAMES: [&str; 4] = ["tool", "name", "function", "tool_name"];
const ARGUMENTS: [&str; 5] = ["args", "arguments", "input", "parameters", "params"];

/// What an answer holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Said {
    pub calls: Vec<Written>,
    pub text: String,
    /// It was longer than an answer may be.
    pub cut: bool,
}

/// A call as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Written {
    pub name: String,
    pub args: Value,
}

const ONE: &str = "call exactly one tool each turn, and `finish` once the task is done";

/// Says what an answer means, and what was mended in it.
pub(super) fn meaning(said: &Said) -> (Meaning, Option<String>) {
    if said.cut {
        let why = "the answer was cut off, for it was too long: say less, or do it in parts";
        return (fault(FaultKind::CutOff, why), None);
    }
    if let Some(first) = said.calls.first() {
        return (meant(first), more(said.calls.len()));
    }
    if said.text.trim().is_empty() {
        return (fault(FaultKind::Empty, &format!("the answer was empty; {ONE}")), None);
    }
    let written = written_as_text(&said.text);
    let Some(first) = written.first() else {
        return (fault(FaultKind::NoCall, &format!("no tool was called; {ONE}")), None);
    };
    let as_text = "your call was written as text; it was taken, but call the tool itself next time";
    let note =
        more(written.len()).map_or_else(|| as_text.into(), |more| format!("{as_text}; {more}"));
    (meant(first), Some(note))
}

fn fault(kind: FaultKind, why: &str) -> Meaning {
    Meaning::Fault { kind, why: why.to_owned() }
}

fn meant(written: &Written) -> Meaning {
    match ToolCall::understood(&written.name, &written.args) {
        Ok(call) => Meaning::Call(call),
        Err(error @ BadCall::NoSuchTool { .. }) => fault(FaultKind::NoSuchTool, &error.to_string()),
        Err(error) => fault(FaultKind::BadArguments, &error.to_string()),
    }
}

fn more(calls: usize) -> Option<String> {
    match calls {
        0 | 1 => None,
        2 => Some("one tool a turn: your first call was taken, the second was left out".into()),
        n => Some(format!("one tool a turn: your first call was taken, {} were left out", n - 1)),
    }
}

/// Returns the calls that end a text: bare, in a code fence or in tags. One that is followed by
/// other words is only spoken of, such as what a page asks for, and is no call.
fn written_as_text(text: &str) -> Vec<Written> {
    let found = objects(text);
    let calls: Vec<_> =
        found.iter().map(|(range, value)| (range.clone(), calls_in(value, 0))).collect();
    let is_call = |(_, calls): &&(Range<usize>, Vec<Written>)| !calls.is_empty();
    let Some((last, _)) = calls.iter().rfind(is_call) else { return Vec::new() };
    if !is_closing(&text[last.end..]) {
        return Vec::new();
    }
    calls.into_iter().flat_map(|(_, calls)| calls).collect()
}

/// Whether nothing is said: brackets, a fence, a closing tag.
fn is_closing(text: &str) -> bool {
    let left = text.trim();
    let left = match (left.find("</"), left.rfind('>')) {
        (Some(from), Some(to)) if from < to && !left[from..to].contains(char::is_whitespace) => {
            format!("{}{}", &left[..from], &left[to + 1..])
        }
        _ => left.to_owned(),
    };
    left.chars().all(|c| c.is_whitespace() || matches!(c, '`' | ']' | ')' | '}' | ',' | ';' | '.'))
}

/// Returns the JSON objects in a text, outermost only.
fn objects(text: &str) -> Vec<(Range<usize>, Value)> {
    let mut found = Vec::new();
    let mut at = 0;
    for _ in 0..TRIES {
        let Some(open) = text.get(at..).and_then(|left| left.find('{')) else { break };
        let from = at + open;
        let mut read = serde_json::Deserializer::from_str(&text[from..]).into_iter::<Value>();
        at = match read.next() {
            Some(Ok(value)) => {
                let end = from + read.byte_offset();
                found.push((from..end, value));
                end
            }
            Some(Err(_)) | None => from + 1,
        };
    }
    found
}

/// Returns the calls that a value is, or wraps.
fn calls_in(value: &Value, depth: usize) -> Vec<Written> {
    if depth > DEPTH {
        return Vec::new();
    }
    match value {
        Value::Array(values) => values.iter().flat_map(|it| calls_in(it, depth + 1)).collect(),
        Value::Object(fields) => match call(fields) {
            Some(call) => vec![call],
            None => ["tool_calls", "tool_call", "function_call", "function"]
                .iter()
                .find_map(|wrap| fields.get(*wrap))
                .map(|inner| calls_in(inner, depth + 1))
                .unwrap_or_default(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// An object is a call when it names a tool that there is, or any name together with arguments.
fn call(fields: &Map<String, Value>) -> Option<Written> {
    let name = NAMES.iter().find_map(|name| fields.get(*name)?.as_str())?;
    let args = ARGUMENTS.iter().find_map(|name| fields.get(*name));
    if args.is_none() && !ToolCall::NAMES.contains(&name) {
        return None;
    }
    let rest = || {
        let own = fields.iter().filter(|(name, _)| !NAMES.contains(&name.as_str()));
        Value::Object(own.map(|(name, value)| (name.clone(), value.clone())).collect())
    };
    Some(Written { name: name.to_owned(), args: args.cloned().unwrap_or_else(rest) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn in_text(text: &str) -> Vec<String> {
        let call = |written: Written| format!("{} {}", written.name, written.args);
        written_as_text(text).into_iter().map(call).collect()
    }

    #[test]
    fn calls_are_found_however_they_are_written() {
        for text in [
            r#"{"tool":"browser_click","args":{"index":3}}"#,
            r#"{"name":"browser_click","arguments":{"index":3}}"#,
            r#"{"function":"browser_click","parameters":{"index":3}}"#,
            r#"{"tool":"browser_click","index":3}"#,
            r#"{"type":"function","function":{"name":"browser_click","arguments":{"index":3}}}"#,
            r#"{"tool_calls":[{"id":"x","function":{"name":"browser_click","input":{"index":3}}}]}"#,
            "I click it.\n```json\n{\"tool\":\"browser_click\",\"args\":{\"index\":3}}\n```\n",
            r#"<tool_call>{"name":"browser_click","arguments":{"index":3}}</tool_call>"#,
            r#"[{"name":"browser_click","arguments":{"index":3}}]"#,
            r#"In {braces} I say {"tool":"browser_click","args":{"index":3}}."#,
        ] {
            assert_eq!(in_text(text), [r#"browser_click {"index":3}"#], "{text}");
        }
        let two = r#"{"tool":"browser_view"} {"tool":"finish","args":{"answer":"a"}}"#;
        assert_eq!(in_text(two), ["browser_view {}", r#"finish {"answer":"a"}"#]);
    }

    #[test]
    fn what_is_only_spoken_of_is_no_call() {
        for text in [
            "I would click it.",
            r#"The answer: {"name":"Red kettle","price":3}"#,
            r#"The page says {"tool":"browser_navigate","args":{"url":"http://e.test/"}}, which I ignore."#,
            r#"{"tool":"browser_click","args":{"index":"#,
            r#"{"name":7,"args":{}}"#,
            "{{{{{{",
        ] {
            assert_eq!(in_text(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn many_braces_are_given_up_on() {
        let text = format!("{}{}", "{".repeat(500), r#"{"tool":"browser_view"}"#);
        assert_eq!(in_text(&text), Vec::<String>::new());
        let deep =
            (0..9).fold(json!({ "tool": "browser_view" }), |it, _| json!({ "tool_calls": [it] }));
        assert_eq!(calls_in(&deep, 0), vec![]);
    }
}
