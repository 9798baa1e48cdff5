//! What a command aims at: the TARGET of the CLI contract.
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::domain::ids::ElementId;
use crate::domain::selector::is_selector;

/// One element, by number or by description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// `e12`, `@e12`, `ref=e12`, or `12` where the Manus format wants an index.
    Element(ElementId),
    /// A chain: each part is looked for inside what the part before it found.
    Query(Vec<Query>),
}

/// One part of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Query {
    Css {
        value: String,
    },
    Xpath {
        value: String,
    },
    /// `role=button[name="Send"]`; without a name, every element of the role.
    Role {
        value: String,
        name: Option<String>,
    },
    Text {
        value: String,
    },
    Label {
        value: String,
    },
    Placeholder {
        value: String,
    },
    Testid {
        value: String,
    },
    /// `--in "words"`: the nearest row, card, dialog or section that holds the words.
    Within {
        value: String,
    },
}

/// Between the parts of a chain.
const CHAIN: &str = " >> ";

/// Why words are no target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTarget {
    #[error("a target is missing; use a number like e12, words, CSS, or role=…, label=…")]
    Empty,
    #[error("`{0}` says nothing to look for; write the words after it")]
    EmptyPart(String),
    #[error("`{0}` has an empty part beside `>>`; leave the `>>` out, or put the words in quotes")]
    EmptyLink(String),
    #[error("`{0}` has a quote that does not end; close it with `\"`")]
    OpenQuote(String),
    #[error("`{0}` is no role; write it like role=button or role=button[name=\"Send\"]")]
    BadRole(String),
    #[error(
        "`{0}` is too large for the number of an element; observe the page and use one of its numbers"
    )]
    BadNumber(String),
    #[error("`{0}` is the number of one element and needs no other part; leave the others out")]
    NumberInChain(String),
}

impl Target {
    /// Narrows to the nearest row, card, dialog or section that holds `words` (`--in`).
    ///
    /// # Errors
    /// When there are no words, or the target is a number, which needs no narrowing.
    pub fn within(self, words: &str) -> Result<Self, BadTarget> {
        match self {
            Self::Element(id) => Err(BadTarget::NumberInChain(id.to_string())),
            Self::Query(_) if words.trim().is_empty() => Err(BadTarget::EmptyPart("--in".into())),
            Self::Query(mut parts) => {
                parts.insert(0, Query::Within { value: words.trim().to_owned() });
                Ok(Self::Query(parts))
            }
        }
    }
}

impl FromStr for Target {
    type Err = BadTarget;

    fn from_str(words: &str) -> Result<Self, BadTarget> {
        let words = words.trim();
        if words.is_empty() {
            return Err(BadTarget::Empty);
        }
        if let Some(id) = number(words)? {
            return Ok(Self::Element(id));
        }
        let parts = split(words)?;
        if parts.iter().any(|part| part.is_empty()) {
            return Err(BadTarget::EmptyLink(words.to_owned()));
        }
        parts.into_iter().map(part).collect::<Result<_, _>>().map(Self::Query)
    }
}

/// `e12`, `@e12`, `ref=e12`, `12`.
fn number(words: &str) -> Result<Option<ElementId>, BadTarget> {
    let bare = words.strip_prefix("ref=").or(words.strip_prefix('@')).unwrap_or(words);
    let digits = bare.strip_prefix('e').unwrap_or(bare);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(None);
    }
    digits.parse().map(|id| Some(ElementId(id))).map_err(|_| BadTarget::BadNumber(words.to_owned()))
}

/// Splits a chain at each `>>` that stands outside of quotes.
fn split(words: &str) -> Result<Vec<&str>, BadTarget> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in words.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ' ' if !quoted && at >= start && words[at..].starts_with(CHAIN) => {
                parts.push(words[start..at].trim());
                start = at + CHAIN.len();
            }
            _ => {}
        }
    }
    if quoted {
        return Err(BadTarget::OpenQuote(words.to_owned()));
    }
    parts.push(words[start..].trim());
    Ok(parts)
}

fn part(words: &str) -> Result<Query, BadTarget> {
    if number(words)?.is_some() {
        return Err(BadTarget::NumberInChain(words.to_owned()));
    }
    if words.starts_with('"') {
        return Ok(Query::Text { value: value(words, words)? });
    }
    if words.starts_with("//") || words.starts_with("(//") {
        return Ok(Query::Xpath { value: words.to_owned() });
    }
    let Some((kind, rest)) = words.split_once('=') else {
        return Ok(bare(words));
    };
    Ok(match kind {
        "css" => Query::Css { value: value(rest, words)? },
        "xpath" => Query::Xpath { value: value(rest, words)? },
        "role" => role(rest, words)?,
        "text" => Query::Text { value: value(rest, words)? },
        "label" => Query::Label { value: value(rest, words)? },
        "placeholder" => Query::Placeholder { value: value(rest, words)? },
        "testid" => Query::Testid { value: value(rest, words)? },
        "in" => Query::Within { value: value(rest, words)? },
        _ => bare(words),
    })
}

/// What has no word before it: a selector, or what the page says.
fn bare(words: &str) -> Query {
    let value = words.to_owned();
    if is_selector(words) { Query::Css { value } } else { Query::Text { value } }
}

/// A value, quoted as a whole or not at all.
fn value(words: &str, part: &str) -> Result<String, BadTarget> {
    let words = words.trim();
    let value = if words.starts_with('"') { unquoted(words, part)? } else { words.to_owned() };
    if value.trim().is_empty() { Err(BadTarget::EmptyPart(part.to_owned())) } else { Ok(value) }
}

/// Takes the quotes off; what is not one quoted string from end to end has an open quote.
fn unquoted(words: &str, part: &str) -> Result<String, BadTarget> {
    let open = || BadTarget::OpenQuote(part.to_owned());
    let inner = words.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or_else(open)?;
    let (mut value, mut letters) = (String::new(), inner.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => value.push(letters.next().ok_or_else(open)?),
            '"' => return Err(open()),
            _ => value.push(letter),
        }
    }
    Ok(value)
}

/// `button`, or `button[name="Send"]`.
fn role(words: &str, part: &str) -> Result<Query, BadTarget> {
    let bad = || BadTarget::BadRole(part.to_owned());
    let (value, name) = match words.split_once('[') {
        None => (words, None),
        Some((value, rest)) => {
            let name = rest.strip_prefix("name=").and_then(|rest| rest.strip_suffix(']'));
            (value, Some(self::value(name.ok_or_else(bad)?, part)?))
        }
    };
    let value = value.trim();
    let fits = |byte: u8| byte.is_ascii_alphabetic() || byte == b'-';
    if value.is_empty() || !value.bytes().all(fits) {
        return Err(bad());
    }
    Ok(Query::Role { value: value.to_owned(), name })
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(id) => write!(f, "{id}"),
            Self::Query(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if at == 0 { "" } else { CHAIN })?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Css { value } => write!(f, "css={}", Written(value)),
            Self::Xpath { value } => write!(f, "xpath={}", Written(value)),
            Self::Role { value, name: None } => write!(f, "role={value}"),
            Self::Role { value, name: Some(name) } => {
                write!(f, "role={value}[name={}]", Quoted(name))
            }
            Self::Text { value } => write!(f, "text={}", Quoted(value)),
            Self::Label { value } => write!(f, "label={}", Quoted(value)),
            Self::Placeholder { value } => write!(f, "placeholder={}", Quoted(value)),
            Self::Testid { value } => write!(f, "testid={}", Quoted(value)),
            Self::Within { value } => write!(f, "in={}", Quoted(value)),
        }
    }
}

struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// A selector as it is, where it reads back so; quoted where it does not.
struct Written<'a>(&'a str);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = *self;
        let plain = value.trim() == value
            && !value.starts_with('"')
            && !value.contains(['\\'])
            && !value.contains(">>")
            && value.matches('"').count() % 2 == 0;
        if plain { f.write_str(value) } else { Quoted(value).fmt(f) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn query(words: &str) -> Vec<Query> {
        match words.parse() {
            Ok(Target::Query(parts)) => parts,
            other => panic!("{words}: {other:?}"),
        }
    }

    fn css(value: &str) -> Query {
        Query::Css { value: value.into() }
    }

    fn text(value: &str) -> Query {
        Query::Text { value: value.into() }
    }

    fn button(name: &str) -> Query {
        Query::Role { value: "button".into(), name: Some(name.into()) }
    }

    #[test]
    fn a_number_is_written_in_four_ways() {
        for words in ["e12", "@e12", "ref=e12", "12", " @12 "] {
            assert_eq!(words.parse(), Ok(Target::Element(ElementId(12))), "{words}");
        }
        assert_eq!(query("e12a"), [text("e12a")]);
        assert_eq!(query("em"), [css("em")]);
    }

    #[test]
    fn bare_words_are_text_unless_they_are_css() {
        assert_eq!(query("Delete"), [text("Delete")]);
        assert_eq!(query("Add to cart"), [text("Add to cart")]);
        assert_eq!(query("2 + 2 = 4"), [text("2 + 2 = 4")]);
        assert_eq!(query("button"), [css("button")]);
        assert_eq!(query("#x"), [css("#x")]);
        assert_eq!(query("Acme >> button"), [text("Acme"), css("button")]);
        assert_eq!(query("button.primary"), [css("button.primary")]);
        assert_eq!(query("a[href=\"/x\"]"), [css("a[href=\"/x\"]")]);
        assert_eq!(query("input[name=q]"), [css("input[name=q]")]);
        assert_eq!(query("ul > li"), [css("ul > li")]);
        assert_eq!(query("\"Delete\""), [text("Delete")]);
        assert_eq!(query("text=Log in"), [text("Log in")]);
        assert_eq!(query("text=\"say \\\"hi\\\"\""), [text("say \"hi\"")]);
        assert_eq!(query("//a[text()='x']"), [Query::Xpath { value: "//a[text()='x']".into() }]);
        assert_eq!(query("label=E-mail"), [Query::Label { value: "E-mail".into() }]);
    }

    #[test]
    fn chains_part_outside_of_quotes() {
        assert_eq!(
            query("text=\"Acme >> Co\" >> role=button[name=\"Delete\"]"),
            [text("Acme >> Co"), button("Delete")]
        );
        assert_eq!(query("role=button[name=Send it]"), [button("Send it")]);
    }

    #[test]
    fn within_stands_first() {
        let target = "Delete".parse::<Target>().unwrap().within("Acme").unwrap();
        assert_eq!(target.to_string(), "in=\"Acme\" >> text=\"Delete\"");
        assert!(Target::Element(ElementId(1)).within("Acme").is_err());
    }

    #[test]
    fn what_is_no_target_says_why() {
        let why = |words: &str| words.parse::<Target>().unwrap_err().to_string();
        insta::assert_snapshot!(
            ["text=", "a >>  >> b", "text=\"x", "role=", "role=button[title=x]", "e99999999999", "e1 >> a"]
                .map(|words| format!("{words:24} {}", why(words))).join("\n"),
            @r#"
    text=                    `text=` says nothing to look for; write the words after it
    a >>  >> b               `a >>  >> b` has an empty part beside `>>`; leave the `>>` out, or put the words in quotes
    text="x                  `text="x` has a quote that does not end; close it with `"`
    role=                    `role=` is no role; write it like role=button or role=button[name="Send"]
    role=button[title=x]     `role=button[title=x]` is no role; write it like role=button or role=button[name="Send"]
    e99999999999             `e99999999999` is too large for the number of an element; observe the page and use one of its numbers
    e1 >> a                  `e1` is the number of one element and needs no other part; leave the others out
    "#
        );
    }

    fn parts() -> impl Strategy<Value = Query> {
        let words = "[ -~é검]{0,12}[!-~]".prop_map(|value| value.trim().to_owned()).boxed();
        let words = words.prop_filter("words", |value| !value.is_empty()).boxed();
        let of = |kind: fn(String) -> Query| words.clone().prop_map(kind).boxed();
        prop_oneof![
            of(|value| Query::Css { value }),
            of(|value| Query::Xpath { value }),
            of(|value| Query::Text { value }),
            of(|value| Query::Label { value }),
            of(|value| Query::Placeholder { value }),
            of(|value| Query::Testid { value }),
            of(|value| Query::Within { value }),
            ("[a-z]{1,8}", prop::option::of(words))
                .prop_map(|(value, name)| Query::Role { value, name }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(parts in prop::collection::vec(parts(), 1..4)) {
            let target = Target::Query(parts);
            prop_assert_eq!(target.to_string().parse(), Ok(target));
        }

        #[test]
        fn a_number_reads_back(number: u32) {
            let target = Target::Element(ElementId(number));
            prop_assert_eq!(target.to_string().parse(), Ok(target));
        }

        #[test]
        fn no_words_make_it_panic(words in "\\PC{0,40}") {
            if let Ok(target) = words.parse::<Target>() {
                prop_assert_eq!(target.to_string().parse(), Ok(target));
            }
        }
    }
}
