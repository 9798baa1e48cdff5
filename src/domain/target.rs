//! What a command aims at: the TARGET of the CLI contract.
use serde::{Deserialize, Serialize};

use crate::domain::ids::ElementId;

/// One element, by number or by description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// `e12`, `@e12`, `ref=e12`, or `12` where the Manus format wants an index.
    Element(ElementId),
    /// A chain: each part is looked for inside what the part before it found.
    Query(Vec<Query>),
}

/// One part of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Query {
    Css {
        value: String,
    },
    Xpath {
        value: String,
    },
    /// `role=button[name="Send"]`; without a name, every element of the role.
    Role {
        value: String,
        name: Option<String>,
    },
    Text {
        value: String,
    },
    Label {
        value: String,
    },
    Placeholder {
        value: String,
    },
    Testid {
        value: String,
    },
    /// `--in "words"`: the nearest row, card, dialog or section that holds the words.
    Within {
        value: String,
    },
}
