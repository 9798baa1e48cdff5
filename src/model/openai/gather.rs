//! An answer of chat completions, put together from its events and read. Pure.
use std::ops::ControlFlow;

use serde_json::{Value, json};

use crate::domain::cost::Usage;
use crate::model::anthropic::gather::why;
use crate::model::failure::Failure;
use crate::model::repair::{Said, Written};
use crate::model::wire::{Gather, Heard, Stop};
use crate::ports::model::ModelError;

/// What came so far.
#[derive(Default)]
pub struct Gathering {
    text: String,
    refusal: String,
    calls: Vec<Call>,
    finish_reason: Option<String>,
    usage: Value,
    /// The service said that it is over, perhaps without a reason.
    over: bool,
}

#[derive(Default)]
struct Call {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    /// Local servers send an object where a text should be.
    object: Option<Value>,
}

impl Gather for Gathering {
    fn take(&mut self, data: &str) -> Result<ControlFlow<()>, Failure> {
        if data.trim() == "[DONE]" {
            self.over = true;
            return Ok(ControlFlow::Break(()));
        }
        let event: Value = serde_json::from_str(data)
            .map_err(|error| Failure::broken_off(format!("an event is no JSON: {error}")))?;
        if event["usage"].is_object() {
            self.usage = event["usage"].clone();
        }
        let choice = &event["choices"][0];
        self.add(&choice["delta"]);
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.finish_reason = Some(reason.to_owned());
        }
        Ok(ControlFlow::Continue(()))
    }

    fn take_whole(&mut self, body: Value) -> Result<(), Failure> {
        let choice = &body["choices"][0];
        if !choice["message"].is_object() {
            let why = "it is no chat completion: no choices".into();
            return Err(Failure::last(ModelError::Unreadable(why)));
        }
        self.add(&choice["message"]);
        self.finish_reason = Some(choice["finish_reason"].as_str().unwrap_or("stop").to_owned());
        self.usage = body["usage"].clone();
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.finish_reason.is_some() || self.over
    }

    fn usage(&self) -> Usage {
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        Usage {
            input: number(&self.usage["prompt_tokens"]),
            output: number(&self.usage["completion_tokens"]),
            cached: number(&self.usage["prompt_tokens_details"]["cached_tokens"]),
            written: 0,
        }
    }

    fn heard(&self) -> Heard {
        let reason = self.finish_reason.as_deref().unwrap_or("stop");
        let calls = self
            .calls
            .iter()
            .map(|call| Written { name: call.name.clone(), args: call.arguments() });
        let cut = reason == "length";
        let said = Said { calls: calls.collect(), text: self.text.clone(), cut };
        let stop = if !self.refusal.trim().is_empty() {
            Stop::Refused(why(&self.refusal))
        } else if reason == "content_filter" {
            Stop::Refused(why(&self.text))
        } else {
            Stop::Done
        };
        let mut message = json!({ "role": "assistant", "content": self.text });
        if !self.calls.is_empty() {
            message["tool_calls"] = self.calls.iter().map(Call::raw).collect();
        }
        let raw = json!({ "message": message, "finish_reason": reason, "usage": self.usage });
        Heard { raw, said, stop, usage: self.usage() }
    }
}

impl Gathering {
    /// Adds a piece of the message, or the whole of it.
    fn add(&mut self, delta: &Value) {
        match &delta["content"] {
            Value::String(more) => self.text.push_str(more),
            Value::Array(parts) => {
                parts.iter().filter_map(|part| part["text"].as_str()).for_each(|more| {
                    self.text.push_str(more);
                });
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
        self.refusal.push_str(delta["refusal"].as_str().unwrap_or_default());
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            self.add_call(piece);
        }
    }

    fn add_call(&mut self, piece: &Value) {
        let id = piece["id"].as_str().filter(|id| !id.is_empty());
        let index = piece["index"].as_u64();
        let name = piece["function"]["name"].as_str().unwrap_or_default();
        let goes_on = |call: &Call| {
            let other_id = id.is_some_and(|id| call.id.as_deref().is_some_and(|own| own != id));
            // Without numbers and ids, a name begins a call.
            let begins = index.is_none() && !name.is_empty();
            !other_id && !begins && (index.is_none() || call.index == index)
        };
        if !self.calls.last().is_some_and(goes_on) {
            match self.calls.iter().position(goes_on).filter(|_| index.is_some()) {
                // Pieces of two calls in turn: the one that goes on is moved to the end, and back.
                Some(at) => return self.calls[at].add(piece),
                None => self.calls.push(Call { index, ..Call::default() }),
            }
        }
        if let Some(call) = self.calls.last_mut() {
            call.add(piece);
        }
    }
}

impl Call {
    fn add(&mut self, piece: &Value) {
        if let Some(id) = piece["id"].as_str().filter(|id| !id.is_empty()) {
            self.id = Some(id.to_owned());
        }
        if let Some(name) = piece["function"]["name"].as_str().filter(|_| self.name.is_empty()) {
            name.clone_into(&mut self.name);
        }
        match &piece["function"]["arguments"] {
            Value::String(more) => self.arguments.push_str(more),
            Value::Null => {}
            other => self.object = Some(other.clone()),
        }
    }

    /// The arguments, read; what is no JSON stays the text that it is.
    fn arguments(&self) -> Value {
        let text = || Value::String(self.arguments.clone());
        let read = || serde_json::from_str(&self.arguments).unwrap_or_else(|_| text());
        self.object.clone().unwrap_or_else(read)
    }

    fn raw(&self) -> Value {
        let arguments = self.object.clone().unwrap_or_else(|| self.arguments.clone().into());
        let function = json!({ "name": self.name, "arguments": arguments });
        json!({ "id": self.id, "type": "function", "function": function })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(pieces: &[Value]) -> Vec<(String, Value)> {
        let mut gathering = Gathering::default();
        for piece in pieces {
            let event = json!({ "choices": [{ "delta": { "tool_calls": [piece] } }] });
            assert!(gathering.take(&event.to_string()).unwrap().is_continue());
        }
        let said = gathering.heard().said;
        said.calls.into_iter().map(|call| (call.name, call.args)).collect()
    }

    #[test]
    fn pieces_of_calls_are_put_together_however_they_are_marked() {
        let piece = |index: Option<u64>, id: Option<&str>, (name, arguments): (&str, &str)| {
            let mut piece = json!({ "function": { "arguments": arguments } });
            if !name.is_empty() {
                piece["function"]["name"] = json!(name);
            }
            piece["index"] = json!(index);
            piece["id"] = json!(id);
            piece
        };
        let wanted = vec![("a".to_owned(), json!({ "x": 1 })), ("b".to_owned(), json!({}))];
        for pieces in [
            // As OpenAI does.
            vec![
                piece(Some(0), Some("1"), ("a", "")),
                piece(Some(0), None, ("", "{\"x\"")),
                piece(Some(1), Some("2"), ("b", "")),
                piece(Some(0), None, ("", ":1}")),
                piece(Some(1), None, ("", "{}")),
            ],
            // No numbers.
            vec![
                piece(None, Some("1"), ("a", "{\"x\":")),
                piece(None, None, ("", "1}")),
                piece(None, Some("2"), ("b", "{}")),
            ],
            // Neither numbers nor ids.
            vec![piece(None, None, ("a", "{\"x\":1}")), piece(None, None, ("b", "{}"))],
            // One number for all.
            vec![
                piece(Some(0), Some("1"), ("a", "{\"x\":1}")),
                piece(Some(0), Some("2"), ("b", "{}")),
            ],
        ] {
            assert_eq!(calls(&pieces), wanted, "{pieces:?}");
        }
    }
}
