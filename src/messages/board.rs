//! What every actor last said of itself. `attach` reads this, never a mailbox, so a stuck actor
//! can still be looked at. Nothing decides by it.
use std::sync::Arc;

use dashmap::DashMap;
use serde::Serialize;

use crate::messages::inbox::Vitals;
use crate::messages::supervisor::Seat;

/// One seat, as an onlooker sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Card {
    pub seat: Seat,
    /// How often it was started; the restarts are one less.
    pub incarnation: u32,
    pub doing: String,
    /// Messages in the mailbox: counted live, so it grows while the actor is stuck.
    pub waiting: usize,
    /// Why the incarnation before this one died.
    pub last_error: Option<String>,
}

/// The cards, by seat. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Board(Arc<DashMap<Seat, Note>>);

#[derive(Debug)]
struct Note {
    incarnation: u32,
    doing: String,
    vitals: Arc<Vitals>,
    last_error: Option<String>,
}

/// What every incarnation is given, whatever its kind, and where it says what it is doing.
#[derive(Debug, Clone)]
pub struct Desk {
    pub seat: Seat,
    pub incarnation: u32,
    pub vitals: Arc<Vitals>,
    pub board: Board,
}

impl Desk {
    pub fn post(&self, doing: impl Into<String>) {
        let Self { incarnation, ref vitals, .. } = *self;
        let mut note = self.board.0.entry(self.seat.clone()).or_insert_with(|| Note {
            incarnation,
            doing: String::new(),
            vitals: Arc::clone(vitals),
            last_error: None,
        });
        // A dead incarnation's last words must not stand over its successor's.
        if note.incarnation <= incarnation {
            note.incarnation = incarnation;
            note.doing = doing.into();
            note.vitals = Arc::clone(vitals);
        }
    }

    /// Says why this incarnation died; stays on the card of the next.
    pub fn post_death(&self, why: &str) {
        self.post(format!("died: {why}"));
        if let Some(mut note) = self.board.0.get_mut(&self.seat) {
            note.last_error = Some(why.to_owned());
        }
    }
}

impl Board {
    /// Returns every card, in seat order.
    pub fn read(&self) -> Vec<Card> {
        let mut cards: Vec<_> = self.0.iter().map(|note| note.card(note.key().clone())).collect();
        cards.sort_by(|one, other| one.seat.cmp(&other.seat));
        cards
    }

    /// Returns the card of one seat.
    pub fn card(&self, seat: &Seat) -> Option<Card> {
        self.0.get(seat).map(|note| note.card(seat.clone()))
    }

    /// Takes the card of `seat` down.
    pub fn clear(&self, seat: &Seat) {
        self.0.remove(seat);
    }
}

impl Note {
    fn card(&self, seat: Seat) -> Card {
        Card {
            seat,
            incarnation: self.incarnation,
            doing: self.doing.clone(),
            waiting: self.vitals.waiting(),
            last_error: self.last_error.clone(),
        }
    }
}
