//! A run's steps for a terminal: one line each, cut to its width, with the time, the tokens and the
//! money so far at its right. Pure.
use std::time::Duration;

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::cli::plain::{fitted, one_line};
use crate::domain::journal::{Entry, Event, Verdict};
use crate::domain::outcome::OutcomeKind;

/// What was spent so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    pub time: Duration,
    pub tokens: u64,
    /// US dollars, where the model's price is known.
    pub cost: Option<f64>,
}

/// One line of a run, in parts that are cut and coloured apart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepLine {
    pub what: String,
    /// What came of it; begins with its mark, such as `→`.
    pub came: String,
    pub spent: Option<Spent>,
}

/// The step under way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Steps {
    doing: Option<String>,
    pub spent: Spent,
}

impl Steps {
    /// Takes what the daemon says in, and returns the line that is complete now.
    pub fn take(&mut self, text: &str, json: &Value, time: Duration) -> Option<StepLine> {
        self.spent.time = time;
        self.spent.tokens = json["tokens"].as_u64().unwrap_or(self.spent.tokens);
        self.spent.cost = json["cost"].as_f64().or(self.spent.cost);
        let entry = serde_json::from_value::<Entry>(json.clone()).ok();
        match entry.map(|entry| entry.what) {
            Some(Event::Intended { step, what, .. }) => {
                let next = format!("{step:>3}  {}", one_line(&what));
                let last = self.doing.replace(next)?;
                Some(self.line(last, String::new()))
            }
            Some(Event::Judged { verdict: Verdict::Held { id }, judgement, .. }) => {
                let why = one_line(&judgement.why);
                Some(self.ended(format!("⚠ held for a person as {id}: {why}")))
            }
            Some(Event::Came { outcome, .. }) if outcome == OutcomeKind::Held.word() => None,
            Some(Event::Came { outcome, delta, .. }) => {
                let first = delta.first().map(|line| format!(": {line}")).unwrap_or_default();
                Some(self.ended(one_line(&format!("→ {outcome}{first}"))))
            }
            _ => Some(StepLine { what: text.to_owned(), ..StepLine::default() }),
        }
    }

    /// Returns the step under way.
    pub fn doing(&self) -> Option<StepLine> {
        self.doing.clone().map(|what| self.line(what, "…".into()))
    }

    fn ended(&mut self, came: String) -> StepLine {
        match self.doing.take() {
            Some(what) => self.line(what, came),
            // The act was begun, and waited for a person; its line is long written.
            None => self.line("    ".into(), came),
        }
    }

    fn line(&self, what: String, came: String) -> StepLine {
        StepLine { what, came, spent: Some(self.spent) }
    }
}

impl StepLine {
    /// Lays it out in `width` columns: what, what came of it, what was spent.
    pub fn parts(&self, width: usize) -> [String; 3] {
        let spent = self.spent.map(|spent| spent.to_string()).unwrap_or_default();
        // Where little room is left, the step itself is what counts.
        let spent = if spent.width() * 3 > width { String::new() } else { spent };
        let room = width.saturating_sub(spent.width() + usize::from(!spent.is_empty()) * 2);
        let what = one_line(&self.what);
        if self.came.is_empty() {
            let what = fitted(&what, room);
            return [
                padded(what, if spent.is_empty() { 0 } else { room + 2 }),
                String::new(),
                spent,
            ];
        }
        let came_width = self.came.width() + 1;
        let what = fitted(&what, (room / 2).max(room.saturating_sub(came_width)));
        let came = format!(" {}", fitted(&self.came, room.saturating_sub(what.width() + 1)));
        let rest = if spent.is_empty() { 0 } else { (room + 2).saturating_sub(what.width()) };
        [what, padded(came, rest), spent]
    }
}

fn padded(text: String, width: usize) -> String {
    let missing = width.saturating_sub(text.width());
    text + &" ".repeat(missing)
}

impl std::fmt::Display for Spent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.time.as_secs();
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        match hours {
            0 => write!(f, "{minutes}:{:02}", seconds % 60)?,
            _ => write!(f, "{hours}:{minutes:02}:{:02}", seconds % 60)?,
        }
        match self.tokens {
            0 => return Ok(()),
            tokens if tokens < 10_000 => write!(f, " · {tokens} tok")?,
            tokens => write!(f, " · {}k tok", tokens / 1000)?,
        }
        self.cost.map_or(Ok(()), |cost| write!(f, " · ${cost:.2}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn steps() -> Vec<(&'static str, Value)> {
        let at = "2026-11-30T12:00:00Z";
        let entry = |more: Value| {
            let mut entry = json!({ "v": 1, "at": at });
            entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            entry
        };
        let call = json!({ "tool": "browser_view", "args": {} });
        let judgement = json!({ "class": "irreversible", "why": "the button says `Send`" });
        let intended = |step: u32, what: &str| {
            entry(json!({ "event": "intended", "step": step, "call": call, "what": what,
                "tokens": 1200 * step, "cost": 0.013 * f64::from(step) }))
        };
        vec![
            ("run r7 (script): write to Ana", json!({ "said": 1 })),
            ("", intended(1, "click link \"Inbox of everything that was ever sent to me\"")),
            (
                "",
                entry(json!({ "event": "came", "step": 1, "outcome": "navigated",
                "delta": ["http://mail.localhost:8080/inbox", "more"], "url": "" })),
            ),
            ("", intended(2, "click button \"Send\"")),
            (
                "",
                entry(json!({ "event": "judged", "step": 2, "what": "click", "url": "",
                "judgement": judgement, "verdict": { "verdict": "held", "id": 3 } })),
            ),
            ("     … h3 was approved", json!({})),
            (
                "",
                entry(json!({ "event": "came", "step": 2, "outcome": "changed", "delta": [],
                "url": "" })),
            ),
            ("", intended(11, "finish\x1b[2J\nnow")),
        ]
    }

    fn shown(width: usize) -> String {
        let mut live = Steps::default();
        let mut lines = Vec::new();
        for (number, (text, json)) in steps().iter().enumerate() {
            let time = Duration::from_secs(7 * number as u64);
            lines.extend(live.take(text, json, time).map(|line| line.parts(width)));
        }
        lines.extend(live.doing().map(|line| line.parts(width)));
        let lines: Vec<_> = lines.iter().map(|parts| parts.concat()).collect();
        let fits = |line: &String| !line.trim().is_empty() && line.width() <= width;
        assert!(lines.iter().all(fits), "{width}: {lines:#?}");
        lines.join("\n")
    }

    #[test]
    fn a_step_is_one_line_at_every_width() {
        insta::assert_snapshot!("wide", shown(100));
        insta::assert_snapshot!("narrow", shown(60));
        (20..120).for_each(|width| drop(shown(width)));
    }

    #[test]
    fn what_was_spent_is_short() {
        let said = |seconds, tokens, cost| {
            Spent { time: Duration::from_secs(seconds), tokens, cost }.to_string()
        };
        assert_eq!(said(5, 0, Some(0.0)), "0:05");
        assert_eq!(said(65, 9_999, None), "1:05 · 9999 tok");
        assert_eq!(said(3_725, 123_456, Some(1.234)), "1:02:05 · 123k tok · $1.23");
    }
}
