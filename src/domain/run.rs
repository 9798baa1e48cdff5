//! What a run is, before it begins.
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::cost::Price;
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
    /// What to do about an act that is held.
    pub on_hold: OnHold,
    /// Somebody sits before it, and can be asked.
    pub attended: bool,
    /// A window can be opened.
    pub display: bool,
    /// Addresses that the user gave beside the task's: those of a script.
    pub named: Vec<String>,
    pub price: Option<Price>,
    pub context: ContextBounds,
}

/// What a run does meanwhile about an act that is held for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnHold {
    /// Asks, and waits as long as the run may take.
    Ask,
    /// Goes on with what is left.
    #[default]
    Skip,
    /// Waits for an approval this long, then goes on.
    Wait(Duration),
}

/// How much the model is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextBounds {
    /// How many of the newest steps are never folded.
    pub recent_steps: u32,
    /// Characters of what came of one step.
    pub text: u32,
    /// Tokens of a page's Markdown.
    pub markdown: u32,
    /// Older steps are folded once the conversation has this many tokens.
    pub fold_at: u32,
}

impl ContextBounds {
    /// Returns what is told of a result.
    pub fn shorten(&self, result: &str) -> String {
        let most = usize::try_from(self.text).unwrap_or(usize::MAX);
        match result.char_indices().nth(most) {
            Some((end, _)) => format!("{}…", &result[..end]),
            None => result.to_owned(),
        }
    }
}

/// What ends a run that does not end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    pub steps: u32,
    pub time: Duration,
    pub errors_in_a_row: u32,
    /// The same call with the same outcome, and nothing changed by it.
    pub without_progress: u32,
    /// Read and written, all together.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost: Option<f64>,
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
    fn long_results_are_cut_at_characters() {
        let bounds = ContextBounds { recent_steps: 2, text: 8, markdown: 9, fold_at: 9 };
        assert_eq!(bounds.shorten("changed\nit is é"), "changed\n…");
        assert_eq!(bounds.shorten(""), "");
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
