//! The page port.
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chromiumoxide_cdp::cdp::browser_protocol::page::HandleJavaScriptDialogParams;
use serde::de::IgnoredAny;

use crate::cdp::attach::SOON;
use crate::cdp::attached::Attached;
use crate::domain::keys::Chord;
use crate::ports::Sink;
use crate::ports::page::{
    ConsoleLines, Landing, Location, Page, PageError, PageEvent, Press, Shot, Taken, TargetKey,
};

/// One opening of a page. Dropping it stops its events; the target and its session stay.
pub(super) struct CdpPage {
    attached: Arc<Attached>,
    lease: u64,
}

impl CdpPage {
    pub fn new(attached: Arc<Attached>, sink: Sink<PageEvent>) -> Self {
        let lease = attached.lease(sink);
        Self { attached, lease }
    }
}

impl Drop for CdpPage {
    fn drop(&mut self) {
        self.attached.release(self.lease);
    }
}

#[async_trait]
impl Page for CdpPage {
    fn target(&self) -> TargetKey {
        self.attached.target.clone()
    }

    async fn navigate(&self, url: &str, patience: Duration) -> Result<Landing, PageError> {
        self.attached.go(url, patience).await
    }

    async fn settled(&self, patience: Duration) -> Result<Landing, PageError> {
        self.attached.settle(patience).await
    }

    async fn location(&self) -> Result<Location, PageError> {
        self.attached.locate().await
    }

    async fn evaluate(&self, script: &str, patience: Duration) -> Result<String, PageError> {
        self.attached.evaluate(script, patience).await
    }

    async fn call(
        &self,
        function: &'static str,
        argument: &str,
        patience: Duration,
    ) -> Result<String, PageError> {
        self.attached.call_library(function, argument, patience).await
    }

    async fn click(&self, press: Press, patience: Duration) -> Result<(), PageError> {
        self.attached.click_at(press, patience).await
    }

    async fn hover(&self, at: Press, patience: Duration) -> Result<(), PageError> {
        self.attached.hover_at(at, patience).await
    }

    async fn press(&self, chord: &Chord, patience: Duration) -> Result<(), PageError> {
        self.attached.press_chord(chord, patience).await
    }

    async fn insert_text(&self, text: &str, patience: Duration) -> Result<(), PageError> {
        self.attached.insert(text, patience).await
    }

    async fn answer_dialog(&self, accept: bool, text: Option<&str>) -> Result<(), PageError> {
        let answer =
            HandleJavaScriptDialogParams { accept, prompt_text: text.map(ToOwned::to_owned) };
        self.attached.ask::<IgnoredAny>(answer, "answer the dialog", SOON).await.map(drop)
    }

    fn console(&self, most: usize) -> ConsoleLines {
        self.attached.console(|console| console.newest(most))
    }

    async fn screenshot(&self, shot: Shot, patience: Duration) -> Result<Taken, PageError> {
        self.attached.picture(shot, patience).await
    }
}
