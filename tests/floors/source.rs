//! A Rust file as the rules see it: code without comments and texts, the texts by themselves, and
//! nothing of its tests. It reads what rustfmt writes; it is no parser.
use crate::rules::Rule;

/// One file.
pub struct Source {
    /// From the package's folder: `src/actors/tab.rs`.
    pub path: String,
    /// The first folder below `src/`, or the file there.
    pub floor: String,
    /// Up to the tests.
    pub lines: Vec<Line>,
    /// Files that are tests as a whole, by their paths.
    pub test_files: Vec<String>,
}

/// One line.
pub struct Line {
    /// From 1.
    pub number: usize,
    /// Without comments and without what stands between quotes.
    pub code: String,
    /// What stands between quotes.
    pub text: String,
}

/// One function that has a body.
pub struct Function {
    pub name: String,
    /// From the line of its name to the line that ends it, both by index.
    pub first: usize,
    pub last: usize,
}

impl Source {
    pub fn read(path: &str, text: &str) -> Self {
        let below = path.strip_prefix("src/").unwrap_or(path);
        let floor = below.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned();
        let (lines, test_files) = without_tests(path, scan(text));
        Self { path: path.to_owned(), floor, lines, test_files }
    }

    /// Returns what `rule` objects to, each with its place.
    pub fn complaints(&self, rule: Rule) -> Vec<String> {
        let say = |(number, why): (usize, String)| format!("{}:{number}: {why}", self.path);
        rule(self).into_iter().map(say).collect()
    }

    /// Returns every function, in the order of their first lines; those inside others as well.
    pub fn functions(&self) -> Vec<Function> {
        let named = |(first, line): (usize, &Line)| Some((first, function_name(&line.code)?));
        let starts = self.lines.iter().enumerate().filter_map(named);
        let whole = |(first, name)| Some(Function { name, first, last: self.end_of(first)? });
        starts.filter_map(whole).collect()
    }

    /// Returns the line where what begins in line `first` closes its braces; none for a declaration.
    fn end_of(&self, first: usize) -> Option<usize> {
        let (mut braces, mut brackets) = (0_usize, 0_usize);
        for (index, line) in self.lines.iter().enumerate().skip(first) {
            for c in line.code.chars() {
                match c {
                    '(' | '[' => brackets += 1,
                    ')' | ']' => brackets = brackets.saturating_sub(1),
                    ';' if braces == 0 && brackets == 0 => return None,
                    '{' => braces += 1,
                    '}' => {
                        braces = braces.saturating_sub(1);
                        if braces == 0 && brackets == 0 {
                            return Some(index);
                        }
                    }
                    _ => {}
                }
            }
        }
        None
    }
}

/// Returns the name in `pub async fn name(`, and nothing for a type such as `fn(u8)`.
fn function_name(code: &str) -> Option<String> {
    let at = code.match_indices("fn ").map(|(at, _)| at).find(|at| {
        let before = code[..*at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    })?;
    let rest = code[at + 3..].trim_start();
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// Cuts a file's test modules out, and names the files that are test modules by themselves.
fn without_tests(path: &str, lines: Vec<Line>) -> (Vec<Line>, Vec<String>) {
    let (mut kept, mut files) = (Vec::new(), Vec::new());
    let mut rest = lines.into_iter().peekable();
    while let Some(line) = rest.next() {
        let code = line.code.trim();
        if !(code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(all(test")) {
            kept.push(line);
            continue;
        }
        let attributes = std::iter::from_fn(|| rest.next_if(|it| it.code.trim().starts_with('#')));
        let elsewhere = attributes.filter(|it| it.code.contains("#[path")).map(|it| it.text).last();
        let Some(item) = rest.next() else { break };
        match item.code.trim().strip_prefix("mod ") {
            Some(name) if name.ends_with(';') => {
                files.push(file_of(path, name.trim_end_matches(';'), elsewhere.as_deref()));
            }
            // A module of tests, or one thing that only tests use: up to the end of its braces.
            Some(_) | None => drop_item(&item, &mut rest),
        }
    }
    (kept, files)
}

fn drop_item(item: &Line, rest: &mut impl Iterator<Item = Line>) {
    let depth = |line: &Line| {
        let count = |c| line.code.matches(c).count();
        count('{').cast_signed() - count('}').cast_signed()
    };
    let mut open = depth(item);
    let mut done = open == 0 && item.code.contains(['}', ';', ',']);
    while !done {
        let Some(line) = rest.next() else { return };
        open += depth(&line);
        done = open <= 0 && line.code.contains(['}', ';', ',']);
    }
}

/// Returns where the module `name` of the file `path` lies.
fn file_of(path: &str, name: &str, elsewhere: Option<&str>) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.trim_end_matches(".rs");
    match (elsewhere, stem) {
        (Some(elsewhere), _) => format!("{folder}/{elsewhere}"),
        (None, "mod" | "lib" | "main") => format!("{folder}/{name}.rs"),
        (None, stem) => format!("{folder}/{stem}/{name}.rs"),
    }
}

/// Parts a file into code and texts, and drops comments.
fn scan(text: &str) -> Vec<Line> {
    let mut scanner = Scanner { rest: text, lines: Vec::new() };
    scanner.begin_line();
    while !scanner.rest.is_empty() {
        scanner.advance();
    }
    scanner.lines
}

struct Scanner<'a> {
    rest: &'a str,
    lines: Vec<Line>,
}

/// How a text begins and ends.
struct Quotes {
    opening: usize,
    closing: String,
    /// It knows no escapes.
    raw: bool,
}

impl Scanner<'_> {
    fn advance(&mut self) {
        if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.rest = &self.rest[end..];
        } else if self.rest.starts_with("/*") {
            self.skip_comment();
        } else if let Some(quotes) = self.quotes() {
            self.take_text(&quotes);
        } else if let Some(length) = self.character() {
            self.rest = &self.rest[length..];
            self.line().code.push_str("' '");
        } else {
            self.take(|line, c| line.code.push(c));
        }
    }

    fn skip_comment(&mut self) {
        let mut depth = 0_usize;
        while !self.rest.is_empty() {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.rest = &self.rest[2..];
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.rest = &self.rest[2..];
                if depth == 0 {
                    return;
                }
            } else {
                self.take(|_, _| {});
            }
        }
    }

    fn take_text(&mut self, quotes: &Quotes) {
        self.line().code.push('"');
        self.rest = &self.rest[quotes.opening..];
        while !self.rest.is_empty() && !self.rest.starts_with(&quotes.closing) {
            if !quotes.raw && self.rest.starts_with('\\') {
                self.take(|line, c| line.text.push(c));
            }
            self.take(|line, c| line.text.push(c));
        }
        self.rest = self.rest.get(quotes.closing.len()..).unwrap_or_default();
        self.line().code.push('"');
    }

    /// Takes one character to where it belongs; the end of a line begins the next.
    fn take(&mut self, put: impl FnOnce(&mut Line, char)) {
        let Some(c) = self.rest.chars().next() else { return };
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' { self.begin_line() } else { put(self.line(), c) }
    }

    /// Returns the quotes of a text that begins here: `"`, `b"`, `r"`, `r#"`, `br##"`.
    fn quotes(&mut self) -> Option<Quotes> {
        let prefix =
            ["br", "cr", "b", "c", "r", ""].into_iter().find(|it| self.rest.starts_with(it))?;
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        if !prefix.is_empty() && self.line().code.ends_with(in_word) {
            return None;
        }
        let raw = prefix.ends_with('r');
        let rest = &self.rest[prefix.len()..];
        let hashes = if raw { rest.len() - rest.trim_start_matches('#').len() } else { 0 };
        rest[hashes..].starts_with('"').then(|| {
            let closing = format!("\"{}", "#".repeat(hashes));
            Quotes { opening: prefix.len() + hashes + 1, closing, raw }
        })
    }

    /// Returns the length of a character such as `'{'` that stands here; a lifetime is none.
    fn character(&self) -> Option<usize> {
        let inside = self.rest.strip_prefix('\'')?;
        let first = inside.chars().next()?;
        let least = if first == '\\' { 2 } else { first.len_utf8() };
        let end = inside.get(least..)?.find('\'')?;
        (first == '\\' || end == 0).then_some(1 + least + end + 1)
    }

    fn begin_line(&mut self) {
        let number = self.lines.len() + 1;
        self.lines.push(Line { number, code: String::new(), text: String::new() });
    }

    fn line(&mut self) -> &mut Line {
        self.lines.last_mut().expect("a scan begins with a line")
    }
}
