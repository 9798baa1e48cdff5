//! Rendering 2: the page as an accessibility snapshot, in reading order.
//!
//! Pure. An item that repeats (a row, a card) is one line: its main text and what can be operated in
//! it. Long runs of items show the first few and those in the viewport.
use std::collections::HashMap;

use crate::domain::page::numbering::Numbering;
use crate::domain::page::observation::{Observation, Shown};
use crate::domain::page::payload::links;
use crate::domain::page::text::{cap, fold, line};
use crate::domain::page::tree::{Flow, Node, Tree};

/// Bytes of one snapshot: about 4,000 tokens.
const MOST: usize = 16_000;
/// Characters of a name, and of an item's main text.
const NAME: usize = 100;
/// An item with more text than this, or more to operate, is no single line.
const ITEM_TEXT: usize = 240;
const ITEM_PARTS: usize = 8;
/// A run of more items than this is folded to this many.
const RUN: usize = 20;
const FIRST: usize = 10;

const ITEMS: [&str; 3] = ["row", "listitem", "article"];
/// Roles that hold a page together; printed even without a name.
const HOLDERS: [&str; 21] = [
    "alert",
    "alertdialog",
    "banner",
    "complementary",
    "contentinfo",
    "dialog",
    "form",
    "grid",
    "heading",
    "Iframe",
    "listbox",
    "log",
    "main",
    "menu",
    "navigation",
    "radiogroup",
    "search",
    "table",
    "tablist",
    "toolbar",
    "tree",
];
/// Named, they are worth a line; without a name they are left out.
const NAMED: [&str; 9] =
    ["article", "figure", "group", "image", "list", "region", "status", "tabpanel", "progressbar"];

/// What of a page is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only what can be operated, and what holds it together.
    pub interactive_only: bool,
    pub viewport_only: bool,
    /// Levels of the snapshot; all if none.
    pub depth: Option<u32>,
}

/// Returns the snapshot of `tree`. What is shown for the first time gets the next numbers.
pub fn outline(tree: &Tree, selection: Selection, numbering: &mut Numbering) -> Observation {
    numbering.turn_to(&tree.document);
    let mut writer = Writer::new(tree, selection, numbering);
    writer.write();
    let Writer { text, elements, .. } = writer;
    let (document, url, title) = (tree.document.clone(), tree.url.clone(), tree.title.clone());
    let markdown = text.len()..text.len();
    Observation { document, url, title, text, markdown, elements, links: links(tree) }
}

struct Writer<'a> {
    tree: &'a Tree,
    selection: Selection,
    numbering: &'a mut Numbering,
    ends: Vec<usize>,
    /// How many nodes before a position can be operated: what is inside is a difference.
    operable: Vec<usize>,
    runs: HashMap<(Option<usize>, &'a str), Run>,
    /// The printed ancestors: where each ends, and the name that says what is inside.
    open: Vec<Open<'a>>,
    /// Text that runs on, and its level.
    pending: (String, usize),
    text: String,
    elements: Vec<Shown>,
}

struct Open<'a> {
    end: usize,
    says: &'a str,
}

/// Items of one kind beside one another.
#[derive(Default)]
struct Run {
    of: usize,
    seen: usize,
    hidden: usize,
}

impl<'a> Writer<'a> {
    fn new(tree: &'a Tree, selection: Selection, numbering: &'a mut Numbering) -> Self {
        let mut operable = vec![0];
        let mut runs: HashMap<_, Run> = HashMap::new();
        for node in &tree.nodes {
            operable.push(operable[operable.len() - 1] + usize::from(node.interactive));
            if is_item(node) {
                runs.entry((node.parent, node.role.as_str())).or_default().of += 1;
            }
        }
        let ends = tree.ends();
        let (open, text, elements) = (Vec::new(), String::new(), Vec::new());
        let pending = (String::new(), 0);
        Self { tree, selection, numbering, ends, operable, runs, open, pending, text, elements }
    }

    fn write(&mut self) {
        let whole = 0..self.tree.nodes.len();
        let reach = match self.tree.modal.filter(|modal| whole.contains(modal)) {
            Some(modal) => modal..self.ends[modal],
            None => whole,
        };
        let mut at = reach.start;
        while at < reach.end {
            if self.text.len() > MOST {
                self.cut(at, reach.end);
                break;
            }
            while self.open.last().is_some_and(|open| open.end <= at) {
                self.flush();
                self.open.pop();
            }
            at = self.node(at);
        }
        self.flush();
        if self.tree.modal.is_some() {
            self.text.push_str("- note: an open dialog covers the rest of the page\n");
        }
        for note in &self.tree.notes {
            self.text.push_str(&format!("- note: {}\n", line(note, 2 * NAME)));
        }
    }

    fn cut(&mut self, at: usize, end: usize) {
        let left = self.operable[end] - self.operable[at];
        self.flush();
        self.text.push_str(&format!(
            "- note: cut here, with {left} more that can be operated; --viewport or --depth show less at once\n"
        ));
    }

    /// Writes what node `at` is worth, and answers where to go on.
    fn node(&mut self, at: usize) -> usize {
        let node = &self.tree.nodes[at];
        if node.is_text() {
            self.run_on(node);
            return at + 1;
        }
        let inside = self.operable[self.ends[at]] - self.operable[at];
        if self.selection.interactive_only && inside == 0 && node.role != "Iframe" {
            self.flush();
            return self.ends[at];
        }
        if let Some(next) = is_item(node).then(|| self.item(at)).flatten() {
            return next;
        }
        if node.flow != Flow::Inline {
            self.flush();
        }
        if self.is_shown(node) {
            self.flush();
            self.element(node);
            self.open.push(Open { end: self.ends[at], says: &node.name });
        }
        at + 1
    }

    fn is_shown(&self, node: &Node) -> bool {
        if self.selection.viewport_only && !node.in_viewport {
            return false;
        }
        let role = node.role.as_str();
        if node.interactive {
            return true;
        }
        HOLDERS.contains(&role) && role != "heading"
            || (NAMED.contains(&role) || role == "heading") && !node.name.is_empty()
    }

    /// Text that no name around it says already; runs of it become one line.
    fn run_on(&mut self, node: &Node) {
        let shown = node.parent.is_none_or(|parent| self.tree.nodes[parent].in_viewport);
        if self.selection.interactive_only || (self.selection.viewport_only && !shown) {
            return;
        }
        let words = fold(&node.name);
        let said = self.open.last().is_some_and(|open| open.says.contains(&words));
        if !words.is_empty() && !said {
            let level = self.open.len();
            let (text, at) = &mut self.pending;
            *at = level;
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&words);
        }
    }

    fn flush(&mut self) {
        let (text, level) = std::mem::take(&mut self.pending);
        if !text.is_empty() {
            self.line(level, &format!("text: {}", cap(&text, 3 * NAME)));
        }
    }

    fn line(&mut self, level: usize, words: &str) {
        if self.selection.depth.is_none_or(|depth| level < depth as usize) {
            self.text.push_str(&"  ".repeat(level.min(40)));
            self.text.push_str("- ");
            self.text.push_str(words);
            self.text.push('\n');
        }
    }

    fn element(&mut self, node: &Node) {
        let level = self.open.len();
        if self.selection.depth.is_none_or(|depth| level < depth as usize) {
            let words = self.described(node);
            self.line(level, &words);
        }
    }

    /// `button "Send" [disabled] [ref=e7]`, with a number where there is a use for one.
    fn described(&mut self, node: &Node) -> String {
        let mut words = role(node).to_owned();
        if !node.name.is_empty() {
            words.push_str(&format!(" \"{}\"", line(&node.name, NAME).replace('"', "'")));
        }
        words.push_str(&states(node));
        let wanted = node.interactive || node.role == "Iframe" || !self.selection.interactive_only;
        if let Some(key) = node.key.filter(|_| wanted) {
            let id = self.numbering.number(key);
            words.push_str(&format!(" [ref={id}]"));
            let (role, name) = (node.role.clone(), node.name.clone());
            let (secret, bounds, line) = (node.secret, node.bounds, String::new());
            self.elements.push(Shown { id, role, name, secret, bounds, line });
        }
        words
    }

    // ---- items ----

    /// Writes an item as one line, or folds it away; none where it is too much for a line.
    fn item(&mut self, at: usize) -> Option<usize> {
        let (node, end) = (&self.tree.nodes[at], self.ends[at]);
        if self.selection.viewport_only && !node.in_viewport {
            return Some(end);
        }
        let inside = &self.tree.nodes[at + 1..end];
        let parts = self.operable[end] - self.operable[at];
        if node.interactive || parts > ITEM_PARTS || inside.iter().any(is_item) {
            return None;
        }
        let text = self.main_text(at);
        if !self.selection.interactive_only && text.chars().count() > ITEM_TEXT {
            return None;
        }
        let parts: Vec<&Node> = inside.iter().filter(|node| node.interactive).collect();
        self.flush();
        if self.is_folded(at) {
            return Some(end);
        }
        self.item_line(node, &text, &parts);
        Some(end)
    }

    fn item_line(&mut self, node: &Node, text: &str, parts: &[&Node]) {
        let level = self.open.len();
        if self.selection.depth.is_some_and(|depth| level >= depth as usize) {
            return;
        }
        let said = parts.iter().any(|part| fold(&part.name) == text);
        if text.is_empty() || (said && parts.len() == 1) {
            for part in parts {
                let words = self.described(part);
                self.line(level, &words);
            }
            return;
        }
        let most = if self.selection.interactive_only { NAME } else { ITEM_TEXT };
        let mut words = format!("{} \"{}\"", role(node), cap(text, most).replace('"', "'"));
        let described: Vec<String> = parts.iter().map(|part| self.described(part)).collect();
        if !described.is_empty() {
            words.push_str(&format!(": {}", described.join(", ")));
        }
        self.line(level, &words);
    }

    /// The text of an item that is not the name of something in it that can be operated. Where only
    /// that is wanted, the words of its heading do.
    fn main_text(&self, item: usize) -> String {
        let inside = &self.tree.nodes[item + 1..self.ends[item]];
        let heading = inside.iter().find(|node| node.role == "heading" && !node.name.is_empty());
        if let Some(heading) = heading.filter(|_| self.selection.interactive_only) {
            return fold(&heading.name);
        }
        let mut said = "";
        let mut until = item;
        let mut words: Vec<String> = Vec::new();
        let mut last_block = None;
        for at in item + 1..self.ends[item] {
            let node = &self.tree.nodes[at];
            if at >= until {
                said = "";
            }
            if node.interactive {
                (said, until) = (&node.name, self.ends[at]);
            }
            let text = if node.is_text() { fold(&node.name) } else { String::new() };
            if text.is_empty() || (!said.is_empty() && said.contains(&text)) {
                continue;
            }
            let block = self.block_of(at);
            match words.last_mut().filter(|_| last_block == Some(block)) {
                Some(run) => run.push_str(&format!(" {text}")),
                None => words.push(text),
            }
            last_block = Some(block);
        }
        words.join(" · ")
    }

    fn block_of(&self, at: usize) -> usize {
        let mut at = at;
        while let Some(parent) = self.tree.nodes[at].parent {
            at = parent;
            if self.tree.nodes[at].flow != Flow::Inline {
                break;
            }
        }
        at
    }

    /// Beyond the first few of a long run only items in the viewport are shown; the last says how
    /// many are not.
    fn is_folded(&mut self, at: usize) -> bool {
        let node = &self.tree.nodes[at];
        let Some(run) = self.runs.get_mut(&(node.parent, node.role.as_str())) else { return false };
        run.seen += 1;
        let folded = run.of > RUN && run.seen > FIRST && !node.in_viewport;
        run.hidden += usize::from(folded);
        let (hidden, last) = (run.hidden, run.seen == run.of);
        if hidden > 0 && (last || !folded) {
            run.hidden = 0;
            let level = self.open.len();
            let kind = role(node);
            self.line(
                level,
                &format!("… {hidden} more {kind}s; aim at one with text=\"…\", or scroll"),
            );
        }
        folded
    }
}

fn is_item(node: &Node) -> bool {
    ITEMS.contains(&node.role.as_str())
}

/// The role as it is printed and can be asked for.
fn role(node: &Node) -> &str {
    match node.role.as_str() {
        "DisclosureTriangle" => "button",
        "" => "clickable",
        role => role,
    }
}

fn states(node: &Node) -> String {
    let mut words = String::new();
    if let Some(level) = node.attribute("level") {
        words.push_str(&format!(" [level={level}]"));
    }
    for name in ["checked", "pressed", "selected", "disabled", "required", "readonly", "invalid"] {
        match node.attribute(name) {
            None | Some("false") => {}
            Some("mixed") => words.push_str(&format!(" [{name}=mixed]")),
            Some(_) => words.push_str(&format!(" [{name}]")),
        }
    }
    for name in ["expanded", "current"] {
        if let Some(value) = node.attribute(name) {
            words.push_str(&format!(" [{name}={}]", line(value, 20)));
        }
    }
    let value = node.attribute("value").filter(|_| node.role != "button" && !node.secret);
    if let Some(value) = value.filter(|value| !value.trim().is_empty() && fold(value) != node.name)
    {
        words.push_str(&format!(" [value=\"{}\"]", line(value, NAME).replace('"', "'")));
    }
    if node.secret {
        words.push_str(" [secret]");
    }
    words
}

#[cfg(test)]
mod tests;
