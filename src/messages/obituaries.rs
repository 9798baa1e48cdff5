//! Who died, in order: what a run counts its restarts by. A ring; old deaths fall off its end.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::messages::supervisor::Seat;

const KEPT: usize = 1_000;

/// One death.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obituary {
    pub seat: Seat,
    pub why: String,
}

/// Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub struct Obituaries(Arc<Mutex<Ring>>);

#[derive(Debug, Default)]
struct Ring {
    /// How many deaths there were before the first that is kept.
    dropped: usize,
    kept: VecDeque<Obituary>,
}

impl Obituaries {
    pub fn write(&self, seat: Seat, why: &str) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ring.kept.len() == KEPT {
            ring.kept.pop_front();
            ring.dropped += 1;
        }
        ring.kept.push_back(Obituary { seat, why: why.to_owned() });
    }

    /// Returns the deaths from number `mark` on, and the mark to ask with next.
    pub fn since(&self, mark: usize) -> (Vec<Obituary>, usize) {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = ring.dropped + ring.kept.len();
        let new = ring.kept.iter().skip(mark.saturating_sub(ring.dropped)).cloned().collect();
        (new, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_death_is_read_once_and_the_oldest_fall_off() {
        let book = Obituaries::default();
        book.write(Seat::Guard, "one");
        let (first, mark) = book.since(0);
        assert_eq!(first.len(), 1);
        assert_eq!(book.since(mark).0, vec![]);
        for _ in 0..KEPT + 5 {
            book.write(Seat::Root, "more");
        }
        let (new, end) = book.since(mark);
        assert_eq!((new.len(), end), (KEPT, KEPT + 6));
    }
}
