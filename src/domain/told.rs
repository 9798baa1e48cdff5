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

    fn size(&self, folded: bool) -> u64 {
        tokens_of(&if folded { self.folded() } else { self.text() })
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
    // A block, not a turn at a time: each fold costs the cache what stands behind it.
    let to = turns.len().saturating_sub(recent);
    (to > folded).then_some(to)
}
