//! What an action led to, in the words that scripts stand on.
use serde::{Deserialize, Serialize};

/// Every word that stands in `outcome` or `error.kind` of the JSON envelope for an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    Changed,
    NoEffect,
    Navigated,
    NewTab,
    DialogOpen,
    Downloaded,
    BlockedBy,
    Stale,
    Ambiguous,
    NotFound,
    Unstable,
    Disabled,
    WrongKind,
    Refused,
    TimedOut,
    TargetGone,
    TabRestarted,
    Busy,
    InDoubt,
    Held,
}

impl OutcomeKind {
    /// Returns the exit code that the CLI contract gives this outcome.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Changed
            | Self::NoEffect
            | Self::Navigated
            | Self::NewTab
            | Self::DialogOpen
            | Self::Downloaded => 0,
            Self::BlockedBy
            | Self::Stale
            | Self::Ambiguous
            | Self::NotFound
            | Self::Unstable
            | Self::Disabled
            | Self::WrongKind
            | Self::Refused
            | Self::TimedOut
            | Self::TargetGone
            | Self::TabRestarted
            | Self::Busy
            | Self::InDoubt => 1,
            Self::Held => 3,
        }
    }

    /// Returns the word of the contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::NoEffect => "no_effect",
            Self::Navigated => "navigated",
            Self::NewTab => "new_tab",
            Self::DialogOpen => "dialog_open",
            Self::Downloaded => "downloaded",
            Self::BlockedBy => "blocked_by",
            Self::Stale => "stale",
            Self::Ambiguous => "ambiguous",
            Self::NotFound => "not_found",
            Self::Unstable => "unstable",
            Self::Disabled => "disabled",
            Self::WrongKind => "wrong_kind",
            Self::Refused => "refused",
            Self::TimedOut => "timed_out",
            Self::TargetGone => "target_gone",
            Self::TabRestarted => "tab_restarted",
            Self::Busy => "busy",
            Self::InDoubt => "in_doubt",
            Self::Held => "held",
        }
    }
}

/// What an action did, where it did something or found nothing to happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub kind: OutcomeKind,
    /// One line each: what appeared, vanished, changed value, URL, tab, dialog.
    pub delta: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_serde_writes() {
        for kind in [OutcomeKind::NoEffect, OutcomeKind::TabRestarted, OutcomeKind::Held] {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.word()));
        }
    }
}
