//! Durations as people write them: `30s`, `500ms`, `2m`, or plain seconds.
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A length of time that is written and read as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

/// Why a text is no length of time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no length of time; write it like `10s`, `500ms` or `2m`")]
pub struct BadSpan(String);

/// Longer than this is a slip of the finger, not a patience.
const LONGEST: f64 = 30.0 * 24.0 * 3600.0;

impl FromStr for Span {
    type Err = BadSpan;

    fn from_str(text: &str) -> Result<Self, BadSpan> {
        let bad = || BadSpan(text.to_owned());
        let word = text.trim();
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &word[digits.len()..] {
            "ms" => 0.001,
            "" | "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(bad()),
        };
        let plain = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        let number: f64 =
            if plain { digits.parse().map_err(|_| bad())? } else { return Err(bad()) };
        let seconds = number * unit;
        if !seconds.is_finite() || seconds > LONGEST {
            return Err(bad());
        }
        Ok(Self(Duration::from_micros((seconds * 1_000_000.0).round() as u64)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        match millis {
            0 => f.write_str("0s"),
            m if m % 60_000 == 0 => write!(f, "{}m", m / 60_000),
            m if m % 1_000 == 0 => write!(f, "{}s", m / 1_000),
            m => write!(f, "{m}ms"),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_people_write_them() {
        for (text, millis, shown) in [
            ("10s", 10_000, "10s"),
            ("500ms", 500, "500ms"),
            ("2m", 120_000, "2m"),
            ("90s", 90_000, "90s"),
            ("1.5", 1_500, "1500ms"),
            ("7", 7_000, "7s"),
            ("1h", 3_600_000, "60m"),
            ("0", 0, "0s"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.0, Duration::from_millis(millis), "{text}");
            assert_eq!(span.to_string(), shown, "{text}");
            assert_eq!(span.to_string().parse::<Span>().unwrap(), span, "{text} comes back");
        }
        for text in ["", "s", "-1s", "1x", "1e9", "ten", "inf", "NaN", "1 s s", "999999h", "1..2"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
