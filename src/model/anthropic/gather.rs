//! An answer of Messages, put together from its events and read. Pure.
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use crate::domain::cost::Usage;
use crate::model::failure::Failure;
use crate::model::repair::{Said, Written};
use crate::model::wire::{Gather, Heard, Stop};
use crate::ports::model::ModelError;

/// What came so far.
#[derive(Default)]
pub struct Gathering {
    blocks: BTreeMap<u64, Block>,
    stop_reason: Option<String>,
    usage: Map<String, Value>,
}

/// A block of content, and the input of its call as far as it was sent.
struct Block {
    is: Value,
    input: String,
}

impl Gather for Gathering {
    fn take(&mut self, data: &str) -> Result<ControlFlow<()>, Failure> {
        let event: Value = serde_json::from_str(data)
            .map_err(|error| Failure::broken_off(format!("an event is no JSON: {error}")))?;
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.count(&event["message"]["usage"]),
            "content_block_start" => {
                let block = Block { is: event["content_block"].clone(), input: String::new() };
                self.blocks.insert(event["index"].as_u64().unwrap_or_default(), block);
            }
            "content_block_delta" => {
                let at = event["index"].as_u64().unwrap_or_default();
                if let Some(block) = self.blocks.get_mut(&at) {
                    block.add(&event["delta"]);
                }
            }
            "message_delta" => {
                self.count(&event["usage"]);
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    self.stop_reason = Some(reason.to_owned());
                }
            }
            "message_stop" => return Ok(ControlFlow::Break(())),
            // A `ping`, the end of a block, and what is yet to be invented.
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn take_whole(&mut self, body: Value) -> Result<(), Failure> {
        let content = body["content"].as_array().ok_or_else(|| {
            Failure::last(ModelError::Unreadable("it is no Messages answer: no content".into()))
        })?;
        let blocks = content.iter().map(|is| Block { is: is.clone(), input: String::new() });
        self.blocks = (0..).zip(blocks).collect();
        // A server that leaves the reason out has still sent the whole answer.
        self.stop_reason = Some(body["stop_reason"].as_str().unwrap_or("end_turn").to_owned());
        self.count(&body["usage"]);
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.stop_reason.is_some()
    }

    fn usage(&self) -> Usage {
        let of = |name: &str| self.usage.get(name).and_then(Value::as_u64).unwrap_or_default();
        let (cached, written) = (of("cache_read_input_tokens"), of("cache_creation_input_tokens"));
        // What came from the cache or went there was read as well.
        let input = of("input_tokens") + cached + written;
        Usage { input, output: of("output_tokens"), cached, written }
    }

    fn heard(&self) -> Heard {
        let content: Vec<_> = self.blocks.values().map(Block::whole).collect();
        let usage = self.usage();
        let reason = self.stop_reason.as_deref().unwrap_or_default();
        let is = |block: &&Value, kind: &str| block["type"] == kind;
        let calls = content.iter().filter(|block| is(block, "tool_use")).map(|call| Written {
            name: call["name"].as_str().unwrap_or_default().to_owned(),
            args: call["input"].clone(),
        });
        let texts = content.iter().filter(|block| is(block, "text"));
        let text: Vec<_> = texts.filter_map(|block| block["text"].as_str()).collect();
        let said =
            Said { calls: calls.collect(), text: text.join("\n"), cut: reason == "max_tokens" };
        let stop = match reason {
            "refusal" => Stop::Refused(why(&said.text)),
            "model_context_window_exceeded" => Stop::Full,
            _ => Stop::Done,
        };
        let raw = json!({ "content": content, "stop_reason": reason, "usage": self.usage });
        Heard { raw, said, stop, usage }
    }
}

impl Gathering {
    /// Later counts are of the whole answer.
    fn count(&mut self, usage: &Value) {
        let counts = usage.as_object().into_iter().flatten();
        let counts = counts.filter(|(_, count)| !count.is_null());
        self.usage.extend(counts.map(|(name, count)| (name.clone(), count.clone())));
    }
}

impl Block {
    fn add(&mut self, delta: &Value) {
        if let Some(more) = delta["partial_json"].as_str() {
            self.input.push_str(more);
        }
        for name in ["text", "thinking", "signature"] {
            if let Some(more) = delta[name].as_str() {
                let so_far = self.is[name].as_str().unwrap_or_default();
                self.is[name] = Value::String(format!("{so_far}{more}"));
            }
        }
    }

    /// Returns the block; an input that is no JSON stays the text that it is.
    fn whole(&self) -> Value {
        let mut block = self.is.clone();
        if !self.input.is_empty() {
            let read = serde_json::from_str(&self.input);
            block["input"] = read.unwrap_or_else(|_| Value::String(self.input.clone()));
        }
        block
    }
}

/// What a refusal says for itself.
pub(in crate::model) fn why(text: &str) -> String {
    let said: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if said.is_empty() { "it gave no reason".into() } else { said.chars().take(300).collect() }
}
