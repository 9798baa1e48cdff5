//! What the library answers to everything but a walk. Read with [`parse`](crate::perception::decode::parse).
use serde::Deserialize;

use crate::domain::page::tree::{DocumentId, NodeKey};

/// `resolve`: the one element that a target means.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Resolved {
    Ok {
        document: DocumentId,
        key: NodeKey,
        /// Such as `button "Send"`.
        label: String,
    },
    NotFound,
    /// Each with its context: `button "Delete" — in row "Acme"`.
    Ambiguous {
        fits: Vec<String>,
    },
    Stale,
    /// The words themselves cannot be asked for: a selector that does not parse.
    Invalid {
        why: String,
    },
}

/// `probe`, `probe_point`, `probe_focus`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Probed {
    Ok(Box<Probe>),
    /// The node is no longer part of the page.
    Gone,
    /// Nothing is at the point, or nothing has the focus.
    Nowhere,
}

/// What has to be known of an element before it is acted on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Probe {
    pub document: DocumentId,
    pub key: NodeKey,
    /// Of the page.
    pub url: String,
    /// Such as `button "Send"`.
    pub label: String,
    pub tag: String,
    /// `type` of an input or button; empty without one.
    pub kind: String,
    pub role: String,
    pub name: String,
    /// Every other text that it shows or carries; never what a field holds.
    pub texts: Vec<String>,
    pub visible: bool,
    pub enabled: bool,
    /// Text can be typed or a value be set.
    pub editable: bool,
    pub readonly: bool,
    /// `true`, `false`, `mixed`; none where it cannot be checked.
    pub checked: Option<String>,
    pub secret: bool,
    #[serde(rename = "box")]
    pub bounds: Bounds,
    pub in_viewport: bool,
    /// Where a press really hits it or its label; none where nothing does.
    pub point: Option<Point>,
    /// What is in the way: `div "We use cookies"`.
    pub coverer: Option<String>,
    pub form: Option<FormFacts>,
    /// A press (of a button) or Enter (in a field) can submit a form.
    pub submits: bool,
    /// A text field of several lines, or one that composes a message.
    pub compose: bool,
    /// It stands in a search landmark, or is a search field.
    pub search: bool,
    /// What stands around it: ` — in row "Acme"`; empty where nothing has words.
    pub place: String,
    /// One number for all values of its form, of its dialog or of the page's main part.
    pub digest: String,
    /// What a person may read of those values.
    pub payload: String,
    /// The options of a native select.
    #[serde(default)]
    pub choices: Vec<String>,
}

/// `page_values`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PageValues {
    /// One number for all values of the page.
    pub digest: String,
}

/// CSS pixels of the viewport.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Bounds {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// CSS pixels of the viewport.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// The form that an element belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FormFacts {
    /// Lower case: `get`, `post`, `dialog`.
    pub method: String,
    pub action: String,
    /// The name of what submits it; empty where nothing visible does.
    pub submit: String,
    /// A search landmark, or its only field is a search field.
    pub search: bool,
    /// It asks for a card.
    pub card: bool,
    /// It holds a secret.
    pub secrets: bool,
}

/// `focus_for_fill`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Focused {
    Ok {
        kind: FillBy,
    },
    NotEditable {
        /// What it is: `button "Send"`.
        is: String,
    },
    Gone,
}

/// How a field is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FillBy {
    /// It has the focus and all of its content is selected: type over it.
    Type,
    /// Nobody types into it: call `assign`.
    Assign,
}

/// `assign`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Assigned {
    Ok {
        /// `date`, `range`, `select`, …
        kind: String,
        /// What it holds now; `<secret>` for a secret field.
        value: String,
    },
    Rejected {
        why: String,
    },
    Gone,
}

/// `value_of`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Held {
    Ok {
        /// None for what holds nothing; `<secret>` for a secret field.
        value: Option<String>,
        secret: bool,
        filled: bool,
        checked: Option<String>,
    },
    Gone,
}

/// `get`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Got {
    Ok {
        /// None for an attribute or a value that there is none of.
        value: Option<String>,
    },
    Gone,
}

/// `scroll`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Scrolled {
    pub moved: bool,
    /// Where it stands, in CSS pixels, and where the end is.
    pub y: f64,
    pub bottom: f64,
}

/// `secrets`: what a picture must not show.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Secrets {
    pub document: DocumentId,
    /// How far the page is scrolled.
    pub scroll: [f64; 2],
    /// x, y, width, height in CSS pixels of the page.
    pub boxes: Vec<[f64; 4]>,
}

/// `watch_peek`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Peeked {
    Ok {
        /// What changed so far, without what changes by itself.
        changes: u32,
        /// Milliseconds since the last change of the DOM.
        quiet: u32,
    },
    Gone,
}

/// `watch_end`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Watched {
    Ok(Changes),
    /// The page that was watched is no longer there.
    Gone,
}

/// What changed between two moments, without what changes by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Changes {
    /// Lines of visible text.
    pub appeared: Vec<String>,
    pub vanished: Vec<String>,
    /// Values, checked and other states; parts of the page, where nothing else tells of it.
    pub changed: Vec<String>,
    /// Of live regions and toasts, also those that are gone again.
    pub messages: Vec<String>,
    /// What was changing before.
    pub background: Vec<String>,
    pub scroll: Option<String>,
    pub url: Option<String>,
    pub mutations: u32,
}

impl Changes {
    /// Whether anything changed that a person would call an effect.
    pub fn any(&self) -> bool {
        !self.lines().is_empty()
    }

    /// One line for each change, the most telling first.
    pub fn lines(&self) -> Vec<String> {
        let said = |text: &String| self.messages.contains(text);
        let message = self.messages.iter().map(|text| format!("message: {text}"));
        let appeared = self.appeared.iter().filter(|text| !said(text));
        message
            .chain(self.changed.iter().cloned())
            .chain(appeared.map(|text| format!("appeared: {text}")))
            .chain(self.vanished.iter().map(|text| format!("vanished: {text}")))
            .chain(self.scroll.clone())
            .chain(self.url.iter().map(|url| format!("url: {url}")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perception::decode::parse;

    #[test]
    fn answers_are_read_as_the_library_writes_them() {
        let resolved: Resolved =
            parse(r#"{"status":"ok","document":"d","key":3,"label":"button \"Send\""}"#).unwrap();
        assert_eq!(
            resolved,
            Resolved::Ok {
                document: DocumentId("d".into()),
                key: NodeKey(3),
                label: "button \"Send\"".into()
            }
        );
        assert_eq!(parse::<Resolved>(r#"{"status":"not_found"}"#).unwrap(), Resolved::NotFound);
        assert_eq!(parse::<Probed>(r#"{"status":"gone"}"#).unwrap(), Probed::Gone);
        assert_eq!(
            parse::<Focused>(r#"{"status":"ok","kind":"assign"}"#).unwrap(),
            Focused::Ok { kind: FillBy::Assign }
        );
        assert!(parse::<Resolved>(r#"{"status":"perhaps"}"#).is_err());
    }

    #[test]
    fn changes_are_told_once_messages_first() {
        let changes = Changes {
            appeared: vec!["Saved".into(), "1 item".into()],
            vanished: vec!["0 items".into()],
            messages: vec!["Saved".into()],
            ..Changes::default()
        };
        assert_eq!(changes.lines(), ["message: Saved", "appeared: 1 item", "vanished: 0 items"]);
        let clock = Changes { background: vec!["span \"12:01\"".into()], ..Changes::default() };
        assert!(!clock.any());
    }
}
