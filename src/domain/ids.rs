//! The names of what we hold, typed so that one is never taken for another. None is used twice.
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// One named browser session: a Chromium and its tabs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SessionName(Arc<str>);

/// Why a word is no session name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no session name; use 1 to 40 of a-z, A-Z, 0-9, `-`, `_`, not starting with `-`")]
pub struct BadSessionName(String);

impl SessionName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionName {
    type Err = BadSessionName;

    fn from_str(word: &str) -> Result<Self, BadSessionName> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let good =
            (1..=40).contains(&word.len()) && word.chars().all(fits) && !word.starts_with('-');
        if good { Ok(Self(word.into())) } else { Err(BadSessionName(word.to_owned())) }
    }
}

impl<'de> Deserialize<'de> for SessionName {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                word.strip_prefix($prefix).unwrap_or(word).parse().map(Self)
            }
        }
    };
}

number!(
    /// One tab, across all its incarnations and all restarts of browser and daemon.
    TabId,
    "t"
);
number!(
    /// One run of a task.
    RunId,
    "r"
);
number!(
    /// One element of a tab, for as long as its node lives. Never given twice in a tab.
    ElementId,
    "e"
);
number!(
    /// One action held for a person.
    HoldId,
    "h"
);
