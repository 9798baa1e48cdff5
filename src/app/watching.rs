//! `attach`: what every actor last said of itself, from the board alone, so it works while any of
//! them is stuck; what the newest runs did, from the store; and what is held, unless the guard is.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::app::lines::line;
use crate::app::rows::RunRow;
use crate::app::{Call, Told};
use crate::control::answer::Answer;
use crate::control::sight::{ActorSight, RunSight, RunTold, Sight};
use crate::domain::ids::RunId;
use crate::domain::journal::Standing;
use crate::messages::board::Card;
use crate::messages::supervisor::Seat;

/// How long a look at everything waits for the store.
const GLANCE: Duration = Duration::from_millis(500);
/// How many runs can be chosen from.
const RUNS: usize = 50;
/// How many of a run's lines are told.
const LINES: usize = 200;

impl Call<'_> {
    /// Looks at everything, and tells the steps of `run`; those of the newest where none is named.
    pub async fn attach(&self, run: Option<RunId>) -> Told<Answer> {
        let cards = self.app.world.board.read();
        let mut actors = Vec::new();
        self.walk(&Seat::Root, 0, &cards, &mut |depth, card| actors.push(actor(depth, card)));
        let text = actors.iter().map(said).collect::<Vec<_>>().join("\n");
        let runs = timeout(GLANCE, self.runs_seen(run)).await.unwrap_or_default();
        let holds = self.holds().await;
        let sight = Sight { actors, runs, holds, pid: std::process::id() };
        Ok(Answer::told(text, json!(sight)))
    }

    fn walk(&self, seat: &Seat, depth: usize, cards: &[Card], show: &mut impl FnMut(usize, &Card)) {
        if let Some(card) = cards.iter().find(|card| card.seat == *seat) {
            show(depth, card);
        }
        for below in self.app.tree.below(seat) {
            self.walk(&below, depth + 1, cards, show);
        }
    }

    async fn runs_seen(&self, chosen: Option<RunId>) -> Vec<RunSight> {
        let rows = RunRow::all(&self.app.world).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the runs cannot be read");
            Vec::new()
        });
        let mut runs = Vec::new();
        let chosen = chosen.or(rows.last().map(|row| row.id));
        for row in rows.into_iter().rev().take(RUNS) {
            let told = if Some(row.id) == chosen { Some(self.run_told(&row).await) } else { None };
            let RunRow { id, task, state, began, ended, .. } = row;
            runs.push(RunSight { id, task, state: state.word().into(), began, ended, told });
        }
        runs
    }

    async fn run_told(&self, row: &RunRow) -> RunTold {
        let entries = self.app.journal(row.id).await;
        let standing = Standing::of(&entries);
        let mut lines: Vec<_> = entries.iter().filter_map(line).collect();
        let lines = lines.split_off(lines.len().saturating_sub(LINES));
        let cost = row.price.map(|price| price.of(standing.usage));
        RunTold { lines, steps: standing.steps.len(), tokens: standing.usage.tokens(), cost }
    }
}

fn actor(depth: usize, card: &Card) -> ActorSight {
    ActorSight {
        name: card.seat.to_string(),
        depth,
        doing: card.doing.clone(),
        mailbox: card.waiting,
        restarts: card.incarnation.saturating_sub(1),
        last_error: card.last_error.clone(),
    }
}

fn said(actor: &ActorSight) -> String {
    let ActorSight { name, depth, doing, mailbox, restarts, last_error } = actor;
    let count = |word: &str, count: u64| match count {
        0 => String::new(),
        count => format!("  {word} {count}"),
    };
    let (waiting, restarts) =
        (count("waiting", *mailbox as u64), count("restarts", u64::from(*restarts)));
    let error = last_error.iter().map(|why| format!("  last error: {why}")).collect::<String>();
    format!("{}{name}: {doing}{waiting}{restarts}{error}", "  ".repeat(*depth))
}
