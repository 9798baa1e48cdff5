//! `attach`: what every actor last said of itself, from the board alone, so it works while any of
//! them is stuck; and what is held, unless the guard is.

use serde_json::json;

use crate::app::{Call, Told};
use crate::control::answer::Answer;
use crate::messages::board::Card;
use crate::messages::supervisor::Seat;

impl Call<'_> {
    pub async fn attach(&self) -> Told<Answer> {
        let cards = self.app.world.board.read();
        let mut lines = Vec::new();
        let mut actors = Vec::new();
        self.walk(&Seat::Root, 0, &cards, &mut |depth, card| {
            lines.push(line(depth, card));
            actors.push(row(depth, card));
        });
        let holds = self.holds().await;
        let data = json!({ "actors": actors, "holds": holds, "pid": std::process::id() });
        Ok(Answer::told(lines.join("\n"), data))
    }

    fn walk(&self, seat: &Seat, depth: usize, cards: &[Card], show: &mut impl FnMut(usize, &Card)) {
        if let Some(card) = cards.iter().find(|card| card.seat == *seat) {
            show(depth, card);
        }
        for below in self.app.tree.below(seat) {
            self.walk(&below, depth + 1, cards, show);
        }
    }
}

fn line(depth: usize, card: &Card) -> String {
    let restarts = match card.incarnation.saturating_sub(1) {
        0 => String::new(),
        restarts => format!("  restarts {restarts}"),
    };
    let waiting = match card.waiting {
        0 => String::new(),
        waiting => format!("  waiting {waiting}"),
    };
    let error = card.last_error.as_ref().map(|why| format!("  last error: {why}"));
    let error = error.unwrap_or_default();
    let (indent, seat) = ("  ".repeat(depth), card.seat.to_string());
    format!("{indent}{seat}: {}{waiting}{restarts}{error}", card.doing)
}

fn row(depth: usize, card: &Card) -> serde_json::Value {
    json!({
        "name": card.seat.to_string(),
        "depth": depth,
        "doing": card.doing,
        "mailbox": card.waiting,
        "restarts": card.incarnation.saturating_sub(1),
        "last_error": card.last_error,
    })
}
