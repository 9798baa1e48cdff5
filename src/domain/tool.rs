//! The tools of the loop: names and parameters are public facts, kept as they are.
use serde::{Deserialize, Serialize};

use crate::domain::ids::ElementId;

/// One call of one tool, checked. `{"tool":"browser_click","args":{"index":12}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tool", content = "args")]
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
    ScrollUp {
        #[serde(default)]
        to_top: bool,
    },
    #[serde(rename = "browser_scroll_down")]
    ScrollDown {
        #[serde(default)]
        to_bottom: bool,
    },
    #[serde(rename = "finish")]
    Finish {
        answer: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
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
