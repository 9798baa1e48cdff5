//! What an onlooker is shown of a page, and what can be asked for.
use serde::{Deserialize, Serialize};

use crate::domain::ids::ElementId;

/// What to read of a page, and how to write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum View {
    /// Rendering 1: the agent's payload.
    Payload,
    /// Rendering 2: the accessibility snapshot.
    Snapshot { interactive_only: bool, viewport_only: bool, depth: Option<u32> },
}

/// A page as text, and what its numbers mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub url: String,
    pub title: String,
    pub text: String,
    /// Every number that the text shows, in the order of the text.
    pub elements: Vec<Shown>,
}

/// One numbered element of an observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    pub id: ElementId,
    pub role: String,
    pub name: String,
    /// A secret field: its text and value are never shown.
    pub secret: bool,
    /// x, y, width, height in CSS pixels of the viewport.
    pub bounds: Option<[f64; 4]>,
}
