//! Which element of a tab has which number.
//!
//! Pure. An element keeps its number for as long as its document lives, and no number is given
//! twice in a tab: a stale reference misses, it never hits another element.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::domain::ids::ElementId;
use crate::domain::page::tree::{DocumentId, NodeKey};

/// The numbers of one tab. Numbers start at 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Numbering {
    document: Option<DocumentId>,
    by_key: HashMap<NodeKey, ElementId>,
    by_number: HashMap<ElementId, NodeKey>,
    next: u32,
}

/// What a number means now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A node of the document that the tab shows.
    Node(DocumentId, NodeKey),
    /// It was given, but to an element of an earlier document.
    Stale,
    /// It was never given in this tab.
    Unknown,
}

/// What survives the daemon: the next number to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HighWater(pub u32);

impl Numbering {
    /// Returns an empty numbering that gives numbers from `mark` on.
    pub fn after(mark: HighWater) -> Self {
        Self { next: mark.0, ..Self::default() }
    }

    pub fn high_water(&self) -> HighWater {
        HighWater(self.next)
    }

    /// Begins `document`, unless it is the one that is numbered already.
    pub fn turn_to(&mut self, document: &DocumentId) {
        if self.document.as_ref() != Some(document) {
            *self = Self { document: Some(document.clone()), next: self.next, ..Self::default() };
        }
    }

    /// Returns the number of a node of the current document; a new one if it was not shown before.
    pub fn number(&mut self, key: NodeKey) -> ElementId {
        *self.by_key.entry(key).or_insert_with(|| {
            let number = ElementId(self.next);
            self.next += 1;
            self.by_number.insert(number, key);
            number
        })
    }

    pub fn meaning(&self, number: ElementId) -> Meaning {
        match (&self.document, self.by_number.get(&number)) {
            (Some(document), Some(key)) => Meaning::Node(document.clone(), *key),
            _ if number.0 < self.next => Meaning::Stale,
            _ => Meaning::Unknown,
        }
    }

    /// What a restart of the tab leaves: the mark, and no element.
    pub fn forget(&mut self) {
        *self = Self::after(self.high_water());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn document(name: &str) -> DocumentId {
        DocumentId(name.into())
    }

    #[test]
    fn numbers_start_at_zero_and_stay_with_their_nodes() {
        let mut numbering = Numbering::default();
        numbering.turn_to(&document("a"));
        assert_eq!(numbering.number(NodeKey(7)), ElementId(0));
        assert_eq!(numbering.number(NodeKey(9)), ElementId(1));
        numbering.turn_to(&document("a"));
        assert_eq!(numbering.number(NodeKey(7)), ElementId(0));
        assert_eq!(numbering.meaning(ElementId(1)), Meaning::Node(document("a"), NodeKey(9)));
    }

    #[test]
    fn a_number_of_an_earlier_document_is_stale_and_never_another_element() {
        let mut numbering = Numbering::default();
        numbering.turn_to(&document("a"));
        let old = numbering.number(NodeKey(7));
        numbering.turn_to(&document("b"));
        assert_eq!(numbering.meaning(old), Meaning::Stale);
        assert_ne!(numbering.number(NodeKey(7)), old);
        numbering.forget();
        assert_eq!(numbering.meaning(ElementId(1)), Meaning::Stale);
        assert_eq!(numbering.meaning(ElementId(2)), Meaning::Unknown);
    }

    proptest! {
        /// Whatever happens in whatever order, no number is given to two nodes.
        #[test]
        fn no_number_is_given_twice(steps in prop::collection::vec((0u8..4, 0u32..6), 0..60)) {
            let mut numbering = Numbering::default();
            let mut given = HashMap::new();
            let (mut page, mut life) = (0u32, 0u32);
            numbering.turn_to(&document("0"));
            for (what, which) in steps {
                match what {
                    0 => {
                        page += 1;
                        numbering.turn_to(&document(&page.to_string()));
                    }
                    1 => {
                        life += 1;
                        numbering = Numbering::after(numbering.high_water());
                        numbering.turn_to(&document(&page.to_string()));
                    }
                    _ => {
                        let number = numbering.number(NodeKey(which));
                        let owner = (life, page, which);
                        prop_assert_eq!(*given.entry(number).or_insert(owner), owner);
                    }
                }
            }
        }
    }
}
