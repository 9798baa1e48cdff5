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
    /// The accessible name, white space folded; for `#text` the text itself, where runs of blanks
    /// are one blank, and line breaks are those that are painted.
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
    /// `href`, `alt`, `colspan`, `rowspan`, `lang` (of `pre`/`code`), `start` (of `ol`), `for` (of a
    /// `label`: its control is shown too), `named` (of a field without a name: what its form calls
    /// it).
    pub attributes: Vec<(String, String)>,
    pub flow: Flow,
}

/// How an element stands beside what is around it, by its computed style.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flow {
    /// Its text runs on.
    #[default]
    Inline,
    /// On the same line, set apart by a blank.
    Apart,
    /// On lines of its own.
    Block,
}

impl Tree {
    /// Returns for each node the position after its last descendant.
    pub fn ends(&self) -> Vec<usize> {
        let mut ends: Vec<usize> = (1..=self.nodes.len()).collect();
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent.filter(|parent| *parent < at) {
                ends[parent] = ends[parent].max(ends[at]);
            }
        }
        ends
    }
}

impl Node {
    pub fn is_text(&self) -> bool {
        self.tag == "#text"
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether a state is set, to anything but `false`.
    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some_and(|value| value != "false")
    }
}
