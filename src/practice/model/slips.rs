//! How a model's service slips: what it says wrong, and how it breaks off. A named list.
use serde_json::{Value, json};

use crate::practice::model::actor::Choice;

/// One way to slip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slip {
    /// An answer without anything in it.
    Empty,
    /// Words alone.
    Prose,
    /// The call as JSON in a code fence.
    Fenced,
    /// Words, then the call as JSON.
    ProseAndCall,
    UnknownTool,
    /// An index that is no number.
    BadIndex,
    /// Numbers and flags as texts.
    StringValues,
    /// All arguments in one text.
    StringArguments,
    /// The arguments as an object, where a text should be.
    ObjectArguments,
    /// The call, and another one.
    TwoCalls,
    NoIds,
    /// A `finish` without an answer.
    BadFinish,
    /// Arguments of the wrong types.
    WrongTypes,
    /// Cut off, for it was too long.
    TooLongAnswer,
    Refusal,
    /// In one piece, although a stream was asked for.
    Plain,
    /// What is no JSON.
    Garbage,
    /// The connection breaks in the middle.
    CutShort,
    /// The answer ends in the middle, and the connection in good order.
    EndedEarly,
    /// Nothing more comes after the middle.
    Stall,
    /// Nothing comes at all.
    Silent,
    /// The service says in the middle that it is overloaded.
    ErrorEvent,
    /// No answer, but a status.
    Status {
        status: u16,
        kind: &'static str,
        message: &'static str,
        after_ms: Option<u32>,
    },
}

impl Slip {
    /// Returns a status with nothing else to say.
    pub fn status(status: u16) -> Self {
        Self::Status { status, kind: "", message: "no", after_ms: None }
    }

    /// Whether the answer does not come to its end.
    pub(super) fn breaks(self) -> bool {
        matches!(self, Self::CutShort | Self::EndedEarly | Self::Stall | Self::ErrorEvent)
    }
}

/// What the service says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spoken {
    pub text: String,
    pub calls: Vec<Called>,
    pub stop: Stop,
}

/// A call as it is said.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Called {
    pub id: Option<String>,
    pub name: String,
    pub args: Value,
    /// Whether chat completions write the arguments as a text, as they should.
    pub as_text: bool,
}

/// Why it says no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Called,
    Done,
    Cut,
    Refused,
}

/// Returns what is said of a choice, and whether the script goes on with it.
pub(super) fn shape(slip: Option<Slip>, choice: &Choice) -> (Spoken, bool) {
    let Choice { id, name, args, .. } = choice;
    let called = |name: &str, args: Value| Called {
        id: Some(id.clone()),
        name: name.to_owned(),
        args,
        as_text: true,
    };
    let calls = |calls: Vec<Called>| Spoken { text: String::new(), calls, stop: Stop::Called };
    let says = |text: &str, stop| Spoken { text: text.to_owned(), calls: vec![], stop };
    let own = || called(name, args.clone());
    let written = json!({ "tool": name, "args": args }).to_string();
    match slip {
        Some(Slip::Empty) => (says("", Stop::Done), false),
        Some(Slip::Prose) => (says("I would press the button.", Stop::Done), false),
        Some(Slip::Refusal) => (says("I cannot help with that.", Stop::Refused), false),
        Some(Slip::TooLongAnswer) => (says("First of all, let me", Stop::Cut), false),
        Some(Slip::Fenced) => (says(&format!("```json\n{written}\n```"), Stop::Done), true),
        Some(Slip::ProseAndCall) => (says(&format!("I go on: {written}"), Stop::Done), true),
        Some(Slip::UnknownTool) => (calls(vec![called("browser_fly", json!({}))]), false),
        Some(Slip::BadIndex) => {
            (calls(vec![called("browser_click", json!({ "index": "the red one" }))]), false)
        }
        Some(Slip::WrongTypes) => {
            let args = json!({ "index": [true], "text": null, "press_enter": 7 });
            (calls(vec![called("browser_input", args)]), false)
        }
        Some(Slip::BadFinish) => (calls(vec![called("finish", json!({ "done": true }))]), false),
        Some(Slip::StringValues) => (calls(vec![called(name, as_texts(args))]), true),
        Some(Slip::StringArguments) => {
            (calls(vec![called(name, Value::String(args.to_string()))]), true)
        }
        Some(Slip::ObjectArguments) => (calls(vec![Called { as_text: false, ..own() }]), true),
        Some(Slip::NoIds) => (calls(vec![Called { id: None, ..own() }]), true),
        Some(Slip::TwoCalls) => {
            let more =
                Called { id: Some(format!("{id}_more")), ..called("browser_view", json!({})) };
            (calls(vec![own(), more]), true)
        }
        _ => (Spoken { text: "I go on.".to_owned(), ..calls(vec![own()]) }, true),
    }
}

fn as_texts(args: &Value) -> Value {
    let text = |value: &Value| match value {
        Value::Number(_) | Value::Bool(_) => Value::String(value.to_string()),
        other => other.clone(),
    };
    let fields = args.as_object().into_iter().flatten();
    Value::Object(fields.map(|(name, value)| (name.clone(), text(value))).collect())
}
