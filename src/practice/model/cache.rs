//! What answers cost, as a service with a prompt cache reckons it: what a request has in common with
//! the one before is read from there.
use serde_json::Value;

use crate::domain::cost::Usage;
use crate::practice::model::slips::Spoken;

/// The last request, in pieces, and what was counted so far.
#[derive(Debug, Default)]
pub(super) struct Cache {
    last: Vec<String>,
    pub sum: Usage,
}

impl Cache {
    /// Counts a request and its answer; a token is four bytes.
    pub fn count(&mut self, body: &Value, spoken: &Spoken) -> Usage {
        let pieces = pieces(body);
        let tokens = |pieces: &[String]| {
            u64::try_from(pieces.iter().map(String::len).sum::<usize>().div_ceil(4)).unwrap_or(0)
        };
        let input = tokens(&pieces);
        let common = pieces.iter().zip(&self.last).take_while(|(new, old)| new == old).count();
        let served = if caches(body) { common } else { 0 };
        let cached = tokens(&pieces[..served]).min(input);
        let written = if body["system"].is_array() && caches(body) { input - cached } else { 0 };
        let said = spoken.calls.iter().map(|call| call.args.to_string().len() + 20);
        let output = (said.sum::<usize>() + spoken.text.len()).div_ceil(4);
        let usage = Usage { input, output: output.try_into().unwrap_or(0), cached, written };
        self.last = pieces;
        self.sum += usage;
        usage
    }
}

/// Messages are cached where breakpoints say so; chat completions always.
fn caches(body: &Value) -> bool {
    body.get("system").is_none() || body.to_string().contains("\"cache_control\"")
}

/// What never changes, then message by message; breakpoints are no part of it.
fn pieces(body: &Value) -> Vec<String> {
    let stable = format!("{}{}", bare(&body["tools"]), bare(&body["system"]));
    let messages = body["messages"].as_array().into_iter().flatten();
    std::iter::once(stable).chain(messages.map(|it| bare(it).to_string())).collect()
}

fn bare(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(bare).collect(),
        Value::Object(fields) => {
            let own = fields.iter().filter(|(name, _)| name.as_str() != "cache_control");
            Value::Object(own.map(|(name, value)| (name.clone(), bare(value))).collect())
        }
        other => other.clone(),
    }
}
