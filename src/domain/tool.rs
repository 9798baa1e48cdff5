//! The tools of the loop: names and parameters are public facts, kept as they are.
mod arguments;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::ids::{ElementId, TabId};
use crate::domain::tool::arguments::{Args, Manner};

/// One call of one tool, checked. `{"tool":"browser_click","args":{"index":12}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tool", content = "args", try_from = "RawCall")]
pub enum ToolCall {
    #[serde(rename = "browser_view")]
    View {},
    #[serde(rename = "browser_navigate")]
    Navigate { url: String },
    #[serde(rename = "browser_restart")]
    Restart { url: String },
    #[serde(rename = "browser_click")]
    Click(Place),
    #[serde(rename = "browser_input")]
    Input {
        #[serde(flatten)]
        place: Place,
        text: String,
        press_enter: bool,
    },
    #[serde(rename = "browser_move_mouse")]
    MoveMouse { coordinate_x: f64, coordinate_y: f64 },
    #[serde(rename = "browser_press_key")]
    PressKey { key: String },
    /// Options count from 0.
    #[serde(rename = "browser_select_option")]
    SelectOption { index: Index, option: u32 },
    #[serde(rename = "browser_scroll_up")]
    ScrollUp { to_top: bool },
    #[serde(rename = "browser_scroll_down")]
    ScrollDown { to_bottom: bool },
    #[serde(rename = "browser_console_exec")]
    ConsoleExec { javascript: String },
    #[serde(rename = "browser_console_view")]
    ConsoleView { max_lines: u32 },
    #[serde(rename = "browser_find")]
    Find(Find),
    #[serde(rename = "browser_extract")]
    Extract {
        query: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        schema: Option<Map<String, Value>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        max_chars: Option<u32>,
    },
    #[serde(rename = "browser_tabs")]
    Tabs {
        action: TabsAction,
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tab: Option<TabId>,
    },
    #[serde(rename = "browser_screenshot")]
    Screenshot {
        #[serde(skip_serializing_if = "Option::is_none")]
        index: Option<Index>,
        full_page: bool,
        marks: bool,
    },
    #[serde(rename = "browser_takeover")]
    Takeover {
        reason: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        suggestion: Option<String>,
    },
    #[serde(rename = "record_fact")]
    RecordFact(Stated),
    #[serde(rename = "notify_user")]
    NotifyUser { text: String },
    #[serde(rename = "ask_user")]
    AskUser { question: String },
    #[serde(rename = "file_read")]
    FileRead { path: String },
    #[serde(rename = "file_write")]
    FileWrite { path: String, text: String },
    #[serde(rename = "file_list")]
    FileList {},
    #[serde(rename = "finish")]
    Finish {
        answer: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        incomplete_reason: Option<String>,
        /// From 1 (led by hand) to 5 (all alone), as the model sees it.
        #[serde(skip_serializing_if = "Option::is_none")]
        autonomy: Option<u32>,
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

/// What to look for by words, and what to do with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Find {
    pub description: String,
    pub action: FindAction,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default)]
    pub press_enter: bool,
    /// Which of the candidates of an earlier find is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Index>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindAction {
    None,
    Click,
    Input,
    Hover,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TabsAction {
    List,
    New,
    Switch,
    Close,
}

/// A fact as the model states it; it counts once its source was really read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    pub claim: String,
    pub entity: String,
    pub attribute: String,
    pub value: String,
    /// Of the page that it was read on.
    pub url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
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
    pub const NAMES: [&str; 24] = [
        "browser_view",
        "browser_navigate",
        "browser_restart",
        "browser_click",
        "browser_input",
        "browser_move_mouse",
        "browser_press_key",
        "browser_select_option",
        "browser_scroll_up",
        "browser_scroll_down",
        "browser_console_exec",
        "browser_console_view",
        "browser_find",
        "browser_extract",
        "browser_tabs",
        "browser_screenshot",
        "browser_takeover",
        "record_fact",
        "notify_user",
        "ask_user",
        "file_read",
        "file_write",
        "file_list",
        "finish",
    ];

    /// Checks a call of `tool` with the JSON object `args`, to the letter.
    ///
    /// # Errors
    /// Names the argument that is missing, of the wrong kind, or not known.
    pub fn parse(tool: &str, args: &Value) -> Result<Self, BadCall> {
        Self::read(tool, args, Manner::Strict)
    }

    /// Checks a call as models write it: arguments that came as text are read as what they stand
    /// for (`"12"`, `"true"`, an object in a string), and those that the tool does not have are
    /// left out.
    ///
    /// # Errors
    /// Names the argument that is missing, or that cannot be read even so.
    pub fn understood(tool: &str, args: &Value) -> Result<Self, BadCall> {
        Self::read(tool.trim(), args, Manner::Lenient)
    }

    fn read(tool: &str, args: &Value, manner: Manner) -> Result<Self, BadCall> {
        let object = arguments::object(args, manner);
        let given = object.ok_or_else(|| BadCall::NoObject { tool: tool.to_owned() })?;
        Self::checked(Args { tool, given, manner })
    }

    /// Says the call in words, for logs and reports: `click [12]`, `input 'text' into [3]`.
    ///
    /// Text is shown as it was given: whoever knows that a field is secret replaces it.
    pub fn what(&self) -> String {
        match self {
            Self::View {} => "look at the page".into(),
            Self::Navigate { url } => format!("navigate to {}", short(url, 200)),
            Self::Restart { url } => {
                format!("restart the browser and navigate to {}", short(url, 200))
            }
            Self::Click(place) => format!("click {place}"),
            Self::Input { place, text, press_enter } => {
                format!("input '{}' into {place}{}", short(text, 80), enter(*press_enter))
            }
            Self::MoveMouse { coordinate_x, coordinate_y } => {
                format!("move the mouse to ({coordinate_x}, {coordinate_y})")
            }
            Self::PressKey { key } => format!("press {key}"),
            Self::SelectOption { index, option } => format!("choose option {option} of {index}"),
            Self::ScrollUp { to_top: false } => "scroll up".into(),
            Self::ScrollUp { to_top: true } => "scroll to the top".into(),
            Self::ScrollDown { to_bottom: false } => "scroll down".into(),
            Self::ScrollDown { to_bottom: true } => "scroll to the bottom".into(),
            Self::ConsoleExec { javascript } => format!("run '{}'", short(javascript, 80)),
            Self::ConsoleView { max_lines } => format!("read {max_lines} lines of the console"),
            Self::Find(find) => find.what(),
            Self::Extract { query, .. } => format!("extract '{}'", short(query, 80)),
            Self::Tabs { action, url, tab } => tabs(*action, url.as_deref(), *tab),
            Self::Screenshot { .. } => "take a screenshot".into(),
            Self::Takeover { reason, .. } => format!("hand over: {}", short(reason, 80)),
            Self::RecordFact(fact) => format!("record '{}'", short(&fact.claim, 80)),
            Self::NotifyUser { text } => format!("tell the user '{}'", short(text, 80)),
            Self::AskUser { question } => format!("ask the user '{}'", short(question, 80)),
            Self::FileRead { path } => format!("read the file {}", short(path, 80)),
            Self::FileWrite { path, .. } => format!("write the file {}", short(path, 80)),
            Self::FileList {} => "list the files".into(),
            Self::Finish { incomplete_reason: None, .. } => "finish".into(),
            Self::Finish { incomplete_reason: Some(why), .. } => {
                format!("finish, incomplete: {}", short(why, 80))
            }
        }
    }

    /// The number of the element that it aims at, if it aims at one by number.
    pub fn aim(&self) -> Option<ElementId> {
        let index = match self {
            Self::Click(place) | Self::Input { place, .. } => place.index.as_ref(),
            Self::SelectOption { index, .. } => Some(index),
            Self::Screenshot { index, .. } => index.as_ref(),
            Self::Find(find) => find.index.as_ref(),
            _ => None,
        };
        match index {
            Some(Index::Number(id)) => Some(*id),
            Some(Index::Named { .. }) | None => None,
        }
    }

    /// Whether it only looks, or writes down what was seen: it leaves nothing in doubt.
    pub fn only_looks(&self) -> bool {
        match self {
            Self::View {}
            | Self::ConsoleView { .. }
            | Self::Extract { .. }
            | Self::Screenshot { .. }
            | Self::RecordFact(_)
            | Self::FileRead { .. }
            | Self::FileList {}
            | Self::Finish { .. } => true,
            Self::Find(find) => find.action == FindAction::None,
            Self::Tabs { action, .. } => *action == TabsAction::List,
            Self::Navigate { .. }
            | Self::Restart { .. }
            | Self::Click(_)
            | Self::Input { .. }
            | Self::MoveMouse { .. }
            | Self::PressKey { .. }
            | Self::SelectOption { .. }
            | Self::ScrollUp { .. }
            | Self::ScrollDown { .. }
            | Self::ConsoleExec { .. }
            | Self::Takeover { .. }
            | Self::NotifyUser { .. }
            | Self::AskUser { .. }
            | Self::FileWrite { .. } => false,
        }
    }

    /// Whether doing it twice is the same as doing it once.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Self::Navigate { .. }
            | Self::MoveMouse { .. }
            | Self::ScrollUp { .. }
            | Self::ScrollDown { .. }
            | Self::FileWrite { .. } => true,
            Self::Input { press_enter, .. } => !press_enter,
            Self::Find(find) => match find.action {
                FindAction::None | FindAction::Hover => true,
                FindAction::Input => !find.press_enter,
                FindAction::Click => false,
            },
            Self::Tabs { action, .. } => *action == TabsAction::Switch,
            call => call.only_looks(),
        }
    }
}

impl Find {
    fn what(&self) -> String {
        let described = short(&self.description, 80);
        match self.action {
            FindAction::None => format!("find '{described}'"),
            FindAction::Click => format!("find '{described}' and click it"),
            FindAction::Hover => format!("find '{described}' and hover over it"),
            FindAction::Input => {
                let text = short(self.text.as_deref().unwrap_or_default(), 80);
                format!("find '{described}' and input '{text}'{}", enter(self.press_enter))
            }
        }
    }
}

fn enter(press_enter: bool) -> &'static str {
    if press_enter { " and press Enter" } else { "" }
}

fn tabs(action: TabsAction, url: Option<&str>, tab: Option<TabId>) -> String {
    let tab = tab.map_or_else(|| "the tab".to_owned(), |tab| tab.to_string());
    match action {
        TabsAction::List => "list the tabs".into(),
        TabsAction::New => match url {
            Some(url) => format!("open a tab at {}", short(url, 200)),
            None => "open a tab".into(),
        },
        TabsAction::Switch => format!("switch to {tab}"),
        TabsAction::Close => format!("close {tab}"),
    }
}

impl std::fmt::Display for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(id) => write!(f, "[{}]", id.0),
            Self::Named { role, name } => write!(f, "{role} '{}'", short(name, 80)),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.index, self.coordinate_x, self.coordinate_y) {
            (Some(index), ..) => index.fmt(f),
            (None, Some(x), Some(y)) => write!(f, "at ({x}, {y})"),
            (None, ..) => f.write_str("nowhere"),
        }
    }
}

impl TryFrom<RawCall> for ToolCall {
    type Error = BadCall;

    fn try_from(raw: RawCall) -> Result<Self, BadCall> {
        Self::checked(Args { tool: &raw.tool, given: raw.args, manner: Manner::Strict })
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_read_said_and_written_back() {
        let mut named = std::collections::BTreeSet::new();
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
            (
                json!({"tool": "browser_restart", "args": {"url": "http://a.localhost/"}}),
                "restart the browser and navigate to http://a.localhost/",
            ),
            (
                json!({"tool": "browser_move_mouse", "args": {"coordinate_x": 1.0, "coordinate_y": 2.5}}),
                "move the mouse to (1, 2.5)",
            ),
            (
                json!({"tool": "browser_select_option", "args": {"index": 4, "option": 0}}),
                "choose option 0 of [4]",
            ),
            (
                json!({"tool": "browser_console_exec", "args": {"javascript": "1 + 1"}}),
                "run '1 + 1'",
            ),
            (
                json!({"tool": "browser_console_view", "args": {"max_lines": 7}}),
                "read 7 lines of the console",
            ),
            (
                json!({"tool": "browser_find", "args": {"description": "the search field", "action": "input", "text": "tea", "press_enter": true}}),
                "find 'the search field' and input 'tea' and press Enter",
            ),
            (
                json!({"tool": "browser_find", "args": {"description": "cart", "action": "click", "press_enter": false, "index": 3}}),
                "find 'cart' and click it",
            ),
            (
                json!({"tool": "browser_extract", "args": {"query": "prices", "schema": {"type": "object"}, "max_chars": 900}}),
                "extract 'prices'",
            ),
            (
                json!({"tool": "browser_tabs", "args": {"action": "new", "url": "http://a.localhost/"}}),
                "open a tab at http://a.localhost/",
            ),
            (json!({"tool": "browser_tabs", "args": {"action": "close"}}), "close the tab"),
            (
                json!({"tool": "browser_screenshot", "args": {"index": 3, "full_page": false, "marks": true}}),
                "take a screenshot",
            ),
            (
                json!({"tool": "browser_takeover", "args": {"reason": "a captcha"}}),
                "hand over: a captcha",
            ),
            (
                json!({"tool": "record_fact", "args": {"claim": "It costs 9", "entity": "Kettle", "attribute": "price", "value": "9", "url": "http://a.localhost/k", "unit": "EUR"}}),
                "record 'It costs 9'",
            ),
            (
                json!({"tool": "notify_user", "args": {"text": "Half done"}}),
                "tell the user 'Half done'",
            ),
            (json!({"tool": "ask_user", "args": {"question": "Red?"}}), "ask the user 'Red?'"),
            (json!({"tool": "file_read", "args": {"path": "a.md"}}), "read the file a.md"),
            (
                json!({"tool": "file_write", "args": {"path": "a.md", "text": ""}}),
                "write the file a.md",
            ),
            (json!({"tool": "file_list", "args": {}}), "list the files"),
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
            named.insert(tool.to_owned());
        }
        assert_eq!(named.len(), ToolCall::NAMES.len(), "every tool has an example");
    }

    #[test]
    fn what_models_write_is_understood_and_what_scripts_write_is_not_guessed_at() {
        for (tool, args, what) in [
            ("browser_click", json!({"index": "12"}), "click [12]"),
            ("browser_click", json!({"index": "[12]"}), "click [12]"),
            ("browser_click", json!({"index": 12.0}), "click [12]"),
            ("browser_click", json!("{\"index\": 12}"), "click [12]"),
            (
                "browser_click",
                json!({"index": 12, "coordinate_x": 0, "coordinate_y": 0}),
                "click [12]",
            ),
            ("browser_click", json!({"index": 12, "reason": "it is next"}), "click [12]"),
            (
                "browser_input",
                json!({"index": "3", "text": 42, "press_enter": "True"}),
                "input '42' into [3] and press Enter",
            ),
            ("browser_scroll_down", json!({"to_bottom": "false"}), "scroll down"),
            ("browser_tabs", json!({"action": "switch", "tab": "2"}), "switch to t2"),
            ("finish", json!({"answer": {"price": 9}}), "finish"),
        ] {
            assert_eq!(ToolCall::understood(tool, &args).unwrap().what(), what, "{args}");
            assert!(ToolCall::parse(tool, &args).is_err() || tool == "browser_tabs", "{args}");
        }
        for view in [json!(null), json!(""), json!({}), json!({"x": 1})] {
            assert_eq!(
                ToolCall::understood("browser_view", &view),
                Ok(ToolCall::View {}),
                "{view}"
            );
        }
        for (tool, args) in [
            ("browser_click", json!({"index": "the button"})),
            ("browser_click", json!({"index": -1})),
            ("browser_click", json!({"index": 1.5})),
            ("browser_click", json!([3])),
            ("browser_input", json!({"index": 3, "text": "a"})),
            ("browser_fly", json!({})),
        ] {
            assert!(ToolCall::understood(tool, &args).is_err(), "{tool} {args}");
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
            ("browser_select_option", json!({"index": 1, "option": -1})),
            ("browser_console_exec", json!({"javascript": "  "})),
            ("browser_find", json!({"description": "x", "action": "press"})),
            ("browser_find", json!({"description": "x", "action": "input"})),
            ("browser_extract", json!({"query": "x", "schema": "y"})),
            ("browser_tabs", json!({"action": "switch"})),
            ("browser_tabs", json!({"action": "new", "url": "nowhere"})),
            ("record_fact", json!({"claim": "x", "entity": "e", "attribute": "a", "value": "v"})),
            ("file_write", json!({"path": "", "text": "x"})),
            ("finish", json!({"answer": "a", "autonomy": 6})),
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
