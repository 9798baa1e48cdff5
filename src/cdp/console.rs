//! What a page writes to its console, kept as it comes: the newest lines, and how many were dropped.
use std::collections::VecDeque;

use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::cdp::events::{
    CallFrame, Called, Entry, EntryAdded, ExceptionThrown, Preview, Remote, StackTrace,
};
use crate::domain::page::text::{cap, line};
use crate::ports::page::{ConsoleLine, ConsoleLines, Level};

/// How many lines are kept.
const KEPT: usize = 1_000;
/// Characters of what a page says that are looked at: a line of a megabyte costs no more.
const READ: usize = 4 * ConsoleLine::LONGEST;
/// Characters of a place.
const PLACE: usize = 200;

/// The newest lines of one page, its frames and its workers.
#[derive(Debug, Default)]
pub(super) struct Console {
    lines: VecDeque<ConsoleLine>,
    dropped: u64,
}

impl Console {
    pub fn newest(&self, most: usize) -> ConsoleLines {
        let skipped = self.lines.len().saturating_sub(most);
        let lines = self.lines.iter().skip(skipped).cloned().collect();
        ConsoleLines { lines, dropped: self.dropped }
    }

    /// The page called `console.…`.
    pub fn called(&mut self, called: &Called<'_>) {
        let level = match &*called.kind {
            "debug" => Level::Debug,
            "info" => Level::Info,
            "warning" => Level::Warning,
            "error" | "assert" => Level::Error,
            "endGroup" | "clear" | "profile" | "profileEnd" => return,
            _ => Level::Log,
        };
        let mut text = String::new();
        for said in &called.args {
            if text.len() > READ {
                break;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            said.write(&mut text);
        }
        self.push(level, &text, (called.timestamp, place(called.stack_trace.as_ref())));
    }

    /// A script threw, and nothing caught it.
    pub fn thrown(&mut self, thrown: &ExceptionThrown<'_>) {
        let details = &thrown.exception_details;
        let mut text = details.text.to_string();
        if let Some(exception) = &details.exception {
            text.push(' ');
            exception.write(&mut text);
        }
        let own = details.url.as_deref().map(|url| written(url, details.line_number));
        let place = place(details.stack_trace.as_ref()).or(own);
        self.push(Level::Error, &text, (thrown.timestamp, place));
    }

    /// The browser itself says something: a resource that failed, something deprecated.
    pub fn added(&mut self, EntryAdded { entry }: &EntryAdded<'_>) {
        let Entry { level, text, timestamp, url, line_number } = entry;
        let level = match &**level {
            "verbose" => Level::Debug,
            "warning" => Level::Warning,
            "error" => Level::Error,
            _ => Level::Info,
        };
        let place = url.as_deref().map(|url| match line_number {
            Some(line) => written(url, *line),
            None => cap(url, PLACE),
        });
        self.push(level, text, (Some(*timestamp), place));
    }

    /// Another document came; its lines stand below this one.
    pub fn navigated(&mut self, url: &str) {
        self.push(Level::Mark, &format!("— navigated to {url} —"), (None, None));
    }

    fn push(&mut self, level: Level, text: &str, (at, place): (Option<f64>, Option<String>)) {
        if self.lines.len() == KEPT {
            self.lines.pop_front();
            self.dropped += 1;
        }
        let read = text.char_indices().nth(READ).map_or(text, |(end, _)| &text[..end]);
        let text = line(read, ConsoleLine::LONGEST);
        let at = at.and_then(|at| Timestamp::from_millisecond(at as i64).ok());
        self.lines.push_back(ConsoleLine { level, text, at, place });
    }
}

/// The place of the script that spoke: the top of its stack.
fn place(stack: Option<&StackTrace<'_>>) -> Option<String> {
    let CallFrame { url, line_number } = stack?.call_frames.first()?;
    (!url.is_empty()).then(|| written(url, *line_number))
}

/// The protocol counts lines from 0, people from 1.
fn written(url: &str, line: i64) -> String {
    format!("{}:{}", cap(url, PLACE), line + 1)
}

impl Remote<'_> {
    fn write(&self, text: &mut String) {
        if let Some(preview) = &self.preview {
            return preview.write(text);
        }
        match (self.value, self.unserializable_value.as_deref(), self.description.as_deref()) {
            (Some(value), ..) => write_value(value, text),
            (None, Some(word), _) | (None, None, Some(word)) => push_some(word, text),
            (None, None, None) => text.push_str(&self.kind),
        }
    }
}

impl Preview<'_> {
    /// `{a: 1, b: x}`, `[1, 2]`; of other objects what they say of themselves.
    fn write(&self, text: &mut String) {
        let array = self.subtype.as_deref() == Some("array");
        if self.subtype.is_some() && !array {
            return push_some(self.description.as_deref().unwrap_or("object"), text);
        }
        text.push(if array { '[' } else { '{' });
        for (place, property) in self.properties.iter().enumerate() {
            if place > 0 {
                text.push_str(", ");
            }
            if !array {
                push_some(&property.name, text);
                text.push_str(": ");
            }
            push_some(property.value.as_deref().unwrap_or("…"), text);
        }
        if self.overflow {
            text.push_str(", …");
        }
        text.push(if array { ']' } else { '}' });
    }
}

/// A string as it is, everything else as JSON.
fn write_value(value: &RawValue, text: &mut String) {
    match serde_json::from_str::<std::borrow::Cow<'_, str>>(value.get()) {
        Ok(said) => push_some(&said, text),
        Err(_) => push_some(value.get(), text),
    }
}

fn push_some(words: &str, text: &mut String) {
    text.extend(words.chars().take(READ));
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    fn read<'a, T: Deserialize<'a>>(json: &'a str) -> T {
        serde_json::from_str(json).unwrap()
    }

    fn shown(console: &Console) -> Vec<String> {
        console.newest(100).lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_page_says_is_one_line_each() {
        let mut console = Console::default();
        console.navigated("http://a.test/");
        console.called(&read(
            r#"{"type":"log","args":[{"type":"string","value":"a\"b\n  c"},{"type":"number","value":7,"description":"7"},
            {"type":"number","unserializableValue":"NaN","description":"NaN"},{"type":"undefined"}],
            "timestamp":1700000000000.5,"stackTrace":{"callFrames":[{"url":"http://a.test/x.js","lineNumber":4}]}}"#,
        ));
        console.called(&read(
            r#"{"type":"warning","args":[{"type":"object","description":"Object","preview":{"type":"object",
            "overflow":true,"properties":[{"name":"n","type":"number","value":"1"},{"name":"f","type":"function"}]}},
            {"type":"object","subtype":"array","preview":{"type":"object","subtype":"array","overflow":false,
            "properties":[{"name":"0","type":"string","value":"x"}]}}]}"#,
        ));
        console.called(&read(r#"{"type":"endGroup","args":[]}"#));
        console.thrown(&read(
            r#"{"timestamp":1.0,"exceptionDetails":{"text":"Uncaught","lineNumber":0,"url":"http://a.test/",
            "exception":{"type":"object","subtype":"error","description":"TypeError: no\n    at x"}}}"#,
        ));
        console.added(&read(
            r#"{"entry":{"source":"network","level":"error","text":"Failed to load","timestamp":2,"url":"http://a.test/i.png"}}"#,
        ));
        assert_eq!(
            shown(&console),
            [
                "— navigated to http://a.test/ —",
                "[log] a\"b c 7 NaN undefined (http://a.test/x.js:5)",
                "[warning] {n: 1, f: …, …} [x]",
                "[error] Uncaught TypeError: no at x (http://a.test/:1)",
                "[error] Failed to load (http://a.test/i.png)",
            ]
        );
        let at = console.newest(4).lines[0].at.unwrap();
        assert_eq!(at.as_millisecond(), 1_700_000_000_000);
    }

    #[test]
    fn the_newest_are_kept_and_the_others_counted() {
        let mut console = Console::default();
        for number in 0..1_234 {
            console.navigated(&number.to_string());
        }
        let newest = console.newest(2);
        assert_eq!((newest.dropped, newest.lines.len()), (234, 2));
        assert_eq!(newest.lines[1].text, "— navigated to 1233 —");
        assert_eq!(console.newest(usize::MAX).lines[0].text, "— navigated to 234 —");
    }

    #[test]
    fn a_line_is_never_longer_than_agreed() {
        let mut console = Console::default();
        let long = "다".repeat(1 << 20);
        let said = format!(r#"{{"type":"error","args":[{{"type":"string","value":"{long}"}}]}}"#);
        console.called(&read(&said));
        let line = &console.newest(1).lines[0];
        assert_eq!(line.text.chars().count(), ConsoleLine::LONGEST);
        assert!(line.text.ends_with('…'));
    }
}
