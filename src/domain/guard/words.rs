//! The table of words, and how a text is looked through for them.
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::domain::guard::text;

/// The table: `config/guard.toml`, parsed.
#[derive(Debug, Clone)]
pub struct Words {
    languages: Vec<Language>,
    pub(super) code: CodeWords,
}

/// Why a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadWords {
    #[error("the guard's table of words cannot be read: {0}")]
    Toml(String),
    #[error("`{entry}` of {language} has no word in it; remove it")]
    Empty { language: String, entry: String },
    #[error("the guard's table of words names no language; without one nothing would be held")]
    NoLanguage,
}

/// What counts in code; see the table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeWords {
    pub calls: Vec<String>,
    pub names: Vec<String>,
    pub assigned: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    language: BTreeMap<String, RawLanguage>,
    code: CodeWords,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLanguage {
    spaced: bool,
    irreversible: Vec<String>,
    generic: Vec<String>,
    submitting: Vec<String>,
    compose: Vec<String>,
    soft: Vec<String>,
    money: Vec<String>,
    friends: Vec<String>,
}

/// Which lists of the table a text is looked through for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Irreversible,
    Generic,
    Submitting,
    Compose,
    Soft,
    Money,
}

#[derive(Debug, Clone)]
struct Language {
    irreversible: Vec<Entry>,
    generic: Vec<Entry>,
    submitting: Vec<Entry>,
    compose: Vec<Entry>,
    soft: Vec<Entry>,
    money: Vec<Entry>,
    friends: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq)]
enum Entry {
    Words(Vec<Word>),
    Part(String),
    /// A whole text that begins, or ends, with a part.
    Begins(String),
    Ends(String),
}

#[derive(Debug, Clone, PartialEq)]
enum Word {
    Is(String),
    Begins(String),
    Any,
    Number,
}

impl Words {
    /// Reads the table.
    ///
    /// # Errors
    /// TOML that does not fit, an entry without words, no language at all.
    pub fn parse(toml: &str) -> Result<Self, BadWords> {
        let raw: RawTable =
            toml::from_str(toml).map_err(|error| BadWords::Toml(error.to_string()))?;
        if raw.language.is_empty() {
            return Err(BadWords::NoLanguage);
        }
        let languages = raw.language.into_iter().map(|(name, raw)| Language::of(&name, raw));
        Ok(Self { languages: languages.collect::<Result<_, _>>()?, code: raw.code })
    }

    /// Returns the first words of `text` that stand in one of `lists`, as the text writes them.
    /// Friends are taken out before, but for what counts only where a form is submitted, and
    /// for what is soft.
    pub(super) fn find(&self, text: &str, lists: &[List]) -> Option<String> {
        let whole = Looked::at(text);
        self.languages.iter().find_map(|language| {
            let mut left = whole.clone();
            language.friends.iter().for_each(|friend| left.take_out(friend));
            lists.iter().find_map(|list| {
                let whole_counts = matches!(list, List::Submitting | List::Soft);
                let looked = if whole_counts { &whole } else { &left };
                language.list(*list).iter().find_map(|entry| looked.find(entry))
            })
        })
    }

    /// Returns how long a text is in words; scripts that do not part them have about three
    /// characters in one.
    pub(super) fn count(text: &str) -> usize {
        let parted = |word: &String| !word.chars().any(text::is_unparted);
        let words = text::words(&text::fold(text));
        let unparted: usize =
            words.iter().map(|word| word.chars().filter(|c| text::is_unparted(*c)).count()).sum();
        words.iter().filter(|word| parted(word)).count() + unparted / 3
    }
}

impl Language {
    fn of(name: &str, raw: RawLanguage) -> Result<Self, BadWords> {
        let entries = |list: Vec<String>| -> Result<Vec<Entry>, BadWords> {
            list.into_iter().map(|entry| Entry::of(name, &entry, raw.spaced)).collect()
        };
        // The longest first: a part of it may be a friend too.
        let mut friends = entries(raw.friends)?;
        friends.sort_by_key(|friend| std::cmp::Reverse(friend.length()));
        Ok(Self {
            irreversible: entries(raw.irreversible)?,
            generic: entries(raw.generic)?,
            submitting: entries(raw.submitting)?,
            compose: entries(raw.compose)?,
            soft: entries(raw.soft)?,
            money: entries(raw.money)?,
            friends,
        })
    }

    fn list(&self, list: List) -> &[Entry] {
        match list {
            List::Irreversible => &self.irreversible,
            List::Generic => &self.generic,
            List::Submitting => &self.submitting,
            List::Compose => &self.compose,
            List::Soft => &self.soft,
            List::Money => &self.money,
        }
    }
}

impl Entry {
    fn length(&self) -> usize {
        match self {
            Self::Words(words) => words.len(),
            Self::Part(part) | Self::Begins(part) | Self::Ends(part) => part.chars().count(),
        }
    }

    fn of(language: &str, entry: &str, spaced: bool) -> Result<Self, BadWords> {
        let folded = text::fold(entry);
        let made = if spaced {
            Self::Words(folded.split_whitespace().flat_map(Word::of).collect())
        } else {
            Self::part(&text::squeeze(&folded))
        };
        let empty = match &made {
            Self::Words(words) => words.iter().all(|word| *word == Word::Any),
            Self::Part(part) | Self::Begins(part) | Self::Ends(part) => part.is_empty(),
        };
        if empty {
            return Err(BadWords::Empty { language: language.into(), entry: entry.into() });
        }
        Ok(made)
    }

    fn part(written: &str) -> Self {
        match (written.strip_suffix('*'), written.strip_prefix('*')) {
            (Some(start), _) => Self::Begins(start.to_owned()),
            (None, Some(end)) => Self::Ends(end.to_owned()),
            (None, None) => Self::Part(written.to_owned()),
        }
    }
}

impl Word {
    fn of(written: &str) -> Vec<Self> {
        match written {
            "*" => vec![Self::Any],
            "#" => vec![Self::Number],
            _ => {
                let mut words: Vec<_> = text::words(written).into_iter().map(Self::Is).collect();
                if let (true, Some(Self::Is(last))) = (written.ends_with('*'), words.last_mut()) {
                    let stem = std::mem::take(last);
                    words.pop();
                    words.push(Self::Begins(stem));
                }
                words
            }
        }
    }

    fn fits(&self, word: &str) -> bool {
        match self {
            Self::Is(whole) => whole == word,
            Self::Begins(stem) => word.starts_with(stem.as_str()),
            // What was taken out is no word any more.
            Self::Any => !word.is_empty(),
            Self::Number => word.chars().next().is_some_and(char::is_numeric),
        }
    }
}

/// A text as it is looked through: its words, and the whole without white space.
#[derive(Clone)]
struct Looked {
    words: Vec<String>,
    whole: String,
}

impl Looked {
    fn at(text: &str) -> Self {
        let folded = text::fold(text);
        Self { words: text::words(&folded), whole: text::squeeze(&folded) }
    }

    fn find(&self, entry: &Entry) -> Option<String> {
        match entry {
            Entry::Words(wanted) => {
                let at = position(&self.words, wanted)?;
                Some(self.words[at..at + wanted.len()].join(" "))
            }
            Entry::Part(part) => self.whole.contains(part.as_str()).then(|| part.clone()),
            Entry::Begins(part) => self.whole.starts_with(part.as_str()).then(|| part.clone()),
            Entry::Ends(part) => self.whole.ends_with(part.as_str()).then(|| part.clone()),
        }
    }

    /// Puts nothing in the place of what fits, so that nothing new comes together there.
    fn take_out(&mut self, friend: &Entry) {
        match friend {
            Entry::Words(wanted) => {
                while let Some(at) = position(&self.words, wanted) {
                    self.words[at..at + wanted.len()].iter_mut().for_each(String::clear);
                }
            }
            Entry::Part(part) => self.whole = self.whole.replace(part.as_str(), "\n"),
            Entry::Begins(_) | Entry::Ends(_) if self.find(friend).is_some() => {
                self.whole = "\n".to_owned();
            }
            Entry::Begins(_) | Entry::Ends(_) => {}
        }
    }
}

fn position(words: &[String], wanted: &[Word]) -> Option<usize> {
    let fits = |some: &[String]| wanted.iter().zip(some).all(|(want, word)| want.fits(word));
    words.windows(wanted.len()).position(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(language: &str) -> String {
        format!("{language}\n[code]\ncalls = []\nnames = []\nassigned = []\n")
    }

    #[test]
    fn a_table_that_would_hold_too_little_or_everything_is_refused() {
        let language = |irreversible: &str| {
            table(&format!(
                "[language.x]\nspaced = true\nirreversible = [{irreversible}]\ngeneric = []\nsubmitting = []\ncompose = []\nsoft = []\nmoney = []\nfriends = []"
            ))
        };
        assert!(Words::parse(&language("'send'")).is_ok());
        let refused = |toml: &str| Words::parse(toml).unwrap_err();
        assert_eq!(refused(&table("[language]")), BadWords::NoLanguage);
        let empty = BadWords::Empty { language: "x".into(), entry: "…".into() };
        assert_eq!(refused(&language("'send', '…'")), empty);
        assert!(matches!(refused(&language("'*'")), BadWords::Empty { .. }));
        assert!(matches!(refused("[language.x]\nspaced = true"), BadWords::Toml(_)));
    }

    #[test]
    fn stems_wildcards_and_numbers_fit_words() {
        let words = |entry: &str| match Entry::of("x", entry, true).unwrap() {
            Entry::Words(words) => words,
            other => panic!("{other:?}"),
        };
        let fits = |entry: &str, text: &str| {
            position(&text::words(&text::fold(text)), &words(entry)).is_some()
        };
        assert!(fits("send", "Please SEND it"));
        assert!(!fits("send", "Sender"));
        assert!(fits("отправ*", "Отправить"));
        assert!(fits("order #", "Order #123") && !fits("order #", "order now"));
        assert!(fits("how to *", "How to pay") && !fits("how to *", "how to"));
    }
}
