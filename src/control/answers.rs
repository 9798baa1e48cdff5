//! The newest answers, so that a caller whose connection broke can ask what became of its request.
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// A request's answer as it goes over the socket, once there is one.
pub type Outcome = watch::Receiver<Option<Arc<str>>>;

/// Where the answer is put once there is one.
pub type Told = watch::Sender<Option<Arc<str>>>;

/// How many answers, and how many bytes of them, are kept.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    pub count: usize,
    pub bytes: usize,
}

/// Requests under way, and the newest that are over.
#[derive(Debug)]
pub struct Answers {
    memory: Memory,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_id: HashMap<String, Outcome>,
    /// Those that are over, oldest first, with their sizes.
    over: VecDeque<(String, usize)>,
    bytes: usize,
}

impl Answers {
    pub fn new(memory: Memory) -> Self {
        Self { memory, kept: Mutex::default() }
    }

    /// Notes that a request is begun. Returns nothing when its id is known: it must not be done twice.
    pub fn begin(&self, id: &str) -> Option<(Told, Outcome)> {
        let mut kept = self.kept();
        if kept.by_id.contains_key(id) {
            return None;
        }
        let (told, outcome) = watch::channel(None);
        kept.by_id.insert(id.to_owned(), outcome.clone());
        Some((told, outcome))
    }

    /// Returns where the answer of a request appears, or nothing for an id that is unknown here.
    pub fn find(&self, id: &str) -> Option<Outcome> {
        self.kept().by_id.get(id).cloned()
    }

    /// Notes that a request is over, and forgets the oldest that no longer fit.
    pub fn end(&self, id: &str, size: usize) {
        let mut kept = self.kept();
        kept.over.push_back((id.to_owned(), size));
        kept.bytes += size;
        while kept.over.len() > self.memory.count || kept.bytes > self.memory.bytes {
            let Some((oldest, size)) = kept.over.pop_front() else { break };
            kept.bytes -= size;
            kept.by_id.remove(&oldest);
        }
    }

    /// Forgets a request: what it told need not be asked for again.
    pub fn forget(&self, id: &str) {
        self.kept().by_id.remove(id);
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten_and_those_under_way_never() {
        let answers = Answers::new(Memory { count: 2, bytes: 100 });
        let _under_way = answers.begin("slow").unwrap();
        for id in ["a", "b", "c"] {
            answers.begin(id).unwrap();
            answers.end(id, 10);
        }
        let known = |id| answers.find(id).is_some();
        assert_eq!([known("slow"), known("a"), known("b"), known("c")], [true, false, true, true]);
        answers.begin("large").unwrap();
        answers.end("large", 95);
        assert_eq!([known("b"), known("c"), known("large")], [false, false, true]);
    }

    #[test]
    fn no_id_is_begun_twice() {
        let answers = Answers::new(Memory { count: 2, bytes: 100 });
        assert!(answers.begin("a").is_some());
        assert!(answers.begin("a").is_none());
    }
}
