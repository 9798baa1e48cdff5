//! A model that needs no key: a file of tool calls, one a line, one a turn.
use std::path::Path;

use async_trait::async_trait;

use crate::domain::cost::Usage;
use crate::domain::tool::ToolCall;
use crate::ports::model::{Answer, Conversation, Failed, Meaning, Model, ModelError};

/// A script, checked whole before its first call is played.
#[derive(Debug, Clone)]
pub struct Script {
    name: String,
    /// The lines as they stand in the file, and what they mean.
    calls: Vec<(String, ToolCall)>,
}

impl Script {
    /// Reads the script in the file `path`.
    ///
    /// # Errors
    /// `NoScript` when there is no such text, `BadScript` with the number of the first bad line.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| ModelError::NoScript {
            path: shown.clone(),
            why: error.to_string(),
        })?;
        Self::parse(&shown, &text)
    }

    /// Reads a script from its text. Empty lines are no turns.
    ///
    /// # Errors
    /// `BadScript` with the number of the first bad line, from 1; a script without calls is bad.
    pub fn parse(name: &str, text: &str) -> Result<Self, ModelError> {
        let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
        let written = lines.filter(|(_, line)| !line.trim().is_empty());
        let call = |(line, raw): (usize, &str)| match read(raw) {
            Ok(call) => Ok((raw.trim().to_owned(), call)),
            Err(why) => Err(ModelError::BadScript { line, why }),
        };
        let calls: Vec<_> = written.map(call).collect::<Result<_, _>>()?;
        if calls.is_empty() {
            let why = "the script is empty; end it with `finish`".into();
            return Err(ModelError::BadScript { line: 1, why });
        }
        Ok(Self { name: name.to_owned(), calls })
    }

    /// Returns every address that it goes to: whoever wrote it has given them.
    pub fn addresses(&self) -> Vec<String> {
        let of = |(_, call): &(String, ToolCall)| match call {
            ToolCall::Navigate { url } | ToolCall::Restart { url } => Some(url.clone()),
            ToolCall::Tabs { url, .. } => url.clone(),
            _ => None,
        };
        self.calls.iter().filter_map(of).collect()
    }
}

fn read(raw: &str) -> Result<ToolCall, String> {
    let value: serde_json::Value = serde_json::from_str(raw)
        .map_err(|error| format!("it is no JSON from column {} on", error.column()))?;
    if !value.is_object() {
        return Err(r#"it must be an object: {"tool":"…","args":{…}}"#.into());
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[async_trait]
impl Model for Script {
    fn name(&self) -> String {
        format!("script:{}", self.name)
    }

    fn sees(&self) -> bool {
        false
    }

    async fn answer(&self, conversation: &Conversation) -> Result<Answer, Failed> {
        let turn = conversation.number;
        let (raw, call) = self.calls.get(turn).ok_or(ModelError::ScriptOver { turn })?;
        let (raw, meaning) = (raw.clone(), Meaning::Call(call.clone()));
        Ok(Answer { raw, meaning, usage: Usage::default(), note: None })
    }
}
