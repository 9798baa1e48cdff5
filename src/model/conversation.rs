//! A conversation as the body of a Messages request, and an answer read back. Pure.
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::cost::Usage;
use crate::domain::tool::ToolCall;
use crate::ports::model::{Answer, Conversation, FaultKind, Meaning, ModelError, Turn};

const SYSTEM: &str = include_str!("prompts/system.md");
const TOOLS: &str = include_str!("prompts/tools.json");

/// How long an answer may be, in tokens.
const MAX_TOKENS: u32 = 4_096;

/// Writes the body of the request for the next answer.
pub(super) fn request(model: &str, conversation: &Conversation) -> Result<Value, ModelError> {
    let tools: Value = serde_json::from_str(TOOLS).map_err(|error| {
        ModelError::Unreadable(format!("the table of tools is broken: {error}"))
    })?;
    Ok(json!({
        "model": model,
        "max_tokens": MAX_TOKENS,
        "system": SYSTEM,
        "tools": tools,
        "tool_choice": { "type": "any", "disable_parallel_tool_use": true },
        "messages": messages(conversation),
    }))
}

/// Each answer as it came, after what it answered; what is new stands last.
fn messages(conversation: &Conversation) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut id = None;
    let told = |text: &str, id: &Option<String>| match id {
        Some(id) => json!([{ "type": "tool_result", "tool_use_id": id, "content": text }]),
        None => json!([{ "type": "text", "text": text }]),
    };
    for (number, turn) in conversation.turns.iter().enumerate() {
        messages.push(json!({ "role": "user", "content": told(&turn.message.text, &id) }));
        let (content, called) = spoken(turn, number);
        messages.push(json!({ "role": "assistant", "content": content }));
        id = Some(called);
    }
    let content = told(&conversation.newest.text, &id);
    messages.push(json!({ "role": "user", "content": content }));
    messages
}

/// What the model said in a turn, word for word, and the id of its call. A turn that another model
/// took (a script, before the run was resumed) is told as if this one had taken it.
fn spoken(turn: &Turn, number: usize) -> (Value, String) {
    let verbatim = || {
        let body: Value = serde_json::from_str(&turn.raw).ok()?;
        let content = body.get("content")?.as_array()?;
        let call = content.iter().find(|block| block["type"] == "tool_use")?;
        let id = call.get("id")?.as_str()?.to_owned();
        Some((Value::from(content.clone()), id))
    };
    verbatim().unwrap_or_else(|| {
        let id = format!("turn_{number}");
        let call = serde_json::to_value(&turn.call).unwrap_or_default();
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
    let unusable = |why: String| ModelError::Unreadable(why);
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
    let meaning = match ToolCall::understood(name, &call["input"]) {
        Ok(call) => Meaning::Call(call),
        Err(error) => Meaning::Fault { kind: FaultKind::BadArguments, why: error.to_string() },
    };
    Ok(Answer { raw: body.to_owned(), meaning, usage: reply.usage.into(), note: None })
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
            cached: counted.cache_read_input_tokens.unwrap_or_default(),
            written: counted.cache_creation_input_tokens.unwrap_or_default(),
        }
    }
}
