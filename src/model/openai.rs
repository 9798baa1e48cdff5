//! A conversation as the body of a chat-completions request. Pure.
pub(super) mod gather;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::model::anthropic::{LEFT_OUT, MOST_TOKENS, NOTHING, stand_in};
use crate::model::prompts::{SYSTEM, Tool, tools};
use crate::model::wire::Asked;
use crate::ports::model::{Message, Picture, Turn};

/// What servers may not know. Without its newer name, the length is said by its older one.
pub(super) const SPARE: [&str; 6] = [
    "max_completion_tokens",
    "max_tokens",
    "parallel_tool_calls",
    "tool_choice",
    "stream_options",
    "stream",
];

/// Writes the body of the request for the next answer.
pub(super) fn request(asked: &Asked<'_>) -> Value {
    let mut body = json!({
        "model": asked.model,
        "messages": messages(asked),
        "tools": tools().iter().map(tool).collect::<Vec<_>>(),
    });
    let most = asked.conversation.most_tokens.unwrap_or(MOST_TOKENS).clamp(1, MOST_TOKENS);
    let length =
        if asked.takes("max_completion_tokens") { "max_completion_tokens" } else { "max_tokens" };
    for (field, value) in [
        (length, json!(most)),
        ("tool_choice", json!("required")),
        ("parallel_tool_calls", json!(false)),
        ("stream", json!(true)),
        ("stream_options", json!({ "include_usage": true })),
    ] {
        let streams = field != "stream_options" || asked.takes("stream");
        if asked.takes(field) && streams {
            body[field] = value;
        }
    }
    body
}

fn tool(tool: &Tool) -> Value {
    let Tool { name, description, input_schema } = tool;
    let function = json!({ "name": name, "description": description, "parameters": input_schema });
    json!({ "type": "function", "function": function })
}

/// Each answer as it came, after what it answered; what is new stands last.
fn messages(asked: &Asked<'_>) -> Vec<Value> {
    let conversation = asked.conversation;
    let mut messages = vec![json!({ "role": "system", "content": SYSTEM })];
    let mut open = Vec::new();
    for (number, turn) in conversation.turns.iter().enumerate() {
        tell(&mut messages, &turn.message, (&open, asked.sees));
        let (message, calls) = spoken(turn, number);
        messages.push(message);
        open = calls;
    }
    tell(&mut messages, &conversation.newest, (&open, asked.sees));
    messages
}

/// Adds a message of ours; `open` are the calls that it must answer.
fn tell(messages: &mut Vec<Value>, message: &Message, (open, sees): (&[String], bool)) {
    let text = if message.text.trim().is_empty() { NOTHING } else { &message.text };
    let picture = message.picture.as_deref().filter(|_| sees).map(picture);
    if let Some((first, left_out)) = open.split_first() {
        messages.push(json!({ "role": "tool", "tool_call_id": first, "content": text }));
        messages.extend(
            left_out
                .iter()
                .map(|id| json!({ "role": "tool", "tool_call_id": id, "content": LEFT_OUT })),
        );
        if let Some(picture) = picture {
            let about = json!({ "type": "text", "text": "The picture:" });
            messages.push(json!({ "role": "user", "content": [about, picture] }));
        }
        return;
    }
    let content = match picture {
        Some(picture) => json!([{ "type": "text", "text": text }, picture]),
        None => json!(text),
    };
    messages.push(json!({ "role": "user", "content": content }));
}

fn picture(picture: &Picture) -> Value {
    let url = format!("data:image/png;base64,{}", STANDARD.encode(&picture.0));
    json!({ "type": "image_url", "image_url": { "url": url } })
}

/// What the model said in a turn, and the ids of its calls. A turn that another model took is told
/// as if this one had taken it.
fn spoken(turn: &Turn, number: usize) -> (Value, Vec<String>) {
    let raw: Value = serde_json::from_str(&turn.raw).unwrap_or_default();
    if let Some(said) = raw.get("message").and_then(|message| verbatim(message, number)) {
        return said;
    }
    if let Some(call) = &turn.call {
        let id = format!("turn_{number}");
        let call = serde_json::to_value(call).unwrap_or_default();
        let name = call["tool"].as_str().unwrap_or_default();
        let call = called(&id, name, &call["args"]);
        let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
        return (message, vec![id]);
    }
    (json!({ "role": "assistant", "content": stand_in(&turn.raw) }), Vec::new())
}

/// Returns what the service takes back of a message: its text and its calls, those without an id by
/// one of ours.
fn verbatim(message: &Value, number: usize) -> Option<(Value, Vec<String>)> {
    let text = message["content"].as_str().filter(|text| !text.trim().is_empty());
    let given = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
    if text.is_none() && given.is_empty() {
        return None;
    }
    let mut said = json!({ "role": "assistant", "content": text });
    let (mut ids, mut calls) = (Vec::new(), Vec::new());
    for (at, call) in given.iter().enumerate() {
        let name = call["function"]["name"].as_str().filter(|name| !name.is_empty())?;
        let own = call["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
        let own = own.filter(|id| !ids.contains(id));
        let id = own.unwrap_or_else(|| format!("turn_{number}_{at}"));
        calls.push(called(&id, name, &call["function"]["arguments"]));
        ids.push(id);
    }
    if !calls.is_empty() {
        said["tool_calls"] = Value::from(calls);
    }
    Some((said, ids))
}

/// A call as the service takes it back: its arguments are an object, written as a text.
fn called(id: &str, name: &str, arguments: &Value) -> Value {
    let object = |text: &str| matches!(serde_json::from_str(text), Ok(Value::Object(_)));
    let arguments = match arguments {
        Value::String(text) if object(text) => text.clone(),
        Value::Object(_) => arguments.to_string(),
        // Some servers read it, and refuse the whole request over what is no object.
        _ => "{}".to_owned(),
    };
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::tool::ToolCall;
    use crate::ports::model::Conversation;

    fn message(text: &str) -> Message {
        Message { text: text.into(), picture: None }
    }

    fn turn(text: &str, message: &Value, call: Option<ToolCall>) -> Turn {
        let raw = json!({ "message": message }).to_string();
        Turn { message: self::message(text), raw, call }
    }

    fn of(turns: Vec<Turn>, newest: Message, sees: bool) -> Value {
        let conversation = Conversation { turns, newest, number: 0, most_tokens: None };
        let asked = Asked { model: "m", conversation: &conversation, sees, without: &[] };
        Value::from(messages(&asked).split_off(1))
    }

    #[test]
    fn a_conversation_is_replayed_as_servers_take_it_back() {
        let call = |id: Value, arguments: Value| json!({ "id": id, "function": { "name": "browser_view", "arguments": arguments } });
        let two = json!({ "role": "assistant", "content": "I look.", "refusal": null,
            "tool_calls": [call(json!("c1"), json!("{}")), call(json!("c1"), json!({ "a": 1 }))] });
        let no_id = json!({ "content": null, "tool_calls": [call(json!(null), json!("{\"x\""))] });
        let view = Some(ToolCall::View {});
        let script = r#"{"tool":"browser_view","args":{}}"#.into();
        let turns = vec![
            turn("The task", &two, view.clone()),
            turn("first", &no_id, None),
            turn("bad", &json!({ "content": "I would click it." }), None),
            turn("no call", &json!({ "content": "" }), None),
            Turn { message: message("empty"), raw: script, call: view },
        ];
        let said = of(turns, message(""), false);
        insta::assert_snapshot!(serde_json::to_string_pretty(&said).unwrap());
    }

    #[test]
    fn pictures_go_to_those_who_see() {
        let picture = Message { picture: Some(Arc::new(Picture(vec![1, 2, 3]))), ..message("now") };
        let script =
            Turn { message: message("t"), raw: String::new(), call: Some(ToolCall::View {}) };
        let seen = of(vec![script], picture.clone(), true);
        assert_eq!(seen[2]["content"], "now");
        let url = &seen[3]["content"][1]["image_url"]["url"];
        assert_eq!(url, "data:image/png;base64,AQID");
        assert_eq!(of(vec![], picture.clone(), true)[0]["content"][1]["type"], "image_url");
        assert_eq!(of(vec![], picture, false)[0]["content"], "now");
    }

    #[test]
    fn fields_are_left_out_one_by_one() {
        let conversation = Conversation { newest: message("new"), ..Conversation::default() };
        let with = |without: &[&'static str]| {
            let asked = Asked { model: "m", conversation: &conversation, sees: false, without };
            let body = request(&asked);
            SPARE.into_iter().filter(|field| body.get(field).is_some()).collect::<Vec<_>>()
        };
        let all = ["max_completion_tokens", "parallel_tool_calls", "tool_choice"];
        assert_eq!(with(&[]), [&all[..], &["stream_options", "stream"]].concat());
        assert_eq!(
            with(&["stream", "tool_choice", "max_completion_tokens"]),
            ["max_tokens", "parallel_tool_calls"]
        );
        assert_eq!(with(&SPARE), Vec::<&str>::new());
    }
}
