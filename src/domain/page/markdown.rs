//! The whole page as Markdown, without links and pictures.
//!
//! Pure, and it holds its own stack: pages nest thousands deep. Bounded in bytes; where it is cut it
//! says so.
use crate::domain::page::table::{Cell, Table};
use crate::domain::page::text::{cap, fold, line, reads_as_mark};
use crate::domain::page::tree::{Flow, Node, Tree};

/// Bytes of Markdown of one page.
const MOST: usize = 60_000;
/// Levels of lists and quotes that are told apart.
const LEVELS: usize = 8;
/// Characters of a navigation; it is seldom what is read for.
const NAVIGATION: usize = 200;
const CUT: &str = "[cut here: the page is longer; `get text TARGET` reads any part of it]";

/// Returns the page as Markdown; each line ends with a line feed.
pub fn markdown(tree: &Tree) -> String {
    let mut writer = Writer::default();
    let mut open: Vec<(usize, Opened)> = Vec::new();
    for (at, node) in tree.nodes.iter().enumerate() {
        while open.last().is_some_and(|(last, _)| Some(*last) != node.parent) {
            writer.leave_last(tree, &mut open);
        }
        if writer.out.len() > MOST {
            break;
        }
        let opened = writer.enter(node, open.last().map(|(parent, _)| &tree.nodes[*parent]));
        open.push((at, opened));
    }
    while !open.is_empty() {
        writer.leave_last(tree, &mut open);
    }
    writer.finish()
}

/// What entering a node began, and leaving it has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    Nothing,
    /// Words that are said already: by a field for its label, by a button for its content.
    Mute,
    Pre,
    /// Where the code began: bytes written before, and bytes of the line.
    Code(usize, usize),
    Quote,
    List,
    Item,
    Heading,
    Navigation,
    Table,
    Cell,
}

/// What is open around the place that is written.
#[derive(Debug, Default)]
struct Writer {
    out: String,
    /// The line that is being written, and what stands before it.
    line: String,
    marker: String,
    /// Lines that were set aside while a cell or a navigation is written on one line.
    aside: Vec<String>,
    /// Greater than 0 where everything has to stay on one line: headings, cells, navigations.
    one_line: usize,
    /// For each open list the number of its next item; none where they have no numbers.
    lists: Vec<Option<i64>>,
    quotes: usize,
    muted: usize,
    pre: usize,
    /// Of the code in the open `pre`, if it says so itself.
    language: String,
    navigations: usize,
    tables: Vec<Table>,
}

impl Writer {
    fn enter(&mut self, node: &Node, parent: Option<&Node>) -> Opened {
        if node.is_text() {
            self.text(&node.name);
            return Opened::Nothing;
        }
        if node.flow != Flow::Inline {
            self.part(node);
        }
        if is_control(node) {
            return self.control(node);
        }
        match node.tag.as_str() {
            "br" => self.end_line(),
            "hr" => self.own_line("---"),
            "img" => self.picture(node),
            "label" if node.attribute("for").is_some() => return self.mute(),
            "pre" if self.one_line == 0 => return self.begin_pre(),
            "code" if self.pre > 0 => {
                self.language = node.attribute("lang").unwrap_or_default().to_owned();
            }
            "code" if self.pre == 0 => return Opened::Code(self.out.len(), self.line.len()),
            "dd" => return self.mark(": "),
            "blockquote" => {
                self.quotes += 1;
                return Opened::Quote;
            }
            "ul" | "menu" => return self.begin_list(None),
            "ol" => return self.begin_list(Some(number(node, "start"))),
            "li" => return self.item(node, parent),
            _ => return self.enter_role(node),
        }
        Opened::Nothing
    }

    fn enter_role(&mut self, node: &Node) -> Opened {
        match node.role.as_str() {
            "heading" => return self.begin_heading(node),
            "navigation" => {
                self.navigations += 1;
                return self.begin_aside(Opened::Navigation);
            }
            "table" | "grid" | "treegrid" if self.one_line == 0 => {
                self.tables.push(Table::default());
                return Opened::Table;
            }
            "row" if self.one_line == 0 => {
                if let Some(table) = self.tables.last_mut() {
                    table.row();
                }
            }
            role if is_cell(role) && !self.tables.is_empty() => {
                return self.begin_aside(Opened::Cell);
            }
            _ => {}
        }
        Opened::Nothing
    }

    fn leave_last(&mut self, tree: &Tree, open: &mut Vec<(usize, Opened)>) {
        let Some((at, opened)) = open.pop() else { return };
        let node = &tree.nodes[at];
        match opened {
            Opened::Mute => self.muted = self.muted.saturating_sub(1),
            Opened::Pre => self.end_pre(node),
            Opened::Code(written, start) => self.end_code(written, start),
            Opened::Heading => self.one_line = self.one_line.saturating_sub(1),
            Opened::Navigation => self.end_navigation(),
            Opened::Table => self.end_table(),
            Opened::Cell => self.end_cell(node),
            Opened::Nothing | Opened::Quote | Opened::List | Opened::Item => {}
        }
        if node.flow != Flow::Inline || matches!(opened, Opened::Heading | Opened::Item) {
            self.part(node);
        }
        match opened {
            Opened::Quote => self.quotes = self.quotes.saturating_sub(1),
            Opened::List => drop(self.lists.pop()),
            // A mark that found no words must not stand before those of what comes next.
            Opened::Item | Opened::Heading => self.marker.clear(),
            _ => {}
        }
    }

    /// Ends the line before and after a block; a blank does for what stands beside others.
    fn part(&mut self, node: &Node) {
        if self.pre > 0 {
            return;
        }
        if self.navigations > 0 && node.flow == Flow::Block {
            self.dot();
        } else if node.flow == Flow::Inline || node.flow == Flow::Apart {
            self.blank();
        } else {
            self.end_line();
        }
    }

    fn dot(&mut self) {
        let said = self.line.trim_end();
        if !said.is_empty() && !said.ends_with('·') {
            self.line.truncate(said.len());
            self.line.push_str(" · ");
        }
    }

    fn mute(&mut self) -> Opened {
        self.muted += 1;
        Opened::Mute
    }

    fn mark(&mut self, marker: &str) -> Opened {
        if self.one_line == 0 {
            self.marker = marker.into();
        }
        Opened::Item
    }

    fn begin_list(&mut self, start: Option<i64>) -> Opened {
        self.lists.push(start);
        Opened::List
    }

    fn text(&mut self, words: &str) {
        if self.muted > 0 {
            return;
        }
        if self.pre > 0 {
            return self.line.push_str(words);
        }
        for (at, run) in words.split('\n').enumerate() {
            if at > 0 {
                self.end_line();
            }
            if run.starts_with(char::is_whitespace) {
                self.blank();
            }
            self.line.push_str(&fold(run));
            if run.ends_with(char::is_whitespace) {
                self.blank();
            }
        }
    }

    fn say(&mut self, words: &str) {
        if self.muted == 0 {
            self.line.push_str(words);
        }
    }

    fn blank(&mut self) {
        if !self.line.is_empty() && !self.line.ends_with(' ') {
            self.line.push(' ');
        }
    }

    /// Writes the line, if it has words; where all has to stay on one line, a blank does.
    fn end_line(&mut self) {
        if self.one_line > 0 || self.pre > 0 {
            return self.blank();
        }
        let line = std::mem::take(&mut self.line);
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        let indent = self.indent();
        let marker = std::mem::take(&mut self.marker);
        if indent.is_empty() && marker.is_empty() && reads_as_mark(line) {
            self.out.push('\\');
        }
        self.out.push_str(&format!("{indent}{marker}{line}\n"));
    }

    fn indent(&self) -> String {
        let quotes = "> ".repeat(self.quotes.min(LEVELS));
        let depth = self.lists.len().min(LEVELS);
        // A line of an item goes under its words; the marker itself stands a level further out.
        let inner = if self.marker.is_empty() { depth } else { depth.saturating_sub(1) };
        quotes + &"  ".repeat(inner)
    }

    fn own_line(&mut self, words: &str) {
        self.end_line();
        self.say(words);
        self.end_line();
    }

    fn item(&mut self, node: &Node, parent: Option<&Node>) -> Opened {
        let listed = parent.is_some_and(|list| matches!(list.tag.as_str(), "ul" | "ol" | "menu"));
        if !listed || node.role.is_empty() {
            return Opened::Nothing;
        }
        let marker = match self.lists.last_mut() {
            Some(Some(next)) => {
                *next = next.saturating_add(1);
                format!("{}. ", *next - 1)
            }
            _ => "- ".into(),
        };
        self.mark(&marker)
    }

    fn begin_heading(&mut self, node: &Node) -> Opened {
        if self.one_line == 0 {
            let level = number(node, "level").clamp(1, 6);
            self.marker.push_str(&"#".repeat(level as usize));
            self.marker.push(' ');
        }
        self.one_line += 1;
        Opened::Heading
    }

    fn picture(&mut self, node: &Node) {
        let alt = line(node.attribute("alt").unwrap_or(&node.name), 100);
        if !alt.is_empty() {
            self.set_apart(&format!("(image: {alt})"));
        }
    }

    // ---- code ----

    fn begin_pre(&mut self) -> Opened {
        self.end_line();
        self.pre += 1;
        Opened::Pre
    }

    fn end_pre(&mut self, node: &Node) {
        self.pre = self.pre.saturating_sub(1);
        let own = std::mem::take(&mut self.language);
        if self.pre > 0 {
            return;
        }
        let code = std::mem::take(&mut self.line);
        let code = code.trim_matches('\n').trim_end();
        if code.is_empty() {
            return;
        }
        let indent = self.indent();
        self.marker.clear();
        let mut fence = String::from("```");
        while code.contains(&fence) {
            fence.push('`');
        }
        let language = node.attribute("lang").unwrap_or(&own);
        self.out.push_str(&format!("{indent}{fence}{language}\n"));
        for line in code.lines() {
            self.out.push_str(&format!("{indent}{line}\n"));
        }
        self.out.push_str(&format!("{indent}{fence}\n"));
    }

    /// Puts ticks around what the line got since `start`, if it is still the same line.
    fn end_code(&mut self, written: usize, start: usize) {
        let Some(code) = self.line.get(start..).filter(|_| written == self.out.len()) else {
            return;
        };
        let (words, blanks) = (code.trim(), code.len() - code.trim_start().len());
        if words.is_empty() || words.contains('`') {
            return;
        }
        let end = start + blanks + words.len();
        self.line.insert(end, '`');
        self.line.insert(start + blanks, '`');
    }

    // ---- what is written on one line, beside the line that is open ----

    fn begin_aside(&mut self, opened: Opened) -> Opened {
        self.end_line();
        self.aside.push(std::mem::take(&mut self.line));
        self.one_line += 1;
        opened
    }

    fn end_aside(&mut self) -> String {
        self.one_line = self.one_line.saturating_sub(1);
        let line = std::mem::replace(&mut self.line, self.aside.pop().unwrap_or_default());
        fold(&line)
    }

    fn end_navigation(&mut self) {
        let words = self.end_aside();
        self.navigations = self.navigations.saturating_sub(1);
        self.blank();
        self.say(&cap(words.trim_end_matches([' ', '·']), NAVIGATION));
        self.end_line();
    }

    fn end_cell(&mut self, node: &Node) {
        let text = self.end_aside();
        let places = |name: &str| usize::try_from(number(node, name)).unwrap_or(1);
        let head = node.role == "columnheader" || node.tag == "th";
        let nested = self.one_line > 0;
        match self.tables.last_mut() {
            Some(table) if !nested => {
                table.cell(Cell {
                    text,
                    columns: places("colspan"),
                    rows: places("rowspan"),
                    head,
                });
            }
            _ => {
                self.blank();
                self.line.push_str(&text);
                self.blank();
            }
        }
    }

    fn end_table(&mut self) {
        self.end_line();
        let lines = self.tables.pop().map(Table::lines).unwrap_or_default();
        if lines.is_empty() {
            return;
        }
        let indent = self.indent();
        let around = if self.out.is_empty() || self.out.ends_with("\n\n") { "" } else { "\n" };
        self.out.push_str(around);
        for line in lines {
            if self.out.len() > MOST {
                break;
            }
            self.out.push_str(&format!("{indent}{line}\n"));
        }
        self.out.push('\n');
    }

    // ---- forms ----

    fn control(&mut self, node: &Node) -> Opened {
        let name = line(&node.name, 100);
        if node.tag == "button" {
            if !name.is_empty() {
                self.set_apart(&format!("[{name}]"));
            }
            return self.mute();
        }
        let muted = std::mem::take(&mut self.muted); // a field inside its label is no part of it
        match node.role.as_str() {
            "checkbox" | "switch" => self.set_apart(&format!("[{}] {name}", ticked(node))),
            "radio" => self.set_apart(&format!("({}) {name}", ticked(node))),
            "button" if name.is_empty() => {}
            "button" => self.set_apart(&format!("[{name}]")),
            _ => {
                let name = if name.is_empty() { line(unnamed(node), 100) } else { name };
                self.own_line(&format!("{name}: {}", held(node)));
            }
        }
        self.muted = muted;
        Opened::Nothing
    }

    fn set_apart(&mut self, words: &str) {
        self.blank();
        self.say(words.trim_end());
        self.blank();
    }

    fn finish(mut self) -> String {
        self.one_line = 0;
        self.pre = 0;
        self.end_line();
        if self.out.len() > MOST {
            let mut end = MOST;
            while !self.out.is_char_boundary(end) {
                end -= 1;
            }
            self.out.truncate(self.out[..end].rfind('\n').map_or(end, |at| at + 1));
            self.out.push_str(CUT);
            self.out.push('\n');
        }
        let kept = self.out.trim_end().len();
        self.out.truncate(kept);
        if kept > 0 {
            self.out.push('\n');
        }
        self.out
    }
}

fn is_cell(role: &str) -> bool {
    matches!(role, "cell" | "gridcell" | "columnheader" | "rowheader")
}

fn is_control(node: &Node) -> bool {
    node.interactive && matches!(node.tag.as_str(), "input" | "select" | "textarea" | "button")
}

fn number(node: &Node, name: &str) -> i64 {
    node.attribute(name).and_then(|value| value.parse().ok()).unwrap_or(1)
}

fn ticked(node: &Node) -> char {
    match node.attribute("checked") {
        Some("true") => 'x',
        Some("mixed") => '-',
        _ => ' ',
    }
}

fn unnamed(node: &Node) -> &str {
    node.attribute("placeholder").or(node.attribute("named")).unwrap_or("(unnamed field)")
}

fn held(node: &Node) -> String {
    match node.attribute("value") {
        _ if node.secret => "<redacted secret field>".into(),
        Some(value) if !value.trim().is_empty() => line(value, 300),
        _ => "(empty)".into(),
    }
}

#[cfg(test)]
mod tests;
