//! What an onlooker is shown of a page, and what can be asked for.
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::domain::ids::ElementId;
use crate::domain::page::tree::DocumentId;

/// What to read of a page, and how to write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum View {
    /// Rendering 1: the agent's payload.
    Payload,
    /// Everything on the whole page that can be operated, in the form of rendering 1.
    Operable,
    /// Rendering 2: the accessibility snapshot.
    Snapshot { interactive_only: bool, viewport_only: bool, depth: Option<u32> },
}

/// A page as text, and what its numbers mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub document: DocumentId,
    pub url: String,
    pub title: String,
    pub text: String,
    /// Where the page's Markdown stands in the text.
    pub markdown: Range<usize>,
    /// Every number that the text shows, in the order of the text.
    pub elements: Vec<Shown>,
    /// The links of the whole page, absolute, in its order.
    pub links: Vec<String>,
}

impl Observation {
    pub fn markdown(&self) -> &str {
        self.text.get(self.markdown.clone()).unwrap_or_default()
    }

    /// Returns the text with at most so many characters of Markdown, cut after a line.
    pub fn within(&self, most: usize) -> String {
        let markdown = self.markdown();
        let Some((end, _)) = markdown.char_indices().nth(most) else {
            return self.text.clone();
        };
        let kept = markdown[..end].rfind('\n').map_or(end, |line| line + 1);
        let left = markdown[kept..].chars().count();
        let (head, tail) =
            (&self.text[..self.markdown.start + kept], &self.text[self.markdown.end..]);
        format!(
            "{head}… {left} characters more; browser_extract finds in them what you name\n{tail}"
        )
    }
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
    /// Its line in the text of rendering 1, without the blanks before it.
    pub line: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_markdown_is_cut_after_a_line_and_says_so() {
        let text = "head\nerste Zeile\nzweité Zeile\n[notes]\nn\n".to_owned();
        let markdown = 5..text.find("[notes]").unwrap();
        let page = Observation {
            document: DocumentId("d".into()),
            url: String::new(),
            title: String::new(),
            text: text.clone(),
            markdown,
            elements: vec![],
            links: vec![],
        };
        assert_eq!(page.within(100), text);
        assert_eq!(
            page.within(20),
            "head\nerste Zeile\n… 13 characters more; browser_extract finds in them what you name\n[notes]\nn\n"
        );
    }
}
