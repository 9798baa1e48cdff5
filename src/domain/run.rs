//! What a run is, before it begins.
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::ids::{RunId, SessionName};

/// The order for one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOrder {
    pub id: RunId,
    pub task: String,
    /// Where to begin; the first observation is of this page.
    pub url: Option<String>,
    pub session: SessionName,
    /// Where its report, trace and guard decisions are written.
    pub folder: PathBuf,
    pub limits: Limits,
    /// How many entities the task asks for, for the report's status line.
    pub expect: Option<u32>,
    pub consent: Consent,
    pub context: ContextBounds,
}

/// How much of what came before the model is told again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextBounds {
    /// How many of the newest steps are told in full; of older ones only the outcome.
    pub recent_steps: u32,
    /// Characters of one step's result.
    pub text: u32,
}

impl ContextBounds {
    /// Returns what is told of a result that lies `age` steps back; the newest lies 0 back.
    pub fn shorten(&self, result: &str, age: usize) -> String {
        let recent = u32::try_from(age).is_ok_and(|age| age < self.recent_steps);
        let told = if recent { result } else { result.lines().next().unwrap_or_default() };
        let most = usize::try_from(self.text).unwrap_or(usize::MAX);
        match told.char_indices().nth(most) {
            Some((end, _)) => format!("{}…", &told[..end]),
            None => told.to_owned(),
        }
    }
}

/// What ends a run that does not end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub steps: u32,
    pub time: Duration,
    pub errors_in_a_row: u32,
    /// The same call with the same outcome, and nothing changed by it.
    pub without_progress: u32,
    pub step_time: Duration,
    pub action_time: Duration,
    pub navigation_time: Duration,
}

/// What the user allows without being asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Consent {
    pub auto_approve: bool,
    /// Hosts on which that counts, with their sub-domains.
    pub hosts: Vec<String>,
}

impl Consent {
    /// Whether an irreversible act on `host` may pass unasked: matches at a dot boundary only.
    pub fn covers(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let inside = |allowed: &String| {
            let allowed = allowed.trim_start_matches('.').to_ascii_lowercase();
            !allowed.is_empty()
                && (host == allowed
                    || host.strip_suffix(&allowed).is_some_and(|rest| rest.ends_with('.')))
        };
        self.auto_approve && self.hosts.iter().any(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_results_are_told_by_their_outcome_alone() {
        let bounds = ContextBounds { recent_steps: 2, text: 8 };
        assert_eq!(bounds.shorten("changed\nit is é", 1), "changed\n…");
        assert_eq!(bounds.shorten("changed\nmore", 2), "changed");
        assert_eq!(bounds.shorten("", 9), "");
    }

    #[test]
    fn consent_matches_at_a_dot_boundary_and_only_when_given() {
        let consent = Consent { auto_approve: true, hosts: vec!["shop.localhost".into()] };
        for (host, covered) in [
            ("shop.localhost", true),
            ("SHOP.localhost.", true),
            ("a.shop.localhost", true),
            ("workshop.localhost", false),
            ("shop.localhost.evil", false),
            ("localhost", false),
        ] {
            assert_eq!(consent.covers(host), covered, "{host}");
        }
        assert!(!Consent { auto_approve: false, ..consent }.covers("shop.localhost"));
        assert!(!Consent { auto_approve: true, hosts: vec![String::new()] }.covers("x"));
    }
}
