//! How long a tab waits for its page, so that a run can tell the page's time from its own.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Over all incarnations of a tab. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub struct Pace {
    calls: Watch,
    all: Watch,
}

/// What a tab waited so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waited {
    /// While a call to the page was under way.
    pub calls: Duration,
    /// That, and while it was waited for what the page does next.
    pub all: Duration,
}

impl Pace {
    /// Counts a call to the page until it is dropped.
    pub fn call(&self) -> (Lap, Lap) {
        (self.calls.begin(), self.all.begin())
    }

    /// Counts a wait for what the page does next until it is dropped.
    pub fn rest(&self) -> Lap {
        self.all.begin()
    }

    pub fn waited(&self) -> Waited {
        Waited { calls: self.calls.total(), all: self.all.total() }
    }
}

/// Runs while at least one lap does: what overlaps counts once.
#[derive(Debug, Clone, Default)]
struct Watch(Arc<Mutex<Counted>>);

#[derive(Debug, Default)]
struct Counted {
    under_way: u32,
    since: Option<Instant>,
    over: Duration,
}

/// Counts until it is dropped, however the work ends.
#[derive(Debug)]
#[must_use]
pub struct Lap(Watch);

impl Watch {
    fn begin(&self) -> Lap {
        let mut counted = self.open();
        counted.under_way += 1;
        counted.since.get_or_insert_with(Instant::now);
        Lap(self.clone())
    }

    fn total(&self) -> Duration {
        let counted = self.open();
        counted.over + counted.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn open(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lap {
    fn drop(&mut self) {
        let mut counted = self.0.open();
        counted.under_way = counted.under_way.saturating_sub(1);
        if counted.under_way == 0
            && let Some(since) = counted.since.take()
        {
            counted.over += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_overlaps_counts_once_and_what_is_dropped_ends() {
        let (pace, second) = (Pace::default(), Duration::from_secs(1));
        let waited = |calls, all| Waited { calls: second * calls, all: second * all };
        let rest = pace.clone().rest();
        advance(second).await;
        let (one, other) = (pace.call(), pace.call());
        advance(second).await;
        drop(one);
        advance(second).await;
        assert_eq!(pace.waited(), waited(2, 3));
        drop(other);
        advance(second).await;
        drop(rest);
        advance(second).await;
        assert_eq!(pace.waited(), waited(2, 4));
    }
}
