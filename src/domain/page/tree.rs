//! A page as perception decoded it: flat, in document order, each node with its parent's position.

use serde::{Deserialize, Serialize};

/// The page's own name for a node: the document it is of, and a number that the document never
/// gives twice. Means nothing in another document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeKey(pub u32);

/// Which document a tree was read from: drawn at random by the document's isolated world.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DocumentId(pub String);

/// One page at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    pub document: DocumentId,
    pub url: String,
    pub title: String,
    pub viewport: Viewport,
    /// In document order; a node's parent stands before it.
    pub nodes: Vec<Node>,
    /// The open modal that limits what can be reached, if there is one.
    pub modal: Option<usize>,
    /// What could not be read, or was cut, one line each.
    pub notes: Vec<String>,
}

/// The viewport and the page, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Viewport {
    pub width: f64,
    pub height: f64,
    pub scroll_y: f64,
    pub page_height: f64,
}

/// An element or a run of text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// The position of its parent in [`Tree::nodes`]; none for the root.
    pub parent: Option<usize>,
    /// Lower-case tag; `#text` for text.
    pub tag: String,
    /// The ARIA role as Chromium computes it; empty when it has none that matters.
    pub role: String,
    /// The accessible name; the text itself for `#text`. White space folded.
    pub name: String,
    /// Present where the element can be operated, or named as content.
    pub key: Option<NodeKey>,
    pub interactive: bool,
    /// At least one of several points of its box, inside the viewport, hits it or its label.
    pub reachable: bool,
    /// Any part of its box lies in the viewport.
    pub in_viewport: bool,
    /// x, y, width, height in CSS pixels of the viewport.
    pub bounds: Option<[f64; 4]>,
    /// Visible text never comes from a secret field; its value is not in here either.
    pub secret: bool,
    /// State and attributes that are shown: `type`, `placeholder`, `value`, `checked`, `disabled`,
    /// `selected`, `expanded`, `pressed`, `required`, `readonly`, `invalid`, `current`, `level`,
    /// `href`, `alt`, `colspan`, `rowspan`, `lang` (of `pre`/`code`), `start` (of `ol`).
    pub attributes: Vec<(String, String)>,
}

impl Node {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}
