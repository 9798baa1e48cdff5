//! What a model's service says, in the words of both wires.
use axum::body::Bytes;
use serde_json::{Value, json};

use crate::domain::cost::Usage;
use crate::practice::model::slips::{Called, Spoken, Stop};

/// Whose words are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Anthropic,
    OpenAi,
}

/// How much of an argument one event brings, in bytes.
const PIECE: usize = 12;

impl Voice {
    /// Returns an answer in one piece.
    pub fn whole(self, spoken: &Spoken, usage: Usage) -> Value {
        match self {
            Self::Anthropic => {
                let text = Some(&spoken.text).filter(|text| !text.is_empty());
                let text = text.map(|text| json!({ "type": "text", "text": text }));
                let calls = spoken.calls.iter().map(tool_use);
                json!({
                    "id": "msg_1", "type": "message", "role": "assistant", "model": "practice",
                    "content": text.into_iter().chain(calls).collect::<Vec<_>>(),
                    "stop_reason": reason_of_message(spoken.stop),
                    "usage": counted(usage),
                })
            }
            Self::OpenAi => {
                let mut message = json!({ "role": "assistant", "content": spoken.text });
                if !spoken.calls.is_empty() {
                    message["tool_calls"] = spoken.calls.iter().map(tool_call).collect();
                }
                let reason = reason_of_chat(spoken.stop);
                json!({
                    "id": "c1", "object": "chat.completion", "model": "practice",
                    "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
                    "usage": counted_for_chat(usage),
                })
            }
        }
    }

    /// Returns the same in events.
    pub fn events(self, spoken: &Spoken, usage: Usage) -> Vec<Bytes> {
        match self {
            Self::Anthropic => message_events(spoken, usage),
            Self::OpenAi => chat_events(spoken, usage),
        }
    }

    /// Returns the event that ends an answer in the middle.
    pub fn overloaded(self) -> Bytes {
        let error = json!({ "type": "overloaded_error", "message": "Overloaded" });
        match self {
            Self::Anthropic => event(&json!({ "type": "error", "error": error })),
            Self::OpenAi => data(&json!({ "error": error }).to_string()),
        }
    }
}

fn tool_use(called: &Called) -> Value {
    let Called { id, name, args, .. } = called;
    json!({ "type": "tool_use", "id": id, "name": name, "input": args })
}

fn tool_call(called: &Called) -> Value {
    let Called { id, name, args, as_text } = called;
    let arguments = if *as_text { Value::String(args.to_string()) } else { args.clone() };
    let mut call =
        json!({ "type": "function", "function": { "name": name, "arguments": arguments } });
    if let Some(id) = id {
        call["id"] = json!(id);
    }
    call
}

fn reason_of_message(stop: Stop) -> &'static str {
    match stop {
        Stop::Called => "tool_use",
        Stop::Done => "end_turn",
        Stop::Cut => "max_tokens",
        Stop::Refused => "refusal",
    }
}

fn reason_of_chat(stop: Stop) -> &'static str {
    match stop {
        Stop::Called => "tool_calls",
        Stop::Done => "stop",
        Stop::Cut => "length",
        Stop::Refused => "content_filter",
    }
}

fn counted(usage: Usage) -> Value {
    let Usage { input, output, cached, written } = usage;
    json!({
        "input_tokens": input - cached - written,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
    })
}

fn counted_for_chat(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.tokens(),
        "prompt_tokens_details": { "cached_tokens": usage.cached },
    })
}

fn event(value: &Value) -> Bytes {
    let kind = value["type"].as_str().unwrap_or_default();
    Bytes::from(format!("event: {kind}\ndata: {value}\n\n"))
}

fn data(text: &str) -> Bytes {
    Bytes::from(format!("data: {text}\n\n"))
}

fn message_events(spoken: &Spoken, usage: Usage) -> Vec<Bytes> {
    let begun = Usage { output: 1, ..usage };
    let mut events = vec![
        json!({ "type": "message_start", "message": {
            "id": "msg_1", "role": "assistant", "content": [], "usage": counted(begun) } }),
        json!({ "type": "ping" }),
    ];
    let mut index = 0;
    let mut block = |block: Value, deltas: Vec<Value>| {
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        let deltas = deltas.into_iter();
        events.extend(
            deltas.map(
                |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    };
    if !spoken.text.is_empty() {
        let deltas = pieces(&spoken.text).map(|it| json!({ "type": "text_delta", "text": it }));
        block(json!({ "type": "text", "text": "" }), deltas.collect());
    }
    for called in &spoken.calls {
        let args = called.args.to_string();
        let deltas =
            pieces(&args).map(|it| json!({ "type": "input_json_delta", "partial_json": it }));
        block(tool_use(&Called { args: json!({}), ..called.clone() }), deltas.collect());
    }
    events.push(json!({
        "type": "message_delta",
        "delta": { "stop_reason": reason_of_message(spoken.stop), "stop_sequence": null },
        "usage": { "output_tokens": usage.output },
    }));
    events.push(json!({ "type": "message_stop" }));
    events.iter().map(event).collect()
}

fn chat_events(spoken: &Spoken, usage: Usage) -> Vec<Bytes> {
    let delta = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
    let mut events = vec![delta(json!({ "role": "assistant", "content": "" }))];
    events.extend(pieces(&spoken.text).map(|piece| delta(json!({ "content": piece }))));
    for (index, called) in spoken.calls.iter().enumerate() {
        let mut begun = tool_call(called);
        if called.id.is_some() {
            begun["index"] = json!(index);
        }
        if called.as_text {
            begun["function"]["arguments"] = json!("");
        }
        events.push(delta(json!({ "tool_calls": [begun] })));
        let args = called.args.to_string();
        for piece in pieces(&args).filter(|_| called.as_text) {
            let mut more = json!({ "function": { "arguments": piece } });
            if called.id.is_some() {
                more["index"] = json!(index);
            }
            events.push(delta(json!({ "tool_calls": [more] })));
        }
    }
    let reason = reason_of_chat(spoken.stop);
    events.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }));
    events.push(json!({ "choices": [], "usage": counted_for_chat(usage) }));
    let mut said: Vec<_> = events.iter().map(|event| data(&event.to_string())).collect();
    said.push(data("[DONE]"));
    said
}

/// Cuts a text where its characters end.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut left = text;
    std::iter::from_fn(move || {
        let end = left.char_indices().map(|(at, _)| at).find(|at| *at >= PIECE);
        let (piece, rest) = left.split_at(end.unwrap_or(left.len()));
        left = rest;
        (!piece.is_empty()).then_some(piece)
    })
}
