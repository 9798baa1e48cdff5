//! A conversation as the body of a Messages request. Pure.
pub(super) mod gather;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::model::prompts::{SYSTEM, tools};
use crate::model::wire::Asked;
use crate::ports::model::{Message, Picture, Turn};

/// How long an answer may be, in tokens.
pub(super) const MOST_TOKENS: u32 = 8_192;
/// What stands for a text that is empty, which the service refuses.
pub(super) const NOTHING: &str = "(nothing)";
/// What is answered to a call that was left out.
pub(super) const LEFT_OUT: &str = "Left out: one tool a turn.";
/// How many characters of an answer that cannot be replayed are told.
const MOST_SAID: usize = 500;

/// Writes the body of the request for the next answer.
pub(super) fn request(asked: &Asked<'_>) -> Value {
    let conversation = asked.conversation;
    let most = conversation.most_tokens.unwrap_or(MOST_TOKENS).clamp(1, MOST_TOKENS);
    let mut body = json!({
        "model": asked.model,
        "max_tokens": most,
        "stream": true,
        "system": [{ "type": "text", "text": SYSTEM }],
        "tools": tools().iter().map(tool).collect::<Vec<_>>(),
        "tool_choice": { "type": "any", "disable_parallel_tool_use": true },
        "messages": messages(asked),
    });
    if asked.takes("cache_control") {
        mark(&mut body);
    }
    for field in ["tool_choice", "stream"].iter().filter(|field| !asked.takes(field)) {
        body.as_object_mut().map(|body| body.shift_remove(*field));
    }
    body
}

fn tool(tool: &crate::model::prompts::Tool) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema })
}

/// Sets the breakpoints of the prompt cache: behind what never changes, behind what was new last
/// time (it is read from there), and behind what is new now (it is written there).
fn mark(body: &mut Value) {
    let breakpoint = || json!({ "type": "ephemeral" });
    body["system"][0]["cache_control"] = breakpoint();
    let Some(messages) = body["messages"].as_array_mut() else { return };
    let of_user = messages.iter_mut().rev().filter(|message| message["role"] == "user");
    for message in of_user.take(2) {
        let last = message["content"].as_array_mut().and_then(|content| content.last_mut());
        if let Some(block) = last {
            block["cache_control"] = breakpoint();
        }
    }
}

/// Each answer as it came, after what it answered; what is new stands last.
fn messages(asked: &Asked<'_>) -> Vec<Value> {
    let conversation = asked.conversation;
    let mut messages = Vec::new();
    let mut open = Open::default();
    for (number, turn) in conversation.turns.iter().enumerate() {
        messages.push(json!({ "role": "user", "content": told(&turn.message, &open, asked.sees) }));
        let (content, calls) = spoken(turn, number);
        messages.push(json!({ "role": "assistant", "content": content }));
        open = Open { calls, unusable: turn.call.is_none() };
    }
    let content = told(&conversation.newest, &open, asked.sees);
    messages.push(json!({ "role": "user", "content": content }));
    messages
}

/// The calls of the answer before, which the next message must answer.
#[derive(Default)]
struct Open {
    calls: Vec<String>,
    /// The first could not be used.
    unusable: bool,
}

fn told(message: &Message, open: &Open, sees: bool) -> Vec<Value> {
    let text = if message.text.trim().is_empty() { NOTHING } else { &message.text };
    let text = json!({ "type": "text", "text": text });
    let picture = message.picture.as_deref().filter(|_| sees).map(picture);
    let said: Vec<Value> = [Some(text), picture].into_iter().flatten().collect();
    let Some((first, left_out)) = open.calls.split_first() else { return said };
    let mut result = json!({ "type": "tool_result", "tool_use_id": first, "content": said });
    if open.unusable {
        result["is_error"] = json!(true);
    }
    let left_out = left_out.iter().map(|id| {
        json!({ "type": "tool_result", "tool_use_id": id, "content": LEFT_OUT, "is_error": true })
    });
    // What is new stands last, where the cache's breakpoint is.
    left_out.chain([result]).collect()
}

fn picture(picture: &Picture) -> Value {
    let data = STANDARD.encode(&picture.0);
    json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } })
}

/// What the model said in a turn, and the ids of its calls: word for word where the service takes
/// it back. A turn that another model took (a script, before the run was resumed) is told as if
/// this one had taken it.
fn spoken(turn: &Turn, number: usize) -> (Value, Vec<String>) {
    let raw: Value = serde_json::from_str(&turn.raw).unwrap_or_default();
    if let Some((content, calls)) = verbatim(&raw) {
        return (content, calls);
    }
    if let Some(call) = &turn.call {
        let id = format!("turn_{number}");
        let call = serde_json::to_value(call).unwrap_or_default();
        let (name, input) = (&call["tool"], &call["args"]);
        let block = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
        return (json!([block]), vec![id]);
    }
    (json!([{ "type": "text", "text": stand_in(&turn.raw) }]), Vec::new())
}

/// Returns content that the service takes back, without texts that are empty.
fn verbatim(raw: &Value) -> Option<(Value, Vec<String>)> {
    let content = raw.get("content")?.as_array()?;
    let speaks = |block: &&Value| {
        block["type"] != "text" || block["text"].as_str().is_some_and(|it| !it.trim().is_empty())
    };
    let content: Vec<_> = content.iter().filter(speaks).cloned().collect();
    let calls: Vec<_> = content.iter().filter(|block| block["type"] == "tool_use").collect();
    let ids: Vec<_> = calls.iter().filter_map(|call| id_of(call)).collect();
    let whole = ids.len() == calls.len() && differ(&ids);
    let says = content.iter().any(|block| block["type"] == "text" || block["type"] == "tool_use");
    (whole && says).then(|| (Value::from(content), ids))
}

/// The id of a call that is well formed.
fn id_of(call: &Value) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_word = |word: &&str| !word.is_empty() && word.len() <= 128 && word.chars().all(fits);
    call["name"].as_str().filter(is_word)?;
    call["input"].as_object()?;
    call["id"].as_str().filter(is_word).map(str::to_owned)
}

fn differ(ids: &[String]) -> bool {
    ids.iter().enumerate().all(|(at, id)| !ids[..at].contains(id))
}

/// What is told of an answer that cannot be replayed.
pub(super) fn stand_in(raw: &str) -> String {
    let said: String = raw.chars().take(MOST_SAID).collect();
    if said.trim().is_empty() {
        return "(an answer that could not be used)".to_owned();
    }
    format!("(an answer that could not be used: {said})")
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

    fn turn(text: &str, raw: &Value, call: Option<ToolCall>) -> Turn {
        Turn { message: message(text), raw: raw.to_string(), call }
    }

    fn of(turns: Vec<Turn>, newest: Message, sees: bool) -> Value {
        let conversation = Conversation { turns, newest, number: 0, most_tokens: None };
        let asked = Asked { model: "m", conversation: &conversation, sees, without: &[] };
        Value::from(messages(&asked))
    }

    #[test]
    fn a_conversation_is_replayed_word_for_word() {
        let spoke = json!({ "content": [
            { "type": "text", "text": "I look first." },
            { "type": "text", "text": " " },
            { "type": "tool_use", "id": "toolu_1", "name": "browser_view", "input": {} },
            { "type": "tool_use", "id": "toolu_2", "name": "browser_view", "input": {} },
        ]});
        let unusable = json!({ "content": [
            { "type": "tool_use", "id": "toolu_3", "name": "browser_fly", "input": {} },
        ]});
        let prose = json!({ "content": [{ "type": "text", "text": "I would click it." }] });
        let broken = json!({ "content": [
            { "type": "tool_use", "id": "toolu_4", "name": "finish", "input": "{\"answer\":" },
        ]});
        let script = json!({ "tool": "browser_view", "args": {} });
        let view = Some(ToolCall::View {});
        let turns = vec![
            turn("The task", &spoke, view.clone()),
            turn("first", &unusable, None),
            turn("no such tool", &prose, None),
            turn("no call", &broken, None),
            turn("cut off", &json!({ "content": [] }), None),
            turn("empty", &script, view),
        ];
        let said = of(turns, message(""), false);
        insta::assert_snapshot!(serde_json::to_string_pretty(&said).unwrap());
    }

    #[test]
    fn pictures_go_to_those_who_see() {
        let picture = Message { picture: Some(Arc::new(Picture(vec![1, 2, 3]))), ..message("now") };
        let view = json!({ "tool": "browser_screenshot", "args": {} });
        let call = Some(ToolCall::View {});
        let seen = of(vec![turn("t", &view, call)], picture.clone(), true);
        let content = &seen[2]["content"][0]["content"];
        assert_eq!(content[0], json!({ "type": "text", "text": "now" }));
        assert_eq!(content[1]["source"]["data"], "AQID");
        assert_eq!(of(vec![], picture.clone(), true)[0]["content"][1]["type"], "image");
        assert_eq!(of(vec![], picture, false)[0]["content"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn breakpoints_stand_where_the_cache_is_read_and_written() {
        let view = json!({ "tool": "browser_view", "args": {} });
        let turns = (0..3).map(|_| turn("t", &view, Some(ToolCall::View {}))).collect();
        let conversation =
            Conversation { turns, newest: message("new"), number: 3, most_tokens: Some(9) };
        let mut asked =
            Asked { model: "m", conversation: &conversation, sees: false, without: &[] };
        let body = request(&asked);
        let count = |body: &Value| body.to_string().matches("cache_control").count();
        assert_eq!((count(&body), &body["max_tokens"]), (3, &json!(9)));
        let marked: Vec<_> = (0..7)
            .filter(|at| body["messages"][at]["content"][0].get("cache_control").is_some())
            .collect();
        assert_eq!(marked, [4, 6]);
        asked.without = &["cache_control", "tool_choice"];
        let bare = request(&asked);
        assert_eq!((count(&bare), bare.get("tool_choice")), (0, None));
    }
}
