//! From a page to what was asked for of it.
use crate::domain::page::numbering::Numbering;
use crate::domain::page::observation::{Observation, View};
use crate::domain::page::outline::{Selection, outline};
use crate::domain::page::payload::{operable, payload};
use crate::domain::page::tree::Tree;

/// Returns `tree` as `view` wants it. `tabs` is how many tabs the session has; what is shown for the
/// first time gets a number.
pub fn render(tree: &Tree, view: &View, tabs: usize, numbering: &mut Numbering) -> Observation {
    match *view {
        View::Payload => payload(tree, tabs, numbering),
        View::Operable => operable(tree, numbering),
        View::Snapshot { interactive_only, viewport_only, depth } => {
            outline(tree, Selection { interactive_only, viewport_only, depth }, numbering)
        }
    }
}
