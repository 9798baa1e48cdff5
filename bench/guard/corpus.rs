//! The labelled controls of `tests/guard/*.toml`, and what the guard's table makes of them.
use std::collections::BTreeMap;

use serde::Deserialize;
use strawmanus::domain::guard::{Case, Class, Words, classify};

const CORPORA: [(Corpus, &str); 2] = [
    (Corpus::First, include_str!("../../tests/guard/corpus.toml")),
    (Corpus::Blind, include_str!("../../tests/guard/blind.toml")),
];
const WORDS: &str = include_str!("../../config/guard.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Labelled {
    irreversible: Vec<String>,
    benign: Vec<String>,
}

/// Where an entry stands: in the first corpus, or in the one whose writer had not seen the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Corpus {
    First,
    Blind,
}

/// Which entries the table may be tuned on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    Tuning,
    HeldOut,
}

/// One control, and what it is.
#[derive(Debug, Clone)]
pub struct Entry {
    pub language: String,
    pub line: String,
    pub irreversible: bool,
    pub corpus: Corpus,
    pub half: Half,
    case: Case,
}

impl Entry {
    /// Whether the guard would hold it, and why or why not.
    pub fn held(&self, words: &Words) -> (bool, String) {
        let judged = classify(&self.case, words);
        (judged.class == Class::Irreversible, judged.why)
    }
}

pub fn words() -> Words {
    Words::parse(WORDS).expect("config/guard.toml is a table")
}

/// Reads every entry, in the order of languages.
pub fn entries() -> Vec<Entry> {
    CORPORA.iter().flat_map(|(corpus, text)| read(*corpus, text)).collect()
}

fn read(corpus: Corpus, text: &str) -> Vec<Entry> {
    let table: BTreeMap<String, Labelled> = toml::from_str(text).expect("the corpus is TOML");
    let mut entries = Vec::new();
    for (language, Labelled { irreversible, benign }) in table {
        for (lines, irreversible) in [(irreversible, true), (benign, false)] {
            entries.extend(lines.into_iter().map(|line| {
                let case = case(&line).unwrap_or_else(|| panic!("no such shape: {line}"));
                let half = half(&format!("{language} {line}"));
                Entry { language: language.clone(), line, irreversible, corpus, half, case }
            }));
        }
    }
    entries
}

/// FNV-1a: the same on every machine, for ever.
fn half(text: &str) -> Half {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    if (hash >> 32) & 1 == 0 { Half::Tuning } else { Half::HeldOut }
}

fn case(line: &str) -> Option<Case> {
    let mut parts = line.split('|').map(|part| part.trim().to_owned());
    let (shape, name) = (parts.next()?, parts.next()?);
    let more = parts.next().unwrap_or_default();
    let pressed = |tag: &str, role: &str| Case {
        deed: "click".into(),
        url: "https://site.test/page".into(),
        tag: tag.into(),
        role: role.into(),
        name: name.clone(),
        ..Case::default()
    };
    let sends = |method: &str, submit: &str, case: Case| Case {
        form_method: method.into(),
        form_action: "https://site.test/next".into(),
        form_submit: submit.into(),
        submits: true,
        ..case
    };
    let enters = |case: Case| Case { deed: "press".into(), payload: "Enter".into(), ..case };
    Some(match shape.as_str() {
        "button" => pressed("button", "button"),
        "titled" => Case { texts: vec![more], ..pressed("button", "button") },
        "link" => pressed("a", "link"),
        "menuitem" => pressed("div", "menuitem"),
        "tab" => pressed("button", "tab"),
        "checkbox" => Case { kind: "checkbox".into(), ..pressed("input", "checkbox") },
        "option" => pressed("option", "option"),
        "field" => Case { kind: "text".into(), ..pressed("input", "textbox") },
        "submit" => sends("post", &name, pressed("button", "button")),
        "get" => sends("get", &name, pressed("button", "button")),
        "search" => Case { search: true, ..sends("get", &name, pressed("button", "button")) },
        "enter" => enters(sends("post", &more, pressed("input", "textbox"))),
        "compose" => enters(Case { compose: true, ..pressed("textarea", "textbox") }),
        _ => return None,
    })
}

/// How well the table does on some entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    pub irreversible: usize,
    pub held: usize,
    pub benign: usize,
    pub held_falsely: usize,
}

impl Figures {
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>, words: &Words) -> Self {
        let mut figures = Self::default();
        for entry in entries {
            let held = usize::from(entry.held(words).0);
            if entry.irreversible {
                figures.irreversible += 1;
                figures.held += held;
            } else {
                figures.benign += 1;
                figures.held_falsely += held;
            }
        }
        figures
    }

    /// Returns how much of what must be held is, in per cent.
    pub fn recall(&self) -> f64 {
        percent(self.held, self.irreversible)
    }

    /// Returns how much of what must pass is held, in per cent.
    pub fn false_holds(&self) -> f64 {
        percent(self.held_falsely, self.benign)
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
