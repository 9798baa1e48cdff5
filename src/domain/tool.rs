//! The tools of the loop: names and parameters are public facts, kept as they are.
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::ids::ElementId;
use crate::domain::keys::Chord;

/// One call of one tool, checked. `{"tool":"browser_click","args":{"index":12}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tool", content = "args", try_from = "RawCall")]
pub enum ToolCall {
    #[serde(rename = "browser_view")]
    View {},
    #[serde(rename = "browser_navigate")]
    Navigate { url: String },
    #[serde(rename = "browser_click")]
    Click(Place),
    #[serde(rename = "browser_input")]
    Input {
        #[serde(flatten)]
        place: Place,
        text: String,
        press_enter: bool,
    },
    #[serde(rename = "browser_press_key")]
    PressKey { key: String },
    #[serde(rename = "browser_scroll_up")]
    ScrollUp { to_top: bool },
    #[serde(rename = "browser_scroll_down")]
    ScrollDown { to_bottom: bool },
    #[serde(rename = "finish")]
    Finish {
        answer: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        incomplete_reason: Option<String>,
    },
}

/// Where a tool acts: an index, or both coordinates.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Place {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Index>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinate_x: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinate_y: Option<f64>,
}

/// An element of the newest observation: by its number, or (in scripts) by role and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Index {
    Number(ElementId),
    Named { role: String, name: String },
}

/// A call as it is written, before its arguments are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCall {
    tool: String,
    #[serde(default)]
    args: Map<String, Value>,
}

/// Why something is no call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCall {
    #[error("there is no tool `{tool}`; use one of {}", ToolCall::NAMES.join(", "))]
    NoSuchTool { tool: String },
    #[error("the arguments of {tool} must be an object")]
    NoObject { tool: String },
    #[error("{tool} needs {field}, which must be {wanted}")]
    Missing { tool: String, field: &'static str, wanted: &'static str },
    #[error("{field} of {tool} must be {wanted}, not {given}")]
    Wrong { tool: String, field: &'static str, wanted: &'static str, given: String },
    #[error("{tool} takes no {field}")]
    Unexpected { tool: String, field: String },
    #[error("{tool} needs either index or both coordinate_x and coordinate_y")]
    NoPlace { tool: String },
}

impl ToolCall {
    /// Every tool there is, as models and scripts name it.
    pub const NAMES: [&str; 8] = [
        "browser_view",
        "browser_navigate",
        "browser_click",
        "browser_input",
        "browser_press_key",
        "browser_scroll_up",
        "browser_scroll_down",
        "finish",
    ];

    /// Checks a call of `tool` with the JSON object `args`.
    ///
    /// # Errors
    /// Names the argument that is missing, of the wrong kind, or not known.
    pub fn parse(tool: &str, args: &Value) -> Result<Self, BadCall> {
        match args {
            Value::Object(given) => Self::checked(tool, given.clone()),
            _ => Err(BadCall::NoObject { tool: tool.to_owned() }),
        }
    }

    fn checked(tool: &str, given: Map<String, Value>) -> Result<Self, BadCall> {
        let mut args = Args { tool, given };
        let call = match tool {
            "browser_view" => Self::View {},
            "browser_navigate" => Self::Navigate { url: args.url()? },
            "browser_click" => Self::Click(args.place()?),
            "browser_input" => Self::Input {
                place: args.place()?,
                text: args.required("text", TEXT, text)?,
                press_enter: args.required("press_enter", FLAG, flag)?,
            },
            "browser_press_key" => Self::PressKey { key: args.key()? },
            "browser_scroll_up" => Self::ScrollUp { to_top: args.switch("to_top")? },
            "browser_scroll_down" => Self::ScrollDown { to_bottom: args.switch("to_bottom")? },
            "finish" => Self::Finish {
                answer: args.required("answer", TEXT, text)?,
                incomplete_reason: args.optional("incomplete_reason", TEXT, text)?,
            },
            _ => return Err(BadCall::NoSuchTool { tool: tool.to_owned() }),
        };
        args.none_left()?;
        Ok(call)
    }

    /// Says the call in words, for logs and reports: `click [12]`, `input 'text' into [3]`.
    ///
    /// Text is shown as it was given: whoever knows that a field is secret replaces it.
    pub fn what(&self) -> String {
        match self {
            Self::View {} => "look at the page".into(),
            Self::Navigate { url } => format!("navigate to {}", short(url, 200)),
            Self::Click(place) => format!("click {place}"),
            Self::Input { place, text, press_enter } => {
                let enter = if *press_enter { " and press Enter" } else { "" };
                format!("input '{}' into {place}{enter}", short(text, 80))
            }
            Self::PressKey { key } => format!("press {key}"),
            Self::ScrollUp { to_top: false } => "scroll up".into(),
            Self::ScrollUp { to_top: true } => "scroll to the top".into(),
            Self::ScrollDown { to_bottom: false } => "scroll down".into(),
            Self::ScrollDown { to_bottom: true } => "scroll to the bottom".into(),
            Self::Finish { incomplete_reason: None, .. } => "finish".into(),
            Self::Finish { incomplete_reason: Some(why), .. } => {
                format!("finish, incomplete: {}", short(why, 80))
            }
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.index, self.coordinate_x, self.coordinate_y) {
            (Some(Index::Number(id)), ..) => write!(f, "[{}]", id.0),
            (Some(Index::Named { role, name }), ..) => write!(f, "{role} '{}'", short(name, 80)),
            (None, Some(x), Some(y)) => write!(f, "at ({x}, {y})"),
            (None, ..) => f.write_str("nowhere"),
        }
    }
}

impl TryFrom<RawCall> for ToolCall {
    type Error = BadCall;

    fn try_from(raw: RawCall) -> Result<Self, BadCall> {
        Self::checked(&raw.tool, raw.args)
    }
}

/// At most `most` characters of a text, on one line.
fn short(text: &str, most: usize) -> String {
    let flat = |c: char| if c.is_control() { ' ' } else { c };
    let mut left = text.chars().map(flat);
    let mut short: String = left.by_ref().take(most).collect();
    if left.next().is_some() {
        short.pop();
        short.push('…');
    }
    short
}

const TEXT: &str = "text";
const FLAG: &str = "true or false";
const NUMBER: &str = "a number of CSS pixels, from 0";
const INDEX: &str = "the whole number of an element";

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn flag(value: &Value) -> Option<bool> {
    value.as_bool()
}

fn pixels(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite() && *number >= 0.0)
}

fn index(value: &Value) -> Option<Index> {
    if let Value::Object(named) = value {
        let word = |field| named.get(field).and_then(text).filter(|word| !word.is_empty());
        let (role, name) = (word("role")?, text(named.get("name")?)?);
        return (named.len() == 2).then_some(Index::Named { role, name });
    }
    let number = u32::try_from(value.as_u64()?).ok()?;
    Some(Index::Number(ElementId(number)))
}

/// Arguments that nobody took yet.
struct Args<'a> {
    tool: &'a str,
    given: Map<String, Value>,
}

impl Args<'_> {
    /// Takes an argument that may be absent; `null` counts as absent, as some models write it.
    fn optional<T>(
        &mut self,
        field: &'static str,
        wanted: &'static str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, BadCall> {
        match self.given.shift_remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(&value) {
                Some(value) => Ok(Some(value)),
                None => Err(self.wrong(field, wanted, &value)),
            },
        }
    }

    fn required<T>(
        &mut self,
        field: &'static str,
        wanted: &'static str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, BadCall> {
        let value = self.optional(field, wanted, read)?;
        let tool = self.tool;
        value.ok_or_else(|| BadCall::Missing { tool: tool.to_owned(), field, wanted })
    }

    fn switch(&mut self, field: &'static str) -> Result<bool, BadCall> {
        Ok(self.optional(field, FLAG, flag)?.unwrap_or_default())
    }

    fn place(&mut self) -> Result<Place, BadCall> {
        let place = Place {
            index: self.optional("index", INDEX, index)?,
            coordinate_x: self.optional("coordinate_x", NUMBER, pixels)?,
            coordinate_y: self.optional("coordinate_y", NUMBER, pixels)?,
        };
        match (&place.index, place.coordinate_x, place.coordinate_y) {
            (Some(_), None, None) | (None, Some(_), Some(_)) => Ok(place),
            _ => Err(BadCall::NoPlace { tool: self.tool.to_owned() }),
        }
    }

    fn url(&mut self) -> Result<String, BadCall> {
        let complete = |value: &Value| text(value).filter(|url| url::Url::parse(url).is_ok());
        self.required("url", "complete, such as https://example.com/", complete)
    }

    fn key(&mut self) -> Result<String, BadCall> {
        let known = |value: &Value| text(value).filter(|key| key.parse::<Chord>().is_ok());
        self.required("key", "a key or chord, such as Enter or Control+Enter", known)
    }

    fn none_left(self) -> Result<(), BadCall> {
        match self.given.into_iter().next() {
            None => Ok(()),
            Some((field, _)) => Err(BadCall::Unexpected { tool: self.tool.to_owned(), field }),
        }
    }

    fn wrong(&self, field: &'static str, wanted: &'static str, value: &Value) -> BadCall {
        let given = short(&value.to_string(), 60);
        BadCall::Wrong { tool: self.tool.to_owned(), field, wanted, given }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_read_said_and_written_back() {
        for (line, what) in [
            (json!({"tool": "browser_view", "args": {}}), "look at the page"),
            (
                json!({"tool": "browser_navigate", "args": {"url": "http://a.localhost/x"}}),
                "navigate to http://a.localhost/x",
            ),
            (json!({"tool": "browser_click", "args": {"index": 12}}), "click [12]"),
            (
                json!({"tool": "browser_click", "args": {"index": {"role": "button", "name": "Send"}}}),
                "click button 'Send'",
            ),
            (
                json!({"tool": "browser_click", "args": {"coordinate_x": 10.5, "coordinate_y": 20.0}}),
                "click at (10.5, 20)",
            ),
            (
                json!({"tool": "browser_input", "args": {"index": 3, "text": "Ada", "press_enter": true}}),
                "input 'Ada' into [3] and press Enter",
            ),
            (
                json!({"tool": "browser_press_key", "args": {"key": "Control+Enter"}}),
                "press Control+Enter",
            ),
            (json!({"tool": "browser_scroll_up", "args": {"to_top": true}}), "scroll to the top"),
            (json!({"tool": "browser_scroll_down", "args": {"to_bottom": false}}), "scroll down"),
            (json!({"tool": "finish", "args": {"answer": "42"}}), "finish"),
            (
                json!({"tool": "finish", "args": {"answer": "", "incomplete_reason": "no\nshop"}}),
                "finish, incomplete: no shop",
            ),
        ] {
            let call: ToolCall = serde_json::from_value(line.clone()).unwrap();
            assert_eq!(call.what(), what);
            assert_eq!(serde_json::to_value(&call).unwrap(), line);
            let tool = line["tool"].as_str().unwrap();
            assert_eq!(ToolCall::parse(tool, &line["args"]), Ok(call));
            assert!(ToolCall::NAMES.contains(&tool));
        }
    }

    #[test]
    fn what_may_be_left_out_may_be_left_out() {
        let view: ToolCall = serde_json::from_str(r#"{"tool":"browser_view"}"#).unwrap();
        assert_eq!(view, ToolCall::View {});
        let up = ToolCall::parse("browser_scroll_up", &json!({}));
        assert_eq!(up, Ok(ToolCall::ScrollUp { to_top: false }));
        let click = ToolCall::parse("browser_click", &json!({"index": 1, "coordinate_x": null}));
        assert_eq!(click.unwrap().what(), "click [1]");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            ("browser_fly", json!({})),
            ("browser_click", json!([12])),
            ("browser_click", json!({})),
            ("browser_click", json!({"coordinate_x": 3})),
            ("browser_click", json!({"index": 3, "coordinate_x": 3, "coordinate_y": 4})),
            ("browser_click", json!({"index": "12"})),
            ("browser_click", json!({"index": -1})),
            ("browser_click", json!({"index": 1.5})),
            ("browser_click", json!({"index": {"role": "button"}})),
            ("browser_click", json!({"index": {"role": "button", "name": "a", "nth": 2}})),
            ("browser_click", json!({"index": 1, "double": true})),
            ("browser_click", json!({"coordinate_x": -1, "coordinate_y": 4})),
            ("browser_input", json!({"index": 1, "press_enter": false})),
            ("browser_input", json!({"index": 1, "text": "a"})),
            ("browser_input", json!({"index": 1, "text": 7, "press_enter": false})),
            ("browser_input", json!({"index": 1, "text": "a", "press_enter": "false"})),
            ("browser_navigate", json!({"url": "example.com"})),
            ("browser_press_key", json!({"key": "Entr"})),
            ("browser_scroll_down", json!({"to_bottom": 1})),
            ("browser_view", json!({"index": 1})),
            ("finish", json!({})),
            ("finish", json!({"answer": {"text": "x".repeat(100)}})),
        ];
        let says = cases.map(|(tool, args)| ToolCall::parse(tool, &args).unwrap_err().to_string());
        insta::assert_snapshot!(says.join("\n"));
        for odd in [r#"{"tool":"finish","args":{"answer":"a"},"why":1}"#, r#"{"args":{}}"#] {
            assert!(serde_json::from_str::<ToolCall>(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn long_text_is_cut_at_characters() {
        let text = "긴".repeat(300);
        let what = ToolCall::parse(
            "browser_input",
            &json!({"index": 1, "text": text, "press_enter": false}),
        );
        assert_eq!(what.unwrap().what(), format!("input '{}…' into [1]", "긴".repeat(79)));
    }
}
