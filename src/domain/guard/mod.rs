//! What may be done without a person. Pure: classes come from the facts of one action and a table
//! of words.
use serde::{Deserialize, Serialize};

/// How much an action can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Read,
    SoftWrite,
    Irreversible,
}

/// What is known of an action before it is dispatched: the element that would really be hit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Case {
    /// `click`, `fill`, `press`, `navigate`, `evaluate`.
    pub deed: String,
    /// Of the page.
    pub url: String,
    pub tag: String,
    pub role: String,
    /// Accessible name, and beside it every other text that the element shows or carries:
    /// text, value of a button, `aria-label`, `title`.
    pub name: String,
    pub texts: Vec<String>,
    /// `type` of an input or button.
    pub kind: String,
    /// Its form: method, action and the label of what submits it. Empty without a form.
    pub form_method: String,
    pub form_action: String,
    pub form_submit: String,
    /// The form or landmark has `role=search`, or its only text field is a search field.
    pub search: bool,
    /// Whether dispatching can submit the form: a submit button, Enter in a field.
    pub submits: bool,
    /// A text field of several lines, or one that composes a message.
    pub compose: bool,
    /// The keys of a press, or the text of a fill (never of a secret field).
    pub payload: String,
}

/// What the guard makes of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub class: Class,
    /// Such as `click target text contains 'send'`.
    pub why: String,
}
