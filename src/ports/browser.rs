//! A browser: how it is started or reached, and what opens page targets.
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::domain::ids::SessionName;
use crate::ports::Sink;
use crate::ports::page::{Page, PageError, PageEvent, TargetKey};

/// Whose profile the browser runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileMode {
    /// A persistent profile of the session's own.
    #[default]
    Cloned,
    /// A throw-away folder, gone with the browser.
    Fresh,
    /// A browser that somebody else started with a debugging port; never killed by us.
    Attach,
}

/// How to start or reach a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSpec {
    pub session: SessionName,
    pub profile: ProfileMode,
    pub headless: bool,
    /// `host:port`, `http://…` or `ws://…` of a browser that runs already.
    pub endpoint: Option<String>,
    /// The browser's program; looked for when absent.
    pub executable: Option<PathBuf>,
    /// Where the session's files live; the profile goes to `profile` below it.
    pub folder: PathBuf,
    /// Extra arguments for the browser's program.
    pub arguments: Vec<String>,
    /// Where a window can be shown, as the caller's environment has it: `DISPLAY` and the like. The
    /// daemon's own has none.
    pub screen: Vec<(String, String)>,
    /// What is evaluated once in the isolated world of every document; see `perception::scripts`.
    pub library: &'static str,
}

/// What a running browser is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct About {
    /// Such as `Chrome/156.0.8078.114`.
    pub product: String,
    /// The process that we started.
    pub pid: Option<u32>,
    /// The WebSocket for other clients, where there is one.
    pub endpoint: Option<String>,
    pub headless: bool,
}

/// Why a browser could not be started or reached. Each says what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrowserError {
    #[error("no Chromium or Chrome found ({looked}); install one, or set `browser.executable`")]
    NotFound { looked: String },
    #[error(
        "the profile {folder} is in use by process {pid}; close that browser, or use another --session"
    )]
    ProfileLocked { folder: String, pid: u32 },
    #[error("the browser did not start: {why}; run `strawmanus doctor`")]
    StartFailed { why: String },
    #[error(
        "no browser answers at {endpoint}: {why}; start one with --remote-debugging-port, or check --cdp"
    )]
    Unreachable { endpoint: String, why: String },
}

/// What a browser says by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserEvent {
    /// The process or the connection is gone; every page of it as well.
    Died { why: String },
    /// A page that we own opened another page.
    Popup { target: TargetKey, opener: TargetKey, url: String },
}

/// All cookies of a browser, in the adapter's own JSON; stored, compared and given back whole.
#[derive(Clone, PartialEq, Eq)]
pub struct CookieJar(pub String);

/// Which page to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPage {
    /// Take this target over if it still lives (a popup, or a tab whose actor died);
    /// a crashed one is revived by navigating it to `url`.
    pub target: Option<TargetKey>,
    /// Where to go in a new or crashed target. Always by navigation, so no form is sent again.
    pub url: String,
}

#[async_trait]
pub trait Launcher: Send + Sync + 'static {
    async fn launch(
        &self,
        spec: LaunchSpec,
        sink: Sink<BrowserEvent>,
    ) -> Result<Arc<dyn Browser>, BrowserError>;
}

/// A running browser. Dropping the last reference ends the process that we started.
#[async_trait]
pub trait Browser: Send + Sync + 'static {
    fn about(&self) -> About;
    /// Opens a page. A page that is only dropped leaves its target as it is; see [`Page::close`].
    async fn open(
        &self,
        request: OpenPage,
        sink: Sink<PageEvent>,
    ) -> Result<Arc<dyn Page>, PageError>;
    /// Closes a target, even one whose page hangs.
    async fn close_target(&self, target: &TargetKey) -> Result<(), PageError>;
    async fn cookies(&self) -> Result<CookieJar, PageError>;
    /// Puts the cookies of `jar` in place of all that are there.
    async fn restore_cookies(&self, jar: &CookieJar) -> Result<(), PageError>;
    /// Ends the browser in good order, so that its profile is whole. A remote one is only let go.
    async fn shut_down(&self);
}
