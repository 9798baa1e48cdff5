//! What stands behind the daemon's socket, and how it shows live steps.
use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::control::answer::Answer;
use crate::control::protocol::{Line, Request};

/// How live steps reach the caller, and how one learns that the caller has gone.
#[derive(Debug, Clone)]
pub struct Progress {
    lines: Option<mpsc::Sender<Line>>,
    gone: watch::Receiver<bool>,
}

impl Progress {
    /// For the server: lines go to `lines`, `gone` turns true when the caller's end is closed.
    pub fn new(lines: mpsc::Sender<Line>, gone: watch::Receiver<bool>) -> Self {
        Self { lines: Some(lines), gone }
    }

    /// For work that nobody watches: steps are dropped, and the caller never goes.
    pub fn unwatched() -> Self {
        let (_, gone) = watch::channel(false);
        Self { lines: None, gone }
    }

    /// Shows a step. Never waits: a caller that does not read misses steps, the answer keeps them.
    pub fn step(&self, text: impl Into<String>, json: Value) {
        if let Some(lines) = &self.lines {
            let _ = lines.try_send(Line::Progress { text: text.into(), json });
        }
    }

    /// Resolves when the caller has gone; a foreground run is stopped then.
    pub async fn closed(&self) {
        let mut gone = self.gone.clone();
        if gone.wait_for(|gone| *gone).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// What carries out commands. Made by the composition root, called by the server.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Carries out one command. Dropped when the request's deadline has passed; a caller that goes
    /// away is only told through `progress`.
    async fn handle(&self, request: Request, progress: Progress) -> Answer;
    /// Says what would be lost if the daemon ended now, such as `run r7`.
    fn busy(&self) -> Option<String>;
    /// Ends browsers and closes the store, in good order.
    async fn shut_down(&self);
}
