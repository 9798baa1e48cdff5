//! The browser port, and how one is launched or reached.
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use chromiumoxide_cdp::cdp::browser_protocol::browser::{CloseParams, GetVersionParams};
use chromiumoxide_cdp::cdp::browser_protocol::page::{CrashParams, NavigateParams};
use chromiumoxide_cdp::cdp::browser_protocol::target::{
    CloseTargetParams, CreateTargetParams, SetDiscoverTargetsParams,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::cdp::attach::{SOON, Unless, attach, detach, receive_pages};
use crate::cdp::attached::Attached;
use crate::cdp::calls::Ear;
use crate::cdp::connection::Connection;
use crate::cdp::cookies;
use crate::cdp::endpoint;
use crate::cdp::errors::{CallError, page_error};
use crate::cdp::find;
use crate::cdp::launch;
use crate::cdp::page::CdpPage;
use crate::cdp::process::Process;
use crate::cdp::standing::Life;
use crate::cdp::targets::Targets;
use crate::cdp::wire::Wire;
use crate::ports::Sink;
use crate::ports::browser::{
    About, Browser, BrowserError, BrowserEvent, CookieJar, LaunchSpec, Launcher, OpenPage,
    ProfileMode,
};
use crate::ports::page::{Page, PageError, PageEvent, TargetKey};

/// How long a browser may take to start.
const START: Duration = Duration::from_secs(20);
/// How long it may take to end in good order, writing its profile.
const END: Duration = Duration::from_secs(5);
/// How long a new page may take to begin to show its URL before it is handed out.
const BEGIN: Duration = Duration::from_millis(500);
/// A page that hangs is closed by the browser after half a second.
const CLOSE: Duration = Duration::from_millis(1500);

/// Starts Chromium or Chrome, or reaches one that runs.
#[derive(Debug, Clone, Default)]
pub struct Chromium {
    /// The user's search path, for finding the browser's program.
    search: Vec<PathBuf>,
}

impl Chromium {
    pub fn new(search: Vec<PathBuf>) -> Self {
        Self { search }
    }
}

#[async_trait]
impl Launcher for Chromium {
    async fn launch(
        &self,
        spec: LaunchSpec,
        sink: Sink<BrowserEvent>,
    ) -> Result<Arc<dyn Browser>, BrowserError> {
        let remote = match (&spec.endpoint, spec.profile) {
            (Some(endpoint), _) => Some(endpoint.as_str()),
            (None, ProfileMode::Attach) => Some(endpoint::USUAL),
            (None, ProfileMode::Cloned | ProfileMode::Fresh) => None,
        };
        let browser = match remote {
            Some(endpoint) => reach(endpoint, &spec, sink).await?,
            None => start(&self.search, &spec, sink).await?,
        };
        Ok(Arc::new(browser))
    }
}

async fn reach(
    endpoint: &str,
    spec: &LaunchSpec,
    sink: Sink<BrowserEvent>,
) -> Result<CdpBrowser, BrowserError> {
    let (wire, url) = endpoint::reach(endpoint).await?;
    let (connection, targets) = connect(wire, sink);
    let version = greet(&connection).await.map_err(|error| BrowserError::Unreachable {
        endpoint: endpoint.to_owned(),
        why: said(&error),
    })?;
    let headless = version.user_agent.contains("Headless");
    let about = About { product: version.product, pid: None, endpoint: Some(url), headless };
    Ok(CdpBrowser { connection, targets, process: None, library: spec.library, about })
}

async fn start(
    search: &[PathBuf],
    spec: &LaunchSpec,
    sink: Sink<BrowserEvent>,
) -> Result<CdpBrowser, BrowserError> {
    let (explicit, search) = (spec.executable.clone(), search.to_vec());
    let failed = |why: String| BrowserError::StartFailed { why };
    let found = tokio::task::spawn_blocking(move || find::locate(explicit.as_deref(), &search));
    let program = found.await.map_err(|error| failed(error.to_string()))??;
    let (started, wire) = launch::start(&program, spec).await?;
    let (connection, targets) = connect(wire, sink);
    targets.receive(&connection, spec.library);
    let greeted = async {
        let version = greet(&connection).await?;
        connection.ask::<IgnoredAny>(None, receive_pages(), START).await?;
        Ok(version)
    };
    let version = match greeted.await {
        Ok(version) => version,
        Err(error) => {
            targets.end();
            return Err(failed(format!(
                "{}; {}",
                said(&error),
                started.process.last_words().await
            )));
        }
    };
    let about = About {
        product: version.product,
        pid: Some(started.process.pid),
        endpoint: started.endpoint().await,
        headless: spec.headless,
    };
    let process = Some(started.process);
    Ok(CdpBrowser { connection, targets, process, library: spec.library, about })
}

fn connect(wire: Wire, sink: Sink<BrowserEvent>) -> (Arc<Connection>, Arc<Targets>) {
    let targets = Arc::new(Targets::new(sink));
    let root: Weak<dyn Ear> = Arc::downgrade(&targets) as Weak<dyn Ear>;
    (Connection::start(wire, root), targets)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    product: String,
    user_agent: String,
}

/// The first words: who is there, and tell us of all targets.
async fn greet(connection: &Connection) -> Result<Version, CallError> {
    let version = connection.ask(None, GetVersionParams::default(), START).await?;
    let discover = SetDiscoverTargetsParams::new(true);
    connection.ask::<IgnoredAny>(None, discover, START).await?;
    Ok(version)
}

fn said(error: &CallError) -> String {
    match error {
        CallError::Protocol { message, .. } => message.clone(),
        CallError::Unreadable(why) => format!("its answer cannot be read: {why}"),
        CallError::TimedOut => format!("no answer within {START:?}"),
        CallError::Crashed | CallError::Detached | CallError::Closed => {
            "it closed the connection".to_owned()
        }
    }
}

/// A browser that we talk to. Dropping it ends the process that we started.
struct CdpBrowser {
    connection: Arc<Connection>,
    targets: Arc<Targets>,
    process: Option<Process>,
    library: &'static str,
    about: About,
}

impl Drop for CdpBrowser {
    fn drop(&mut self) {
        self.targets.end();
        if let Some(process) = &self.process {
            process.kill();
            self.connection.close("the browser was ended");
        }
    }
}

impl CdpBrowser {
    async fn call<C: chromiumoxide_types::Command>(
        &self,
        command: C,
        what: &'static str,
    ) -> Result<C::Response, PageError> {
        let answer = self.connection.call(None, command, SOON).await;
        answer.map_err(|error| page_error(error, what, SOON))
    }

    /// Takes over a target that exists, with the session that it has.
    async fn take_over(&self, target: &TargetKey, url: &str) -> Result<Arc<Attached>, PageError> {
        if let Some(attached) = self.targets.received(target).await {
            match attached.life() {
                Life::Live => return Ok(attached),
                Life::Crashed => {
                    attached.revive(url).await?;
                    self.targets.revived(target);
                    return Ok(attached);
                }
                Life::Gone | Life::Lost => return attached.life().check().map(|()| attached),
            }
        }
        let crashed_at = self.targets.is_crashed(target).then_some(url);
        let attached = match self.attach(target, crashed_at).await {
            Err(PageError::Crashed) if crashed_at.is_none() => {
                self.attach(target, Some(url)).await?
            }
            other => other?,
        };
        self.targets.revived(target);
        Ok(attached)
    }

    async fn attach(
        &self,
        target: &TargetKey,
        crashed_at: Option<&str>,
    ) -> Result<Arc<Attached>, PageError> {
        let attached = attach(&self.connection, target, self.library, crashed_at).await?;
        let kept = self.targets.keep(Arc::clone(&attached));
        if !Arc::ptr_eq(&kept, &attached) {
            detach(&self.connection, &attached.session);
        }
        Ok(kept)
    }

    async fn create(&self, url: &str) -> Result<Arc<Attached>, PageError> {
        let blank = CreateTargetParams::new("about:blank");
        let target = TargetKey(self.call(blank, "open a page").await?.target_id.into());
        let undo = Unless::completed(|| {
            self.connection.post(None, CloseTargetParams::new(target.0.clone()));
        });
        self.targets.own(&target);
        let attached = match self.targets.received(&target).await {
            Some(attached) => {
                attached.enable().await?;
                attached
            }
            None => self.attach(&target, None).await?,
        };
        if url != "about:blank" {
            // A URL that fails is no failure of the page: it shows the error.
            let going = attached.ask::<IgnoredAny>(NavigateParams::new(url), "navigate", BEGIN);
            if let Err(error @ (PageError::Crashed | PageError::Gone | PageError::Lost)) =
                going.await
            {
                return Err(error);
            }
        }
        undo.done();
        Ok(attached)
    }

    async fn ask_to_close(&self, target: &TargetKey) -> Result<(), PageError> {
        let closing = CloseTargetParams::new(target.0.clone());
        match self.connection.ask::<IgnoredAny>(None, closing, SOON).await {
            // There is no such target: as was asked for.
            Ok(_) | Err(CallError::Protocol { .. }) => Ok(()),
            Err(error) => Err(page_error(error, "close", SOON)),
        }
    }
}

#[async_trait]
impl Browser for CdpBrowser {
    fn about(&self) -> About {
        self.about.clone()
    }

    async fn open(
        &self,
        request: OpenPage,
        sink: Sink<PageEvent>,
    ) -> Result<Arc<dyn Page>, PageError> {
        let attached = match &request.target {
            Some(target) => self.take_over(target, &request.url).await?,
            None => self.create(&request.url).await?,
        };
        self.targets.own(&attached.target);
        Ok(Arc::new(CdpPage::new(attached, sink)))
    }

    async fn close_target(&self, target: &TargetKey) -> Result<(), PageError> {
        self.ask_to_close(target).await?;
        if self.targets.gone(target, CLOSE).await {
            return Ok(());
        }
        // It does not let go: take its process away.
        if let Some(attached) = self.targets.attached(target) {
            self.connection.post(Some(&attached.session), CrashParams::default());
            self.ask_to_close(target).await?;
        }
        if self.targets.gone(target, CLOSE).await {
            return Ok(());
        }
        Err(PageError::TimedOut { what: "close", patience: 2 * CLOSE })
    }

    async fn cookies(&self) -> Result<CookieJar, PageError> {
        cookies::read(&self.connection).await
    }

    async fn restore_cookies(&self, jar: &CookieJar) -> Result<(), PageError> {
        cookies::restore(&self.connection, jar).await
    }

    async fn shut_down(&self) {
        self.targets.end();
        if let Some(process) = &self.process {
            let _ = self.connection.ask::<IgnoredAny>(None, CloseParams::default(), END).await;
            if tokio::time::timeout(END, process.ended()).await.is_err() {
                process.kill();
                process.ended().await;
            }
        }
        self.connection.close("the browser was shut down");
    }
}
