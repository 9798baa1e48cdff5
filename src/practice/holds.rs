//! Requests that wait: what a page would do by a timer, a test does by letting go.
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

/// One name that requests wait at.
#[derive(Debug, Clone, Copy, Default)]
struct Gate {
    open: bool,
    waiting: usize,
}

/// All names. A gate that was never spoken of is shut; once released it stays open, so a release
/// before the request arrives is not lost.
#[derive(Debug, Default)]
pub struct Holds(Mutex<HashMap<String, watch::Sender<Gate>>>);

/// Counts a request out, also when its client goes away.
struct Waiting(watch::Sender<Gate>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.send_modify(|gate| gate.waiting -= 1);
    }
}

impl Holds {
    /// Waits until `name` is open.
    pub async fn pass(&self, name: &str) {
        let gate = self.gate(name);
        let mut seen = gate.subscribe();
        gate.send_modify(|gate| gate.waiting += 1);
        let _waiting = Waiting(gate);
        // Fails only when every sender is gone, and we hold one.
        let _ = seen.wait_for(|gate| gate.open).await;
    }

    /// Lets go what waits at `name`, and whatever comes after it.
    pub fn release(&self, name: &str) {
        self.gate(name).send_modify(|gate| gate.open = true);
    }

    /// Shuts `name` again.
    pub fn shut(&self, name: &str) {
        self.gate(name).send_modify(|gate| gate.open = false);
    }

    /// Returns how many requests wait at `name`.
    pub fn waiting(&self, name: &str) -> usize {
        self.gate(name).borrow().waiting
    }

    /// Waits until exactly `requests` wait at `name`.
    pub async fn reached(&self, name: &str, requests: usize) {
        let gate = self.gate(name);
        let _ = gate.subscribe().wait_for(|gate| gate.waiting == requests).await;
    }

    fn gate(&self, name: &str) -> watch::Sender<Gate> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(name.to_owned()).or_default().clone()
    }
}
