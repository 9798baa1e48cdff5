//! Whether bare words are a CSS selector or what a page says: `button`, `#x`, `ul > li` against
//! `Delete`, `Add to cart`. Pure.
//!
//! Everything is a selector that the grammar takes and whose tag names are HTML's own, in lower
//! case. What a browser thinks of it is found out there.

/// HTML's elements, without `search`, which people write for the word.
const TAGS: &str = "a abbr address area article aside audio b base bdi bdo blockquote body br button \
    canvas caption cite code col colgroup data datalist dd del details dfn dialog div dl dt em embed \
    fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img \
    input ins kbd label legend li link main map mark menu meta meter nav noscript object ol optgroup \
    option output p param path picture pre progress q rp rt ruby s samp script section select slot \
    small source span strong style sub summary sup svg table tbody td template textarea tfoot th \
    thead time title tr track u ul use var video wbr";

/// Whether `words` are to be read as CSS.
pub fn is_selector(words: &str) -> bool {
    let mut reading = Reading { rest: words.trim(), custom: false, marked: false };
    // A word with a hyphen alone is a word (`sign-in`), beside marks of CSS it is an element.
    reading.list().is_some() && (reading.marked || !reading.custom)
}

/// What is left to read, and what was seen so far.
struct Reading<'a> {
    rest: &'a str,
    /// A name with a hyphen stood for a tag.
    custom: bool,
    /// Something stood there that only CSS has.
    marked: bool,
}

impl Reading<'_> {
    /// Compounds, with or without something between them.
    fn list(&mut self) -> Option<()> {
        loop {
            self.compound()?;
            let parted = self.blank();
            if self.rest.is_empty() {
                return Some(());
            }
            if self.one_of(&['>', '+', '~', ',']) {
                self.marked = true;
                self.blank();
            } else if !parted {
                return None;
            }
        }
    }

    /// A tag or `*`, then any number of `#id`, `.class`, `[attribute]`, `:pseudo`.
    fn compound(&mut self) -> Option<()> {
        let before = self.rest.len();
        if self.one_of(&['*']) {
            self.marked = true;
        } else if self.rest.starts_with(|letter: char| letter.is_ascii_lowercase()) {
            let tag = self.name()?;
            let custom = tag.contains('-') && tag == tag.to_lowercase();
            self.custom |= custom;
            if !custom && !TAGS.split_whitespace().any(|known| known == tag) {
                return None;
            }
        }
        while let Some(mark) = self.rest.chars().next().filter(|mark| "#.[:".contains(*mark)) {
            self.rest = &self.rest[1..];
            match mark {
                '[' => self.through(']')?,
                ':' => self.pseudo()?,
                _ => drop(self.name()?),
            }
            self.marked = true;
        }
        (self.rest.len() < before).then_some(())
    }

    fn pseudo(&mut self) -> Option<()> {
        self.one_of(&[':']);
        self.name()?;
        if self.one_of(&['(']) { self.through(')') } else { Some(()) }
    }

    /// Reads an identifier.
    fn name(&mut self) -> Option<String> {
        let letters = self.rest.trim_start_matches('-');
        let begins = |letter: char| letter.is_alphabetic() || letter == '_' || letter == '\\';
        if !letters.starts_with(begins) {
            return None;
        }
        let (mut escaped, whole) = (false, self.rest);
        let end = whole.find(|letter: char| {
            let goes_on = escaped || letter.is_alphanumeric() || "-_\\".contains(letter);
            escaped = !escaped && letter == '\\';
            !goes_on
        });
        let end = end.unwrap_or(whole.len());
        self.rest = &whole[end..];
        Some(whole[..end].to_owned())
    }

    /// Reads to the bracket that closes, past quotes and brackets within.
    fn through(&mut self, closing: char) -> Option<()> {
        let (mut quote, mut open, mut escaped) = (None, vec![closing], false);
        for (at, letter) in self.rest.char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if quote.is_some() => quote = quote.filter(|quote| *quote != letter),
                '"' | '\'' => quote = Some(letter),
                '(' => open.push(')'),
                '[' => open.push(']'),
                ')' | ']' => {
                    if open.pop() != Some(letter) {
                        return None;
                    }
                    if open.is_empty() {
                        let inside = !self.rest[..at].trim().is_empty();
                        self.rest = &self.rest[at + 1..];
                        return inside.then_some(());
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Whether there was white space; it is read.
    fn blank(&mut self) -> bool {
        let before = self.rest.len();
        self.rest = self.rest.trim_start();
        self.rest.len() < before
    }

    fn one_of(&mut self, letters: &[char]) -> bool {
        let found = self.rest.starts_with(letters);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_and_words_are_told_apart() {
        for words in [
            "button",
            "h1",
            "#x",
            ".primary",
            "*",
            "a[href]",
            "[name=q]",
            "a[href=\"/x y]\"]",
            "input[name='q'][type=text]",
            "ul > li",
            "ul>li",
            "nav a",
            "h1, h2",
            "tr:nth-child(2) td",
            "div:has(> a[href])",
            "a::before",
            "button.primary",
            "#main .row:not(.odd)",
            "my-menu.open",
            "my-menu > li",
            ".größe",
            "#a\\:b",
        ] {
            assert!(is_selector(words), "{words}");
        }
        for words in [
            "",
            "Delete",
            "Add to cart",
            "Button",
            "search",
            "sign-in",
            "sign-in page",
            "e12a",
            "Sign in: now",
            "time: now",
            "i.e.",
            "a.m.",
            "#1 choice",
            "3.5",
            "node.js",
            "Terms & conditions",
            "Save + exit",
            "> li",
            "ul >",
            "a[href",
            "a[]",
            "a)",
            ":)",
            ":::",
            "...",
            "삭제",
            "Price=5",
            "What's new?",
            "div button please",
        ] {
            assert!(!is_selector(words), "{words}");
        }
    }
}
