//! What a run's `trace.json` says of how long its steps took, and of what they told the model.
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

/// One step, from the end of the one before (or the beginning of the run) to its own.
#[derive(Debug, Clone, Default)]
pub struct Paced {
    /// Such as `browser_click`.
    pub tool: String,
    pub whole: Duration,
    /// Of that, for the model's answers.
    pub model: Duration,
    /// Of that, for the page: its answers, and what it does next.
    pub page: Duration,
    /// Tokens of its requests, and those of them that a prompt cache served.
    pub input: u64,
    pub cached: u64,
}

impl Paced {
    /// Returns what is left: the runtime's own.
    pub fn overhead(&self) -> Duration {
        self.whole.saturating_sub(self.model).saturating_sub(self.page)
    }
}

/// Reads the steps of a trace that came to an end, in order.
pub fn steps(trace: &Value) -> Vec<Paced> {
    let (mut steps, mut step, mut last) = (Vec::new(), Paced::default(), None);
    for entry in trace["journal"].as_array().into_iter().flatten() {
        let at: Timestamp = entry["at"].as_str().and_then(|at| at.parse().ok()).expect("a time");
        let micros = |key: &str| Duration::from_micros(entry["spent"][key].as_u64().unwrap_or(0));
        let tokens = |key: &str| entry[key].as_u64().unwrap_or(0);
        match entry["event"].as_str() {
            Some("began") => last = Some(at),
            Some("answered" | "unanswered") => {
                step.input += tokens("input_tokens");
                step.cached += tokens("cached_tokens");
            }
            Some("intended") => step.tool = entry["call"]["tool"].as_str().unwrap_or("").to_owned(),
            Some("came") => {
                let whole = last.map(|last| at.duration_since(last).unsigned_abs());
                (step.whole, last) = (whole.unwrap_or_default(), Some(at));
                (step.model, step.page) = (micros("model_us"), micros("page_us"));
                steps.push(std::mem::take(&mut step));
            }
            _ => {}
        }
    }
    steps
}

/// The value in the middle.
pub fn median(values: impl IntoIterator<Item = Duration>) -> Duration {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort();
    values.get(values.len() / 2).copied().unwrap_or_default()
}
