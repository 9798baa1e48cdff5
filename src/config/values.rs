//! Settings that are more than a number or a text.
use std::fmt;
use std::str::FromStr;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The size of a page in CSS pixels, written `1280x800`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewport {
    pub width: u32,
    pub height: u32,
}

/// No screen is smaller or larger than this, and no browser draws it well.
const SIDES: std::ops::RangeInclusive<u32> = 100..=10_000;

impl FromStr for Viewport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sides = text.split_once('x').and_then(|(width, height)| {
            Some(Self { width: width.parse().ok()?, height: height.parse().ok()? })
        });
        let fits = |it: &Self| SIDES.contains(&it.width) && SIDES.contains(&it.height);
        sides.filter(fits).ok_or_else(|| {
            format!("`{text}` is no size; write it like 1280x800, each side from 100 to 10000")
        })
    }
}

impl fmt::Display for Viewport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl Serialize for Viewport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Viewport {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Whether a browser works without a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Headless {
    /// A window where there is a display.
    #[default]
    Auto,
    Always,
    Never,
}

impl Headless {
    /// Decides for a caller that has a display or none.
    pub fn applies(self, display: bool) -> bool {
        match self {
            Self::Auto => !display,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

impl Serialize for Headless {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => to.serialize_str("auto"),
            Self::Always => to.serialize_bool(true),
            Self::Never => to.serialize_bool(false),
        }
    }
}

impl<'de> Deserialize<'de> for Headless {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(HeadlessVisitor)
    }
}

struct HeadlessVisitor;

impl Visitor<'_> for HeadlessVisitor {
    type Value = Headless;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"auto\", true or false")
    }

    fn visit_bool<E: Error>(self, headless: bool) -> Result<Headless, E> {
        Ok(if headless { Headless::Always } else { Headless::Never })
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Headless, E> {
        match word {
            "auto" => Ok(Headless::Auto),
            "true" => Ok(Headless::Always),
            "false" => Ok(Headless::Never),
            other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
        }
    }
}

/// A yes or no that is guessed where it is left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Guess(pub Option<bool>);

impl Serialize for Guess {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => to.serialize_str("auto"),
            Some(said) => to.serialize_bool(said),
        }
    }
}

impl<'de> Deserialize<'de> for Guess {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let said = from.deserialize_any(HeadlessVisitor)?;
        Ok(Self(match said {
            Headless::Auto => None,
            Headless::Always => Some(true),
            Headless::Never => Some(false),
        }))
    }
}

/// Whose words are spoken with a model's service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WireSetting {
    /// Guessed from the address and the model's name.
    #[default]
    Auto,
    Anthropic,
    OpenAi,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_come_back() {
        let size: Viewport = "1280x800".parse().unwrap();
        assert_eq!((size.width, size.height, size.to_string().as_str()), (1280, 800, "1280x800"));
        for text in ["", "x", "1280", "1280x", "99x800", "1280x10001", "1280x800x2", "-1280x800"] {
            assert!(text.parse::<Viewport>().is_err(), "{text}");
        }
    }

    #[test]
    fn headless_follows_the_display_only_when_it_is_left_open() {
        let rows = [(Headless::Auto, true, false), (Headless::Auto, false, true)];
        let fixed = [(Headless::Always, true, true), (Headless::Never, false, false)];
        for (setting, display, headless) in rows.into_iter().chain(fixed) {
            assert_eq!(setting.applies(display), headless, "{setting:?}, display {display}");
        }
    }
}
