//! How the arguments of a call are checked, to the letter or as models write them.
use serde_json::{Map, Value};

use crate::domain::ids::{ElementId, TabId};
use crate::domain::keys::Chord;
use crate::domain::tool::{
    BadCall, Find, FindAction, Index, Place, Stated, TabsAction, ToolCall, short,
};

const TEXT: &str = "text";
const FLAG: &str = "true or false";
const NUMBER: &str = "a number of CSS pixels, from 0";
const INDEX: &str = "the whole number of an element";
const COUNT: &str = "a whole number, from 0";

/// How many lines of the console are read unless the call says so.
const LINES: u32 = 100;

/// How strictly arguments are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Strict,
    Lenient,
}

/// Returns the object of the arguments; leniently also one that stands in a string.
pub(super) fn object(args: &Value, manner: Manner) -> Option<Map<String, Value>> {
    match args {
        Value::Object(given) => Some(given.clone()),
        Value::Null if manner == Manner::Lenient => Some(Map::new()),
        Value::String(text) if manner == Manner::Lenient => match serde_json::from_str(text) {
            Ok(Value::Object(given)) => Some(given),
            _ => text.trim().is_empty().then(Map::new),
        },
        _ => None,
    }
}

impl ToolCall {
    pub(super) fn checked(mut args: Args<'_>) -> Result<Self, BadCall> {
        let tool = args.tool;
        let call = match tool {
            "browser_view" => Self::View {},
            "browser_navigate" => Self::Navigate { url: args.url()? },
            "browser_restart" => Self::Restart { url: args.url()? },
            "browser_click" => Self::Click(args.place()?),
            "browser_input" => Self::Input {
                place: args.place()?,
                text: args.required("text", TEXT, text)?,
                press_enter: args.required("press_enter", FLAG, flag)?,
            },
            "browser_move_mouse" => Self::MoveMouse {
                coordinate_x: args.required("coordinate_x", NUMBER, pixels)?,
                coordinate_y: args.required("coordinate_y", NUMBER, pixels)?,
            },
            "browser_press_key" => Self::PressKey { key: args.key()? },
            "browser_select_option" => Self::SelectOption {
                index: args.required("index", INDEX, index)?,
                option: args.required("option", COUNT, count)?,
            },
            "browser_scroll_up" => Self::ScrollUp { to_top: args.switch("to_top")? },
            "browser_scroll_down" => Self::ScrollDown { to_bottom: args.switch("to_bottom")? },
            "browser_console_exec" => {
                Self::ConsoleExec { javascript: args.required("javascript", TEXT, words)? }
            }
            "browser_console_view" => Self::ConsoleView {
                max_lines: args.optional("max_lines", COUNT, count)?.unwrap_or(LINES),
            },
            "browser_find" => Self::Find(args.find()?),
            "browser_extract" => Self::Extract {
                query: args.required("query", TEXT, words)?,
                schema: args
                    .optional("schema", "a JSON schema", |value| object(value, Manner::Strict))?,
                max_chars: args.optional("max_chars", COUNT, count)?,
            },
            "browser_tabs" => args.tabs()?,
            "browser_screenshot" => Self::Screenshot {
                index: args.optional("index", INDEX, index)?,
                full_page: args.switch("full_page")?,
                marks: args.switch("marks")?,
            },
            "browser_takeover" => Self::Takeover {
                reason: args.required("reason", TEXT, words)?,
                suggestion: args.optional("suggestion", TEXT, text)?,
            },
            _ => Self::beside_the_browser(&mut args)?,
        };
        args.none_left()?;
        Ok(call)
    }

    /// The tools that only the loop has.
    fn beside_the_browser(args: &mut Args<'_>) -> Result<Self, BadCall> {
        Ok(match args.tool {
            "record_fact" => Self::RecordFact(Stated {
                claim: args.required("claim", TEXT, words)?,
                entity: args.required("entity", TEXT, words)?,
                attribute: args.required("attribute", TEXT, words)?,
                value: args.required("value", TEXT, words)?,
                url: args.url()?,
                unit: args.optional("unit", TEXT, text)?,
            }),
            "notify_user" => Self::NotifyUser { text: args.required("text", TEXT, words)? },
            "ask_user" => Self::AskUser { question: args.required("question", TEXT, words)? },
            "file_read" => Self::FileRead { path: args.required("path", TEXT, words)? },
            "file_write" => Self::FileWrite {
                path: args.required("path", TEXT, words)?,
                text: args.required("text", TEXT, text)?,
            },
            "file_list" => Self::FileList {},
            "finish" => Self::Finish {
                answer: args.required("answer", TEXT, text)?,
                incomplete_reason: args.optional("incomplete_reason", TEXT, text)?,
                autonomy: args.optional("autonomy", "a whole number from 1 to 5", rating)?,
            },
            tool => return Err(BadCall::NoSuchTool { tool: tool.to_owned() }),
        })
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Text that says something.
fn words(value: &Value) -> Option<String> {
    text(value).filter(|text| !text.trim().is_empty())
}

fn flag(value: &Value) -> Option<bool> {
    value.as_bool()
}

fn pixels(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite() && *number >= 0.0)
}

fn count(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

fn rating(value: &Value) -> Option<u32> {
    count(value).filter(|rating| (1..=5).contains(rating))
}

fn index(value: &Value) -> Option<Index> {
    if let Value::Object(named) = value {
        let word = |field| named.get(field).and_then(text).filter(|word| !word.is_empty());
        let (role, name) = (word("role")?, text(named.get("name")?)?);
        return (named.len() == 2).then_some(Index::Named { role, name });
    }
    count(value).map(|number| Index::Number(ElementId(number)))
}

fn tab(value: &Value) -> Option<TabId> {
    match value {
        Value::String(word) => word.parse().ok(),
        value => count(value).map(TabId),
    }
}

/// What a value stands for that was written as text: `"12"`, `"true"`, `"[12]"`; and a whole number
/// that was written with a point.
fn meant(value: &Value) -> Option<Value> {
    match value {
        Value::String(word) => {
            let bare = word.trim().trim_start_matches(['[', 'e', '@']).trim_end_matches(']');
            let read: Value = serde_json::from_str(bare)
                .or_else(|_| serde_json::from_str(word.trim()))
                .or_else(|_| serde_json::from_str(&bare.to_lowercase()))
                .ok()?;
            (!read.is_string()).then_some(read)
        }
        Value::Number(number) => {
            let whole = number.as_f64().filter(|n| n.fract() == 0.0 && (0.0..4e9).contains(n))?;
            Some(Value::from(whole as u64))
        }
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The same for text that was written as something else.
fn as_text(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) | Value::Bool(_) => Some(Value::String(value.to_string())),
        Value::Object(_) | Value::Array(_) => Some(Value::String(value.to_string())),
        Value::String(_) | Value::Null => None,
    }
}

/// Arguments that nobody took yet.
pub(super) struct Args<'a> {
    pub tool: &'a str,
    pub given: Map<String, Value>,
    pub manner: Manner,
}

impl Args<'_> {
    /// Takes an argument that may be absent; `null` counts as absent, as some models write it.
    fn optional<T>(
        &mut self,
        field: &'static str,
        wanted: &'static str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, BadCall> {
        let value = match self.given.shift_remove(field) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) => value,
        };
        let plain = read(&value);
        let lenient = || match self.manner {
            Manner::Strict => None,
            Manner::Lenient => [meant(&value), as_text(&value)].iter().flatten().find_map(&read),
        };
        match plain.or_else(lenient) {
            Some(value) => Ok(Some(value)),
            None => Err(self.wrong(field, wanted, &value)),
        }
    }

    fn required<T>(
        &mut self,
        field: &'static str,
        wanted: &'static str,
        read: impl Fn(&Value) -> Option<T>,
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
            // The index says more.
            (Some(_), ..) if self.manner == Manner::Lenient => {
                Ok(Place { index: place.index, ..Place::default() })
            }
            _ => Err(BadCall::NoPlace { tool: self.tool.to_owned() }),
        }
    }

    fn find(&mut self) -> Result<Find, BadCall> {
        let wanted = "none, click, input or hover";
        let action = |value: &Value| serde_json::from_value(value.clone()).ok();
        let find = Find {
            description: self.required("description", TEXT, words)?,
            action: self.optional("action", wanted, action)?.unwrap_or(FindAction::None),
            text: self.optional("text", TEXT, text)?,
            press_enter: self.switch("press_enter")?,
            index: self.optional("index", INDEX, index)?,
        };
        if find.action == FindAction::Input && find.text.is_none() {
            let tool = self.tool.to_owned();
            return Err(BadCall::Missing { tool, field: "text", wanted: TEXT });
        }
        Ok(find)
    }

    fn tabs(&mut self) -> Result<ToolCall, BadCall> {
        let action = |value: &Value| serde_json::from_value(value.clone()).ok();
        let action = self.required("action", "list, new, switch or close", action)?;
        let url = if self.given.contains_key("url") { Some(self.url()?) } else { None };
        let tab = self.optional("tab", "a tab, such as t2", tab)?;
        if action == TabsAction::Switch && tab.is_none() {
            let tool = self.tool.to_owned();
            return Err(BadCall::Missing { tool, field: "tab", wanted: "a tab, such as t2" });
        }
        Ok(ToolCall::Tabs { action, url, tab })
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
            Some((field, _)) if self.manner == Manner::Strict => {
                Err(BadCall::Unexpected { tool: self.tool.to_owned(), field })
            }
            Some(_) | None => Ok(()),
        }
    }

    fn wrong(&self, field: &'static str, wanted: &'static str, value: &Value) -> BadCall {
        let given = short(&value.to_string(), 60);
        BadCall::Wrong { tool: self.tool.to_owned(), field, wanted, given }
    }
}
