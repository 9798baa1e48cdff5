//! What a perception actor takes: raw answers of the page's walker. It never talks to the page.
use crate::domain::page::numbering::Numbering;
use crate::domain::page::observation::{Observation, View};
use crate::messages::Reply;

/// The perception protocol.
#[derive(Debug)]
pub enum PerceptionMsg {
    /// Decode what the walker read, number what is shown, and write it as text.
    Render {
        raw: String,
        view: View,
        tabs: usize,
        numbering: Box<Numbering>,
        reply: Reply<Rendered, PerceptionError>,
    },
}

/// A written observation, and the numbers after it.
#[derive(Debug)]
pub struct Rendered {
    pub observation: Observation,
    pub numbering: Numbering,
}

/// Why a page could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PerceptionError {
    #[error("the page's walker answered what cannot be read: {0}; this is a bug, please report it")]
    Unreadable(String),
}
