//! What a step waited for: the model, and the pages of the run's tabs.

use std::collections::HashMap;
use std::time::Duration;

use crate::domain::ids::TabId;
use crate::domain::journal::Spent;
use crate::messages::pace::Waited;

/// Counts from one step's end to the next.
#[derive(Debug, Default)]
pub struct Tally {
    model: Duration,
    /// As it was at the end of the last step.
    tabs: HashMap<TabId, Waited>,
}

impl Tally {
    /// Adds how long an answer of the model took.
    pub fn asked(&mut self, took: Duration) {
        self.model += took;
    }

    /// Ends a step. What a tab waited that is closed meanwhile is not known any more.
    pub fn close(&mut self, now: HashMap<TabId, Waited>) -> Spent {
        let since = |tab: &TabId| self.tabs.get(tab).copied().unwrap_or_default();
        let (mut calls, mut all) = (Duration::ZERO, Duration::ZERO);
        for (tab, waited) in &now {
            let before = since(tab);
            calls += waited.calls.saturating_sub(before.calls);
            all += waited.all.saturating_sub(before.all);
        }
        self.tabs = now;
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let model = std::mem::take(&mut self.model);
        Spent { model_us: micros(model), page_us: micros(all), page_calls_us: micros(calls) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_counts_what_it_waited_itself() {
        let micros = Duration::from_micros;
        let waits = |calls, all| Waited { calls: micros(calls), all: micros(all) };
        let mut tally = Tally::default();
        tally.asked(micros(5));
        tally.asked(micros(2));
        let spent = tally.close([(TabId(1), waits(3, 10))].into());
        assert_eq!(spent, Spent { model_us: 7, page_us: 10, page_calls_us: 3 });
        let spent = tally.close([(TabId(1), waits(4, 11)), (TabId(2), waits(1, 1))].into());
        assert_eq!(spent, Spent { model_us: 0, page_us: 2, page_calls_us: 2 });
        assert_eq!(tally.close([(TabId(2), waits(1, 1))].into()), Spent::default());
    }
}
