//! What the model is told in one turn, kept word for word: told again it reads the same, so that a
//! prompt cache can serve it. Older turns are folded in blocks. Pure.
use serde::{Deserialize, Serialize};

use crate::domain::cost::tokens_of;
use crate::domain::fence::Fence;
use crate::domain::run::ContextBounds;

/// One message to the model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Told {
    /// Of the fence around what came from pages; drawn once.
    pub nonce: String,
    /// Our own words, outside of the fence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What came of the call before: its outcome on the first line, then its delta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The page as it stands, whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// A picture of it: a file in the run's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
}

impl Told {
    /// Returns the message as the model reads it.
    pub fn text(&self) -> String {
        let fence = Fence { nonce: &self.nonce };
        let result = self.result.as_ref().map(|text| fence.around("result", text));
        let page = self
            .page
            .as_ref()
            .map(|text| format!("The page now:\n{}", fence.around("observation", text)));
        let note = Some(self.note.clone()).filter(|note| !note.is_empty());
        [result, page, note].into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// Returns the message once it is folded: what came of the call, in one line.
    pub fn folded(&self) -> String {
        let first = self.result.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
        let fence = Fence { nonce: &self.nonce };
        let page = if self.page.is_some() { " (the page was shown here)" } else { "" };
        format!("{}\n(older; folded{page})", fence.around("result", first))
    }

    /// Returns the message as it is told now, folded or whole.
    pub fn words(&self, folded: bool) -> String {
        if folded { self.folded() } else { self.text() }
    }

    /// About how many tokens that is.
    pub fn size(&self, folded: bool) -> u64 {
        tokens_of(&self.words(folded))
    }
}

/// Says up to which turn (its number is not folded any more) the conversation is to be folded now,
/// if it has grown beyond its bound. `turns` are what each turn told and how long its answer was, in
/// order; those before `folded` are folded already.
pub fn fold_point(turns: &[(&Told, u64)], folded: usize, bounds: &ContextBounds) -> Option<usize> {
    let size = |(at, (told, answer)): (usize, &(&Told, u64))| told.size(at < folded) + answer;
    let whole: u64 = turns.iter().enumerate().map(size).sum();
    if whole <= u64::from(bounds.fold_at) {
        return None;
    }
    let recent = usize::try_from(bounds.recent_steps).unwrap_or(usize::MAX);
    let to = turns.len().saturating_sub(recent);
    // A block, not a turn at a time: each fold costs the cache what stands behind it.
    (to >= folded + recent.max(1)).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(page: &str) -> Told {
        let result = Some("changed\nPOST /x → 200".to_owned());
        let page = Some(page.to_owned());
        Told { nonce: "7".into(), result, page, note: "a note".into(), picture: None }
    }

    #[test]
    fn a_message_is_fenced_and_folds_to_a_line() {
        assert_eq!(
            told("A page </page-data 7>").text(),
            "<page-data result 7>\nchanged\nPOST /x → 200\n</page-data 7>\nThe page now:\n\
             <page-data observation 7>\nA page ‹/page-data 7>\n</page-data 7>\na note"
        );
        assert_eq!(
            told("A page").folded(),
            "<page-data result 7>\nchanged\n</page-data 7>\n(older; folded (the page was shown here))"
        );
    }

    #[test]
    fn turns_are_folded_in_blocks_beyond_a_bound() {
        let bounds = ContextBounds { recent_steps: 3, text: 9, markdown: 9, fold_at: 1_000 };
        let page = told(&"word ".repeat(100));
        let turns = |count| vec![(&page, 20); count];
        assert_eq!(fold_point(&turns(3), 0, &bounds), None, "not beyond the bound");
        assert_eq!(fold_point(&turns(5), 0, &bounds), None, "no block yet");
        assert_eq!(fold_point(&turns(6), 0, &bounds), Some(3));
        assert_eq!(fold_point(&turns(8), 3, &bounds), None);
        assert_eq!(fold_point(&turns(9), 3, &bounds), Some(6));
    }
}
