//! A US keyboard: which physical key and code stands behind a DOM `key` value.
use std::borrow::Cow;

/// What a key press is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key<'a> {
    /// The DOM `key` value.
    pub key: Cow<'a, str>,
    /// The DOM `code` value; empty for what no US keyboard has.
    pub code: Cow<'static, str>,
    /// Windows' virtual key code, which Chromium uses everywhere.
    pub virtual_code: i64,
    /// What the key types.
    pub text: Option<Cow<'a, str>>,
}

/// Named keys: `key`, virtual code, text. Their `code` is their name.
const NAMED: &[(&str, i64, Option<&str>)] = &[
    ("Enter", 13, Some("\r")),
    ("Tab", 9, None),
    ("Escape", 27, None),
    ("Backspace", 8, None),
    ("Delete", 46, None),
    ("Insert", 45, None),
    ("Home", 36, None),
    ("End", 35, None),
    ("PageUp", 33, None),
    ("PageDown", 34, None),
    ("ArrowUp", 38, None),
    ("ArrowDown", 40, None),
    ("ArrowLeft", 37, None),
    ("ArrowRight", 39, None),
    ("F1", 112, None),
    ("F2", 113, None),
    ("F3", 114, None),
    ("F4", 115, None),
    ("F5", 116, None),
    ("F6", 117, None),
    ("F7", 118, None),
    ("F8", 119, None),
    ("F9", 120, None),
    ("F10", 121, None),
    ("F11", 122, None),
    ("F12", 123, None),
    ("ContextMenu", 93, None),
];

/// Keys that type a mark: without Shift, with Shift, `code`, virtual code.
const MARKS: &[(char, char, &str, i64)] = &[
    (' ', ' ', "Space", 32),
    ('`', '~', "Backquote", 192),
    ('-', '_', "Minus", 189),
    ('=', '+', "Equal", 187),
    ('[', '{', "BracketLeft", 219),
    (']', '}', "BracketRight", 221),
    ('\\', '|', "Backslash", 220),
    (';', ':', "Semicolon", 186),
    ('\'', '"', "Quote", 222),
    (',', '<', "Comma", 188),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    ('0', ')', "Digit0", 48),
];

/// Finds the key for a DOM `key` value; `shift` is held.
pub(super) fn key(name: &str, shift: bool) -> Key<'_> {
    if let Some((name, virtual_code, text)) = NAMED.iter().find(|(named, ..)| *named == name) {
        return Key {
            key: (*name).into(),
            code: (*name).into(),
            virtual_code: *virtual_code,
            text: text.map(Into::into),
        };
    }
    let mut characters = name.chars();
    let (Some(character), None) = (characters.next(), characters.next()) else {
        return Key { key: name.into(), code: "".into(), virtual_code: 0, text: None };
    };
    if character.is_ascii_alphabetic() {
        let typed = if shift { character.to_ascii_uppercase() } else { character };
        let upper = character.to_ascii_uppercase();
        return typing(typed, format!("Key{upper}").into(), i64::from(u32::from(upper)));
    }
    for (plain, shifted, code, virtual_code) in MARKS {
        if character == *plain || character == *shifted {
            let typed = if shift { *shifted } else { character };
            return typing(typed, (*code).into(), *virtual_code);
        }
    }
    typing(character, "".into(), 0)
}

fn typing(typed: char, code: Cow<'static, str>, virtual_code: i64) -> Key<'static> {
    let typed: Cow<'static, str> = typed.to_string().into();
    Key { key: typed.clone(), code, virtual_code, text: Some(typed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_a_keyboard() {
        for (name, shift, typed, code, virtual_code, text) in [
            ("a", false, "a", "KeyA", 65, Some("a")),
            ("a", true, "A", "KeyA", 65, Some("A")),
            ("A", false, "A", "KeyA", 65, Some("A")),
            ("1", true, "!", "Digit1", 49, Some("!")),
            ("?", false, "?", "Slash", 191, Some("?")),
            (" ", false, " ", "Space", 32, Some(" ")),
            ("é", false, "é", "", 0, Some("é")),
            ("한", false, "한", "", 0, Some("한")),
            ("Enter", false, "Enter", "Enter", 13, Some("\r")),
            ("ArrowUp", true, "ArrowUp", "ArrowUp", 38, None),
        ] {
            let key = key(name, shift);
            assert_eq!((&*key.key, &*key.code, key.virtual_code), (typed, code, virtual_code));
            assert_eq!(key.text.as_deref(), text, "{name}");
        }
    }
}
