//! A model at a table with its service: turns are asked for, and told over.
use std::time::Duration;

use serde_json::Value;
use strawmanus::model::remote::{Remote, Setup};
use strawmanus::model::retry::Retry;
use strawmanus::model::service::{Key, Patience, Proxies};
use strawmanus::model::wire::Wire;
use strawmanus::ports::model::{Answer, Conversation, Failed, Meaning, Message, Model, Turn};
use strawmanus::practice::model::ModelService;

pub const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::OpenAi];

pub const SCRIPT: &str = r#"{"tool":"browser_click","args":{"index":{"role":"button","name":"Red kettle"}}}
{"tool":"browser_input","args":{"index":4,"text":"two","press_enter":true}}
{"tool":"finish","args":{"answer":"done"}}"#;

const PAGE: &str =
    "The task:\nBuy it.\n  3[:]<button>Red kettle</button>\n  4[:]<input>How many</input>";

pub struct Table {
    wire: Wire,
    pub service: ModelService,
    pub model: Remote,
    conversation: Conversation,
    last: Option<Answer>,
}

pub fn model(wire: Wire, base_url: &str) -> Remote {
    let setup = Setup {
        wire: Some(wire),
        base_url: base_url.to_owned(),
        model: "claude-test".into(),
        sees: None,
        key: Some(Key::new("sk-test")),
    };
    let retry = Retry { most: 3, first: Duration::from_millis(5), ..Retry::default() };
    let patience = Patience { stall: Duration::from_millis(400), whole: Duration::from_secs(20) };
    Remote::new(setup, Proxies::default()).unwrap().with_retry(retry).with_patience(patience)
}

impl Table {
    pub fn lay(wire: Wire, script: &str) -> Self {
        let service = ModelService::start(script).unwrap();
        let base = base_of(wire, &service);
        let newest = Message { text: PAGE.into(), picture: None };
        let conversation = Conversation { newest, ..Conversation::default() };
        Self { wire, model: model(wire, &base), service, conversation, last: None }
    }

    pub fn base(&self) -> String {
        base_of(self.wire, &self.service)
    }

    /// Asks for the answer of this turn; every request must be one that the service takes.
    pub async fn ask(&mut self) -> Result<Answer, Failed> {
        let answer = self.model.answer(&self.conversation).await;
        for asked in self.service.asked() {
            must_be_valid(self.wire, &asked.body);
        }
        self.last = answer.as_ref().ok().cloned();
        answer
    }

    /// Tells what came of the last answer; the next turn begins.
    pub fn told(&mut self, text: &str) {
        let Answer { raw, meaning, .. } = self.last.take().expect("there was an answer");
        let call = match meaning {
            Meaning::Call(call) => Some(call),
            Meaning::Fault { .. } => None,
        };
        let newest = Message { text: text.into(), picture: None };
        let message = std::mem::replace(&mut self.conversation.newest, newest);
        self.conversation.turns.push(Turn { message, raw, call });
        self.conversation.number += 1;
    }
}

fn base_of(wire: Wire, service: &ModelService) -> String {
    match wire {
        Wire::Anthropic => service.anthropic(),
        Wire::OpenAi => service.openai(),
    }
}

/// What both services want: turns that alternate, no text that is empty, every call answered.
fn must_be_valid(wire: Wire, body: &Value) {
    let messages = body["messages"].as_array().unwrap();
    match wire {
        Wire::Anthropic => valid_messages(messages),
        Wire::OpenAi => valid_chat(messages),
    }
}

fn valid_messages(messages: &[Value]) {
    let mut open = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], role, "{messages:#?}");
        let content = message["content"].as_array().unwrap();
        assert!(!content.is_empty(), "{messages:#?}");
        let results: Vec<_> = content.iter().filter(|it| it["type"] == "tool_result").collect();
        let answered: Vec<_> = results.iter().map(|it| it["tool_use_id"].clone()).collect();
        let sorted = |mut ids: Vec<Value>| {
            ids.sort_by_key(ToString::to_string);
            ids
        };
        assert_eq!(sorted(answered), sorted(open), "{messages:#?}");
        let first_text = content.iter().position(|it| it["type"] == "text").unwrap_or(usize::MAX);
        assert!(results.len() <= first_text || role == "assistant", "results stand first");
        open = Vec::new();
        for block in content {
            match block["type"].as_str().unwrap() {
                "text" => assert!(!block["text"].as_str().unwrap().trim().is_empty()),
                "tool_use" => {
                    assert!(block["input"].is_object() && block["id"].is_string(), "{block}");
                    open.push(block["id"].clone());
                }
                "tool_result" => assert!(!block["content"].to_string().is_empty()),
                other => panic!("{other}"),
            }
        }
    }
    assert!(open.is_empty());
}

fn valid_chat(messages: &[Value]) {
    let mut open: Vec<Value> = Vec::new();
    let mut last = "";
    for message in messages {
        let role = message["role"].as_str().unwrap();
        let text = message["content"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = &message["tool_call_id"];
            let at = open.iter().position(|it| it == id).unwrap_or_else(|| panic!("{messages:#?}"));
            open.remove(at);
        } else {
            assert!(open.is_empty(), "{messages:#?}");
            assert_ne!(role, last, "{messages:#?}");
        }
        let calls = message["tool_calls"].as_array();
        assert!(!text.trim().is_empty() || calls.is_some(), "{messages:#?}");
        for call in calls.into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object());
            open.push(call["id"].clone());
        }
        last = role;
    }
    assert!(open.is_empty());
}
