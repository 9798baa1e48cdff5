//! Keys and chords: `Enter`, `Tab`, `ArrowUp`, `Control+Enter`, `a`.
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A key with its modifiers, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Chord {
    pub control: bool,
    pub shift: bool,
    pub alt: bool,
    pub meta: bool,
    /// The DOM `key` value: `Enter`, `ArrowUp`, `a`, `é`.
    pub key: String,
}

/// Why a word is no chord.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no key; use a character or a DOM key name such as Enter, Tab, Escape, ArrowUp, \
     with Control+, Shift+, Alt+ or Meta+ before it"
)]
pub struct BadChord(String);

const NAMED: &[&str] = &[
    "Enter",
    "Tab",
    "Escape",
    "Backspace",
    "Delete",
    "Insert",
    "Home",
    "End",
    "PageUp",
    "PageDown",
    "ArrowUp",
    "ArrowDown",
    "ArrowLeft",
    "ArrowRight",
    "F1",
    "F2",
    "F3",
    "F4",
    "F5",
    "F6",
    "F7",
    "F8",
    "F9",
    "F10",
    "F11",
    "F12",
    "ContextMenu",
];

impl FromStr for Chord {
    type Err = BadChord;

    fn from_str(word: &str) -> Result<Self, BadChord> {
        let bad = || BadChord(word.to_owned());
        // A trailing `+` is the key itself: `+`, `Control++`.
        let (modifiers, key) = match word.strip_suffix('+') {
            Some(before) => (before.strip_suffix('+').unwrap_or(before), "+"),
            None => word.rsplit_once('+').unwrap_or(("", word)),
        };
        let mut chord =
            Self { control: false, shift: false, alt: false, meta: false, key: String::new() };
        for modifier in modifiers.split('+').filter(|modifier| !modifier.is_empty()) {
            match modifier.to_ascii_lowercase().as_str() {
                "control" | "ctrl" => chord.control = true,
                "shift" => chord.shift = true,
                "alt" | "option" => chord.alt = true,
                "meta" | "cmd" | "command" => chord.meta = true,
                _ => return Err(bad()),
            }
        }
        chord.key = match key.to_ascii_lowercase().as_str() {
            "space" => " ".into(),
            "esc" => "Escape".into(),
            "return" => "Enter".into(),
            lower => match NAMED.iter().find(|name| name.eq_ignore_ascii_case(lower)) {
                Some(name) => (*name).into(),
                None if key.chars().count() == 1 => key.into(),
                None => return Err(bad()),
            },
        };
        Ok(chord)
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = [
            (self.control, "Control+"),
            (self.shift, "Shift+"),
            (self.alt, "Alt+"),
            (self.meta, "Meta+"),
        ];
        for (_, name) in held.into_iter().filter(|(held, _)| *held) {
            f.write_str(name)?;
        }
        f.write_str(if self.key == " " { "Space" } else { &self.key })
    }
}

impl TryFrom<String> for Chord {
    type Error = BadChord;

    fn try_from(word: String) -> Result<Self, BadChord> {
        word.parse()
    }
}

impl From<Chord> for String {
    fn from(chord: Chord) -> Self {
        chord.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_are_read_and_written() {
        for (word, written) in [
            ("Enter", "Enter"),
            ("enter", "Enter"),
            ("ctrl+enter", "Control+Enter"),
            ("Shift+Tab", "Shift+Tab"),
            ("a", "a"),
            ("Control+A", "Control+A"),
            ("+", "+"),
            ("Control++", "Control++"),
            ("space", "Space"),
            ("é", "é"),
            ("Meta+Alt+F5", "Alt+Meta+F5"),
        ] {
            let chord: Chord = word.parse().unwrap();
            assert_eq!(chord.to_string(), written);
            assert_eq!(written.parse::<Chord>().unwrap(), chord, "{written}");
        }
        for word in ["", "Entr", "Hyper+a", "ab"] {
            assert_eq!(word.parse::<Chord>(), Err(BadChord(word.into())));
        }
    }
}
