//! What `attach` shows: every actor, the newest runs, and what is held. Written by the house, read by
//! the view of a terminal; programs get the same as JSON (`docs/json.md`).
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::ids::{HoldId, RunId, TabId};

/// One look at the house.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sight {
    pub actors: Vec<ActorSight>,
    /// Newest first.
    pub runs: Vec<RunSight>,
    /// None where the guard does not answer.
    pub holds: Option<Vec<HoldSight>>,
    pub pid: u32,
}

/// What one actor last said of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ActorSight {
    pub name: String,
    /// How deep it stands in the tree; the root at 0.
    pub depth: usize,
    pub doing: String,
    /// Messages that wait for it.
    pub mailbox: usize,
    pub restarts: u32,
    pub last_error: Option<String>,
}

/// One run, from outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSight {
    #[serde(with = "as_word")]
    pub id: RunId,
    pub task: String,
    /// `running`, `complete`, …: a word of `runs`.
    pub state: String,
    pub began: Timestamp,
    pub ended: Option<Timestamp>,
    /// Of the run that was asked for alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<RunTold>,
}

/// What one run did so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunTold {
    /// The newest lines of its log.
    pub lines: Vec<String>,
    pub steps: usize,
    pub tokens: u64,
    /// US dollars, where the model's price is known.
    pub cost: Option<f64>,
}

/// One act that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HoldSight {
    #[serde(with = "as_word")]
    pub id: HoldId,
    pub what: String,
    pub why: String,
    pub url: String,
    /// What it would send, as far as a person may read it.
    pub payload: String,
    /// `waiting` or `approved`.
    pub state: String,
    pub tab: TabId,
    pub at: Timestamp,
    pub run: Option<String>,
}

/// Ids go out as `r7` and `h3`, as everywhere in our JSON.
mod as_word {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<T: Display, S: Serializer>(id: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(id)
    }

    pub fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_words_and_come_back() {
        let run = RunSight {
            id: RunId(7),
            task: "t".into(),
            state: "running".into(),
            began: "2026-11-30T12:00:00Z".parse().unwrap(),
            ended: None,
            told: None,
        };
        let written = json!(run);
        assert_eq!(written["id"], "r7");
        assert_eq!(serde_json::from_value::<RunSight>(written).unwrap(), run);
        let foreign = json!({ "id": "x", "task": "", "state": "", "began": run.began });
        assert!(serde_json::from_value::<RunSight>(foreign).is_err());
    }
}
