//! What can be done to a page.
use serde::{Deserialize, Serialize};

use crate::domain::keys::Chord;
use crate::domain::target::Target;

/// One thing to do. Coordinates are CSS pixels of the viewport.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Action {
    Click {
        target: Target,
    },
    ClickAt {
        x: f64,
        y: f64,
    },
    /// Overwrites an editable element.
    Fill {
        target: Target,
        text: String,
        press_enter: bool,
    },
    /// Overwrites the editable element that is at a point.
    FillAt {
        x: f64,
        y: f64,
        text: String,
        press_enter: bool,
    },
    Press {
        chord: Chord,
    },
    Scroll {
        way: ScrollWay,
    },
    /// Moves the mouse there, and presses nothing.
    Hover {
        target: Target,
    },
    HoverAt {
        x: f64,
        y: f64,
    },
    /// Chooses the nth option of a native select, from 0.
    Select {
        target: Target,
        option: u32,
    },
    /// Evaluates JavaScript in the page; its value is answered.
    Evaluate {
        script: String,
    },
    /// Accepts the open dialog, with a text for a prompt.
    AcceptDialog {
        text: Option<String>,
    },
}

/// Where to scroll the page: a viewport, or to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScrollWay {
    Up,
    Down,
    Top,
    Bottom,
}
