//! A tab's page, and how long the tab waits for it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::sleep;

use crate::domain::keys::Chord;
use crate::messages::pace::{Lap, Pace};
use crate::ports::page::{
    ConsoleLines, Landing, Location, Page, PageError, Press, Shot, Taken, TargetKey,
};

/// Passes every call on, and counts it.
pub struct Timed {
    page: Arc<dyn Page>,
    pace: Pace,
}

impl Timed {
    pub fn new(page: Arc<dyn Page>, pace: Pace) -> Self {
        Self { page, pace }
    }

    /// Counts a wait for what the page does next, until it is dropped.
    pub fn rest(&self) -> Lap {
        self.pace.rest()
    }

    /// Gives the page time to get on.
    pub async fn pause(&self, time: Duration) {
        let _rest = self.rest();
        sleep(time).await;
    }
}

#[async_trait]
impl Page for Timed {
    fn target(&self) -> TargetKey {
        self.page.target()
    }

    async fn navigate(&self, url: &str, patience: Duration) -> Result<Landing, PageError> {
        let _call = self.pace.call();
        self.page.navigate(url, patience).await
    }

    async fn settled(&self, patience: Duration) -> Result<Landing, PageError> {
        let _call = self.pace.call();
        self.page.settled(patience).await
    }

    async fn location(&self) -> Result<Location, PageError> {
        let _call = self.pace.call();
        self.page.location().await
    }

    async fn evaluate(&self, script: &str, patience: Duration) -> Result<String, PageError> {
        let _call = self.pace.call();
        self.page.evaluate(script, patience).await
    }

    async fn call(
        &self,
        function: &'static str,
        argument: &str,
        patience: Duration,
    ) -> Result<String, PageError> {
        let _call = self.pace.call();
        self.page.call(function, argument, patience).await
    }

    async fn click(&self, press: Press, patience: Duration) -> Result<(), PageError> {
        let _call = self.pace.call();
        self.page.click(press, patience).await
    }

    async fn hover(&self, at: Press, patience: Duration) -> Result<(), PageError> {
        let _call = self.pace.call();
        self.page.hover(at, patience).await
    }

    async fn press(&self, chord: &Chord, patience: Duration) -> Result<(), PageError> {
        let _call = self.pace.call();
        self.page.press(chord, patience).await
    }

    async fn insert_text(&self, text: &str, patience: Duration) -> Result<(), PageError> {
        let _call = self.pace.call();
        self.page.insert_text(text, patience).await
    }

    async fn answer_dialog(&self, accept: bool, text: Option<&str>) -> Result<(), PageError> {
        let _call = self.pace.call();
        self.page.answer_dialog(accept, text).await
    }

    fn console(&self, most: usize) -> ConsoleLines {
        self.page.console(most)
    }

    async fn screenshot(&self, shot: Shot, patience: Duration) -> Result<Taken, PageError> {
        let _call = self.pace.call();
        self.page.screenshot(shot, patience).await
    }
}
