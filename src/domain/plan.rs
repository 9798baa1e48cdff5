//! What a run does next, given what came of a step. Pure.
use crate::domain::journal::Step;
use crate::domain::outcome::OutcomeKind;
use crate::domain::run::Limits;
use crate::domain::tool::ToolCall;

use std::time::Duration;

/// What is known of a step that did not get a plain answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setback {
    pub kind: OutcomeKind,
    /// Input had left for the page.
    pub dispatched: bool,
    /// How often this call was repeated already.
    pub repeated: u32,
}

/// What to do about a setback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing was done, or doing it twice is the same as once: do it again.
    Repeat,
    /// Tell the model, and let it look.
    Tell,
}

const MOST_REPEATS: u32 = 5;

/// Decides about a step whose tab or browser was started again under it. What may have had an
/// effect is never repeated; overwriting a field and going somewhere are the same twice as once.
pub fn after(setback: Setback, call: &ToolCall) -> Next {
    let restarted = matches!(
        setback.kind,
        OutcomeKind::TabRestarted | OutcomeKind::Busy | OutcomeKind::TargetGone
    );
    let harmless = call.is_repeatable();
    if restarted && setback.repeated < MOST_REPEATS && (harmless || !setback.dispatched) {
        Next::Repeat
    } else {
        Next::Tell
    }
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub steps: u32,
    pub time: Duration,
    pub errors_in_a_row: u32,
    pub without_progress: u32,
}

/// Counts the newest steps that were one and the same call, with one outcome, and changed nothing.
pub fn without_progress(steps: &[Step]) -> u32 {
    let Some(last) = steps.last().filter(|step| step.call.is_some()) else {
        return 0;
    };
    let vain = |step: &&Step| {
        let changed = ["changed", "navigated", "new_tab", "downloaded", "finished"];
        let outcome = step.outcome.as_deref().unwrap_or_default();
        step.call == last.call && step.outcome == last.outcome && !changed.contains(&outcome)
    };
    u32::try_from(steps.iter().rev().take_while(vain).count()).unwrap_or(u32::MAX)
}

/// Returns the limit that ends the run now, in words, if one does.
pub fn limit_reached(progress: Progress, limits: &Limits) -> Option<String> {
    if progress.steps >= limits.steps {
        let steps = if limits.steps == 1 { "step" } else { "steps" };
        return Some(format!("the limit of {} {steps} was reached (--max-steps)", limits.steps));
    }
    if progress.time >= limits.time {
        let minutes = limits.time.as_secs_f64() / 60.0;
        return Some(format!("the limit of {minutes} min was reached (--max-minutes)"));
    }
    if progress.errors_in_a_row >= limits.errors_in_a_row {
        return Some(format!("{} steps in a row failed", progress.errors_in_a_row));
    }
    if progress.without_progress >= limits.without_progress {
        let times = progress.without_progress;
        return Some(format!("the same call changed nothing {times} times in a row"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::tool::Place;

    fn click() -> ToolCall {
        ToolCall::Click(Place::default())
    }

    fn input(press_enter: bool) -> ToolCall {
        ToolCall::Input { place: Place::default(), text: "x".into(), press_enter }
    }

    #[test]
    fn only_what_is_the_same_twice_as_once_is_repeated() {
        let (restarted, busy) = (OutcomeKind::TabRestarted, OutcomeKind::Busy);
        let table = [
            ("a click that never left", restarted, false, click(), Next::Repeat),
            ("a click that left", restarted, true, click(), Next::Tell),
            ("overwriting a field", restarted, true, input(false), Next::Repeat),
            ("a field with Enter", restarted, true, input(true), Next::Tell),
            (
                "going somewhere",
                restarted,
                true,
                ToolCall::Navigate { url: "a".into() },
                Next::Repeat,
            ),
            ("nothing was begun", busy, false, click(), Next::Repeat),
            ("a refusal is an answer", OutcomeKind::BlockedBy, false, click(), Next::Tell),
            ("an unknown effect", OutcomeKind::InDoubt, true, input(false), Next::Tell),
        ];
        for (name, kind, dispatched, call, next) in table {
            assert_eq!(after(Setback { kind, dispatched, repeated: 0 }, &call), next, "{name}");
        }
        let tired = Setback { kind: busy, dispatched: false, repeated: MOST_REPEATS };
        assert_eq!(after(tired, &click()), Next::Tell, "not for ever");
    }

    #[test]
    fn the_limit_that_ends_a_run_is_named() {
        let limits = Limits {
            steps: 40,
            time: Duration::from_secs(90),
            errors_in_a_row: 5,
            without_progress: 4,
            step_time: Duration::from_secs(30),
            action_time: Duration::from_secs(10),
            navigation_time: Duration::from_secs(30),
            tokens: None,
            cost: None,
        };
        let start =
            Progress { steps: 0, time: Duration::ZERO, errors_in_a_row: 0, without_progress: 0 };
        assert_eq!(limit_reached(start, &limits), None);
        let named = |progress| limit_reached(progress, &limits).unwrap();
        assert!(named(Progress { steps: 40, ..start }).contains("40 steps"));
        assert!(named(Progress { time: limits.time, ..start }).contains("1.5 min"));
        assert!(named(Progress { errors_in_a_row: 5, ..start }).contains("5 steps in a row"));
        assert!(named(Progress { without_progress: 4, ..start }).contains("4 times in a row"));
    }

    #[test]
    fn the_same_call_in_vain_is_counted_and_anything_else_begins_anew() {
        let step = |call: ToolCall, outcome: &str| Step {
            call: Some(call),
            outcome: Some(outcome.into()),
            ..Step::default()
        };
        let vain = || step(click(), "no_effect");
        assert_eq!(without_progress(&[]), 0);
        assert_eq!(without_progress(&[vain(), vain(), vain()]), 3);
        assert_eq!(without_progress(&[vain(), step(input(false), "changed"), vain()]), 1);
        assert_eq!(without_progress(&[step(click(), "changed"), step(click(), "changed")]), 0);
        assert_eq!(without_progress(&[step(click(), "stale"), vain()]), 1);
    }
}
