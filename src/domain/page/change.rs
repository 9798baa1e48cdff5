//! What a page has become since the model last read it: a few lines, or the page anew. Pure.
use std::collections::{HashMap, HashSet};

use crate::domain::ids::ElementId;
use crate::domain::page::observation::Observation;

/// More lines than this are no small change: the page is told anew.
const MOST: usize = 25;
/// Lines of text that are told of a change.
const WORDS: usize = 12;

/// Returns what became of the page in lines of three kinds: `+` what can be operated now, `~` what is
/// another now, `-` what is gone, and `>` text that was not there. None where the page is another
/// one, or so much of it that it is better read anew.
pub fn changes(before: &Observation, now: &Observation) -> Option<Vec<String>> {
    if before.document != now.document {
        return None;
    }
    let told: HashMap<ElementId, &str> =
        before.elements.iter().map(|shown| (shown.id, shown.line.as_str())).collect();
    let mut lines = Vec::new();
    for shown in &now.elements {
        match told.get(&shown.id) {
            None => lines.push(format!("+ {}", shown.line)),
            Some(line) if *line != shown.line => lines.push(format!("~ {}", shown.line)),
            Some(_) => {}
        }
    }
    let left: HashSet<ElementId> = now.elements.iter().map(|shown| shown.id).collect();
    let gone = before.elements.iter().filter(|shown| !left.contains(&shown.id));
    let gone: Vec<_> = gone.map(|shown| shown.id.0.to_string()).collect();
    let most_are_gone = gone.len() * 2 > before.elements.len().max(6);
    if lines.len() > MOST || most_are_gone {
        return None;
    }
    if !gone.is_empty() {
        lines.push(format!("- {}", gone.join(", ")));
    }
    lines.extend(new_text(before.markdown(), now.markdown())?);
    Some(lines)
}

/// Lines that the Markdown has now and had not, or had less often. None where they are too many.
fn new_text(before: &str, now: &str) -> Option<Vec<String>> {
    let mut had: HashMap<&str, usize> = HashMap::new();
    before.lines().for_each(|line| *had.entry(line.trim()).or_default() += 1);
    let mut new = Vec::new();
    for line in now.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match had.get_mut(line) {
            Some(count) if *count > 0 => *count -= 1,
            Some(_) | None => new.push(line),
        }
    }
    if new.len() > WORDS * 2 {
        return None;
    }
    let mut lines: Vec<_> = new.iter().take(WORDS).map(|line| format!("> {line}")).collect();
    if let Some(more) = new.len().checked_sub(WORDS + 1) {
        lines.push(format!("> … {} lines more", more + 1));
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::page::observation::Shown;
    use crate::domain::page::tree::DocumentId;

    fn page(elements: &[(u32, &str)], text: &str) -> Observation {
        let shown = |(id, name): &(u32, &str)| Shown {
            id: ElementId(*id),
            role: "button".into(),
            name: (*name).into(),
            secret: false,
            bounds: None,
            line: format!("{id}[:]<button>{name}</button>"),
        };
        Observation {
            document: DocumentId("d".into()),
            url: "http://a.localhost/".into(),
            title: "A".into(),
            text: text.into(),
            markdown: 0..text.len(),
            elements: elements.iter().map(shown).collect(),
            links: vec![],
        }
    }

    #[test]
    fn what_came_went_and_changed_is_told_in_lines() {
        let before = page(&[(1, "Add"), (2, "Close"), (3, "Menu")], "Cart\n0 items\nCart\n");
        let now = page(&[(1, "Add"), (3, "Menu, open"), (9, "Pay")], "Cart\nCart\nCart\n1 item\n");
        assert_eq!(
            changes(&before, &now).unwrap(),
            [
                "~ 3[:]<button>Menu, open</button>",
                "+ 9[:]<button>Pay</button>",
                "- 2",
                "> Cart",
                "> 1 item"
            ]
        );
        assert_eq!(changes(&now, &now), Some(vec![]));
    }

    #[test]
    fn another_page_or_most_of_one_is_told_anew() {
        let before = page(&[(1, "Add")], "one");
        let elsewhere = Observation { document: DocumentId("e".into()), ..before.clone() };
        assert_eq!(changes(&before, &elsewhere), None);
        let many: Vec<_> = (10..50).map(|id| (id, "x")).collect();
        assert_eq!(changes(&before, &page(&many, "one")), None);
        assert_eq!(changes(&page(&many, "one"), &before), None);
        let lines = (0..40).map(|n| format!("line {n}\n")).collect::<String>();
        assert_eq!(changes(&before, &page(&[(1, "Add")], &lines)), None);
    }

    #[test]
    fn much_new_text_is_counted() {
        let lines = (0..20).map(|n| format!("line {n}\n")).collect::<String>();
        let told = changes(&page(&[], ""), &page(&[], &lines)).unwrap();
        assert_eq!((told.len(), told.last().unwrap().as_str()), (13, "> … 8 lines more"));
    }
}
