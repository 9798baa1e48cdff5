//! What a run does next, given what came of a step. Pure.
use crate::domain::cost::{Price, Usage};
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

/// What a run may still spend.
#[derive(Debug, Clone, Copy)]
pub struct Budget<'a> {
    pub limits: &'a Limits,
    pub price: Option<&'a Price>,
}

/// An answer shorter than this is none.
const SHORTEST: f64 = 300.0;

impl Budget<'_> {
    /// Returns how many tokens the next answer may have, where a limit leaves fewer than any number,
    /// after what was `spent`, when the next request has `next` tokens.
    ///
    /// # Errors
    /// The limit that the next request would pass, in words.
    pub fn left(self, spent: Usage, next: u64) -> Result<Option<u32>, String> {
        let tokens = self.limits.tokens.map(|most| {
            (
                most as f64 - spent.tokens() as f64 - next as f64,
                format!("{most} tokens (limits.tokens)"),
            )
        });
        let money = self.limits.cost.zip(self.price).map(|(most, price)| {
            let request = price.of(Usage { input: next, ..Usage::default() });
            let left = (most - price.of(spent) - request) / price.output.max(1e-9) * 1e6;
            (left, format!("{most} USD (--max-cost)"))
        });
        let mut least: Option<f64> = None;
        for (left, limit) in tokens.into_iter().chain(money) {
            if left < SHORTEST {
                return Err(format!("the next step would pass the limit of {limit}"));
            }
            least = Some(least.map_or(left, |least| least.min(left)));
        }
        Ok(least.map(|left| left.min(f64::from(u32::MAX)) as u32))
    }
}

/// What a model that fails again and again is told, once it has failed three times in a row: other
/// ways to do the same, the nearest first. `centre` is that of the box of what it aimed at.
pub fn ladder(failures: usize, centre: Option<(f64, f64)>) -> Option<String> {
    if failures < 3 {
        return None;
    }
    let at = centre.map(|(x, y)| format!(" ({x:.0}, {y:.0})")).unwrap_or_default();
    Some(format!(
        "{failures} steps in a row failed. Climb the ladder: another index from browser_view; then coordinates{at}; \
         then browser_console_exec to look why; then browser_takeover; else finish and say what lacks."
    ))
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
        let minutes = (limits.time.as_secs_f64() / 6.0).round() / 10.0;
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

    fn limits(tokens: Option<u64>, cost: Option<f64>) -> Limits {
        Limits {
            steps: 40,
            time: Duration::from_secs(90),
            errors_in_a_row: 5,
            without_progress: 4,
            step_time: Duration::from_secs(30),
            action_time: Duration::from_secs(10),
            navigation_time: Duration::from_secs(30),
            tokens,
            cost,
        }
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
        let limits = limits(None, None);
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
    fn a_budget_ends_a_run_before_it_is_passed() {
        let price = Price { input: 1.0, output: 10.0, cached: None, written: None };
        let spent = Usage { input: 90_000, output: 1_000, ..Usage::default() };
        let left = |tokens, cost, next| {
            Budget { limits: &limits(tokens, cost), price: Some(&price) }.left(spent, next)
        };
        assert_eq!(left(None, None, 9_000), Ok(None));
        assert_eq!(left(Some(100_500), None, 9_000), Ok(Some(500)));
        assert!(left(Some(100_000), None, 9_000).unwrap_err().contains("100000 tokens"));
        // 0.1 spent, 0.01 for the request, 0.01 for a thousand tokens of an answer.
        assert_eq!(left(None, Some(0.12), 10_000).unwrap().unwrap() / 10, 99);
        assert!(left(None, Some(0.111), 10_000).unwrap_err().contains("0.111 USD"));
        assert!(left(Some(1_000_000), Some(0.05), 1).is_err(), "the least counts");
        let free = Budget { limits: &limits(None, Some(0.01)), price: None };
        assert_eq!(free.left(spent, 1), Ok(None), "what has no price has no limit");
    }

    #[test]
    fn the_ladder_is_told_after_three_failures() {
        assert_eq!(ladder(2, None), None);
        assert!(ladder(3, Some((10.4, 20.6))).unwrap().contains("coordinates (10, 21)"));
        assert!(ladder(4, None).unwrap().contains("4 steps in a row"));
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
