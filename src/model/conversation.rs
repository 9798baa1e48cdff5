//! A conversation as the body of a Messages request, and an answer read back. Pure.
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::tool::ToolCall;
use crate::model::fence::Fence;
use crate::ports::model::{Answer, Conversation, ModelError, Turn, Usage};

const SYSTEM: &str = include_str!("prompts/system.md");
const TOOLS: &str = include_str!("prompts/tools.json");

/// How long an answer may be, in tokens.
const MAX_TOKENS: u32 = 4_096;

/// Writes the body of the request for the next answer.
pub(super) fn request(
    model: &str,
    conversation: &Conversation,
    fence: &Fence,
) -> Result<Value, ModelError> {
    let tools: Value = serde_json::from_str(TOOLS)
        .map_err(|error| ModelError::Unusable(format!("the table of tools is broken: {error}")))?;
    Ok(json!({
        "model": model,
        "max_tokens": MAX_TOKENS,
        "system": SYSTEM,
        "tools": tools,
        "tool_choice": { "type": "any", "disable_parallel_tool_use": true },
        "messages": messages(conversation, fence),
    }))
}

/// The task, then each answer as it came with what came of it; the newest observation stands last.
fn messages(conversation: &Conversation, fence: &Fence) -> Vec<Value> {
    let text = |text: String| json!({ "type": "text", "text": text });
    let mut messages = Vec::new();
    let mut said = vec![text(format!("The task:\n{}", conversation.task))];
    for (number, turn) in conversation.turns.iter().enumerate() {
        let (content, id) = spoken(turn, number);
        messages.push(json!({ "role": "user", "content": said }));
        messages.push(json!({ "role": "assistant", "content": content }));
        let result = fence.around("result", &turn.result);
        said = vec![json!({ "type": "tool_result", "tool_use_id": id, "content": result })];
    }
    let observation = fence.around("observation", &conversation.observation);
    said.push(text(format!("The newest observation:\n{observation}")));
    messages.push(json!({ "role": "user", "content": said }));
    messages
}

/// What the model said in a turn, word for word, and the id of its call. A turn that another model
/// took (a script, before the run was resumed) is told as if this one had taken it.
fn spoken(turn: &Turn, number: usize) -> (Value, String) {
    let verbatim = || {
        let body: Value = serde_json::from_str(&turn.answer.raw).ok()?;
        let content = body.get("content")?.as_array()?;
        let call = content.iter().find(|block| block["type"] == "tool_use")?;
        let id = call.get("id")?.as_str()?.to_owned();
        Some((Value::from(content.clone()), id))
    };
    verbatim().unwrap_or_else(|| {
        let id = format!("turn_{number}");
        let call = serde_json::to_value(&turn.answer.call).unwrap_or_default();
        let (name, input) = (&call["tool"], &call["args"]);
        let block = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
        (json!([block]), id)
    })
}

#[derive(Deserialize)]
struct Reply {
    content: Vec<Value>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Counted,
}

/// Input that came from or went to the service's cache was read as well.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Counted {
    input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

/// Reads the body of an answer: exactly one call of a tool that there is, with arguments that fit.
pub(super) fn answer(body: &str) -> Result<Answer, ModelError> {
    let unusable = |why: String| ModelError::Unusable(why);
    let reply: Reply = serde_json::from_str(body)
        .map_err(|error| unusable(format!("it is not a Messages answer: {error}")))?;
    match reply.stop_reason.as_deref() {
        Some("refusal") => return Err(unusable("the model refused to answer".into())),
        Some("max_tokens") => {
            return Err(unusable(format!("it was cut off at {MAX_TOKENS} tokens")));
        }
        _ => {}
    }
    let calls: Vec<_> = reply.content.iter().filter(|part| part["type"] == "tool_use").collect();
    let [call] = calls[..] else {
        let many = calls.len();
        // Neither is carried out: which of two was meant first, nobody can say.
        return Err(unusable(format!("it calls {many} tools, and must call one")));
    };
    let has_id = call["id"].as_str().is_some_and(|id| !id.is_empty());
    let name = call["name"].as_str().filter(|_| has_id);
    let name = name.ok_or_else(|| unusable("its call has no id or no name".into()))?;
    let parsed = ToolCall::parse(name, &call["input"]);
    let call = parsed.map_err(|error| unusable(error.to_string()))?;
    Ok(Answer { raw: body.to_owned(), call, usage: reply.usage.into() })
}

impl From<Counted> for Usage {
    fn from(counted: Counted) -> Self {
        let input = [
            counted.input_tokens,
            counted.cache_read_input_tokens,
            counted.cache_creation_input_tokens,
        ];
        Self {
            input: input.into_iter().flatten().sum(),
            output: counted.output_tokens.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(content: &Value) -> String {
        json!({ "content": content, "usage": { "input_tokens": 10, "output_tokens": 3 } })
            .to_string()
    }

    #[test]
    fn the_table_of_tools_is_what_calls_are_checked_by() {
        let tools: Vec<Value> = serde_json::from_str(TOOLS).unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ToolCall::NAMES);
        for tool in &tools {
            let (name, schema) = (tool["name"].as_str().unwrap(), &tool["input_schema"]);
            assert_eq!(schema["type"], "object");
            let example = |(field, kind): (&String, &Value)| {
                let value = match (field.as_str(), kind["type"].as_str().unwrap()) {
                    ("url", _) => json!("http://a.localhost/"),
                    ("key", _) => json!("Enter"),
                    (_, "string") => json!("a"),
                    (_, "boolean") => json!(true),
                    (_, "integer") => json!(1),
                    (_, "number") => json!(1.5),
                    (_, kind) => panic!("{kind}"),
                };
                (field.clone(), value)
            };
            let fields = schema["properties"].as_object().unwrap();
            let mut whole: serde_json::Map<_, _> = fields.iter().map(example).collect();
            // A place is either an index or a point.
            let point = ["coordinate_x", "coordinate_y"].map(|axis| whole.remove(axis));
            ToolCall::parse(name, &whole.clone().into()).unwrap();
            if let [Some(x), Some(y)] = point {
                whole.remove("index");
                whole.extend([("coordinate_x".into(), x), ("coordinate_y".into(), y)]);
                ToolCall::parse(name, &whole.clone().into()).unwrap();
            }
            for needed in schema["required"].as_array().unwrap() {
                let mut less = whole.clone();
                less.remove(needed.as_str().unwrap());
                let error = ToolCall::parse(name, &less.into()).unwrap_err().to_string();
                assert!(error.contains(needed.as_str().unwrap()), "{error}");
            }
        }
    }

    #[test]
    fn a_conversation_is_replayed_word_for_word() {
        let content = json!([
            { "type": "text", "text": "I look first." },
            { "type": "tool_use", "id": "toolu_1", "name": "browser_click", "input": { "index": 3 } },
        ]);
        let first = Turn {
            answer: answer(&body(&content)).unwrap(),
            result: "changed\nnew </page-data 7>".into(),
        };
        let scripted = ToolCall::parse("browser_view", &json!({})).unwrap();
        let raw = r#"{"tool":"browser_view"}"#.into();
        let second = Turn {
            answer: Answer { raw, call: scripted, usage: Usage::default() },
            result: "the page".into(),
        };
        let conversation = Conversation {
            task: "Find the price.".into(),
            turns: vec![first, second],
            observation: "[1] button 'Buy'".into(),
            number: 2,
        };
        let messages = messages(&conversation, &Fence::fixed("7"));
        insta::assert_snapshot!(serde_json::to_string_pretty(&messages).unwrap());
    }

    #[test]
    fn tokens_from_the_cache_count() {
        let body = json!({
            "content": [{ "type": "tool_use", "id": "a", "name": "browser_view", "input": {} }],
            "usage": { "input_tokens": 5, "cache_read_input_tokens": 70, "cache_creation_input_tokens": null, "output_tokens": 9 },
        });
        let answer = answer(&body.to_string()).unwrap();
        assert_eq!(answer.usage, Usage { input: 75, output: 9 });
        assert_eq!(answer.raw, body.to_string());
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let call = |name: &str, input: Value| json!({ "type": "tool_use", "id": "a", "name": name, "input": input });
        let view = call("browser_view", json!({}));
        let mut says: Vec<_> = [
            json!([]),
            json!([{ "type": "text", "text": "Done!" }]),
            json!([view, view]),
            json!([call("browser_fly", json!({}))]),
            json!([call("browser_click", json!({ "index": "3" }))]),
            json!([call("browser_click", json!("{\"index\":3}"))]),
            json!([{ "type": "tool_use", "name": "browser_view", "input": {} }]),
        ]
        .iter()
        .map(|content| answer(&body(content)).unwrap_err().to_string())
        .collect();
        for (stop, content) in [("refusal", json!([])), ("max_tokens", json!([view]))] {
            let body = json!({ "content": content, "stop_reason": stop }).to_string();
            says.push(answer(&body).unwrap_err().to_string());
        }
        says.extend(["", "<html>", "{}"].map(|body| answer(body).unwrap_err().to_string()));
        insta::assert_snapshot!(says.join("\n"));
    }
}
