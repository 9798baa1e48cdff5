//! Navigation: where it ends, and when the document can be read.
use std::time::Duration;

use chromiumoxide_cdp::cdp::browser_protocol::page::{NavigateParams, StopLoadingParams};
use chromiumoxide_cdp::cdp::browser_protocol::target::GetTargetInfoParams;
use serde::Deserialize;
use tokio::time::Instant;

use crate::cdp::attach::SOON;
use crate::cdp::attached::{Attached, Deadline};
use crate::cdp::errors::{CallError, page_error, unreachable};
use crate::cdp::standing::Standing;
use crate::ports::page::{Landing, Location, PageError, Unreachable};

/// How long resources may hold a document that can be read.
const RESOURCES: Duration = Duration::from_secs(1);
/// How long a page that has loaded may take to go on by itself.
const REDIRECT: Duration = Duration::from_millis(50);
/// Events get lost now and then: how often the page itself is asked.
const POLL: Duration = Duration::from_millis(250);
/// A document that a script holds up after it was parsed can be read after this many polls.
const INTERACTIVE_POLLS: u32 = 4;
/// A page that keeps going on is landed on after so many documents.
const HOPS: usize = 20;
/// How long the browser takes to show its own page for a failed navigation.
const ERROR_PAGE: Duration = Duration::from_secs(1);
/// An error status without a body: the browser shows its own page, yet the site did answer.
const BODYLESS: &str = "net::ERR_HTTP_RESPONSE_CODE_FAILURE";

/// How a navigation began. Same-document ones have no loader.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Went {
    loader_id: Option<String>,
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

/// What the page says of its document.
struct Said {
    ready: String,
    url: String,
    title: String,
}

impl Attached {
    pub async fn go(&self, url: &str, patience: Duration) -> Result<Landing, PageError> {
        let what = "navigate";
        url::Url::parse(url).map_err(|error| PageError::Unreachable {
            why: Unreachable::BadUrl,
            detail: error.to_string(),
        })?;
        let deadline = Deadline::after(patience);
        let number = self.number();
        let went: Went = match self.ask_page(NavigateParams::new(url), patience).await {
            Ok(went) => went,
            Err(error) => {
                let error = self.explain(error, number, (what, patience)).await;
                if matches!(error, PageError::TimedOut { .. }) {
                    // No script runs while a site is waited for: the page before it could not be
                    // looked at.
                    self.connection.post(Some(&self.session), StopLoadingParams::default());
                }
                return Err(error);
            }
        };
        match (went.error_text.as_deref(), went.loader_id) {
            (Some(error), Some(loader)) if error != "" && error != BODYLESS => {
                return Err(self.failed(error, &loader, went.is_download).await);
            }
            (_, None) => return self.landing(&deadline).await,
            _ => {}
        }
        let over = |page: &Standing| page.number != number || page.life.check().is_err();
        if !self.until(deadline.left(), over).await {
            return Err(deadline.error(what));
        }
        self.rest(&deadline, what).await
    }

    /// A navigation failed: waits for the browser's page that says so, so that it does not
    /// surprise whoever comes next.
    async fn failed(&self, error: &str, loader: &str, is_download: bool) -> PageError {
        if is_download {
            let detail = "the address is a download".to_owned();
            return PageError::Unreachable { why: Unreachable::Aborted, detail };
        }
        let error = unreachable(error);
        if !matches!(error, PageError::Unreachable { why: Unreachable::Aborted, .. }) {
            if self.until(ERROR_PAGE, |page| page.document.loader == loader).await {
                self.standing.send_modify(|page| page.document.told = true);
            }
        }
        error
    }

    pub async fn settle(&self, patience: Duration) -> Result<Landing, PageError> {
        self.rest(&Deadline::after(patience), "settle").await
    }

    /// Waits until the page rests on a document that can be read.
    async fn rest(&self, deadline: &Deadline, what: &'static str) -> Result<Landing, PageError> {
        for _ in 0..HOPS {
            let number = self.readable(deadline, what).await?;
            let goes_on =
                |page: &Standing| page.number != number || page.is_under_way(Instant::now());
            self.until(RESOURCES.min(deadline.left()), |page| {
                page.document.loaded || goes_on(page)
            })
            .await;
            if self.until(REDIRECT.min(deadline.left()), goes_on).await {
                continue;
            }
            self.tell_failure()?;
            let landing = self.landing(deadline).await;
            if self.number() == number {
                return landing;
            }
        }
        self.landing(deadline).await
    }

    /// Returns whether `true_now` became true within `patience`.
    async fn until(&self, patience: Duration, true_now: impl FnMut(&Standing) -> bool) -> bool {
        let mut changes = self.standing.subscribe();
        tokio::time::timeout(patience, changes.wait_for(true_now)).await.is_ok()
    }

    /// Waits until no navigation is under way and the DOM is complete; returns the document's
    /// number.
    async fn readable(&self, deadline: &Deadline, what: &'static str) -> Result<u64, PageError> {
        let mut changes = self.standing.subscribe();
        let mut poll = Instant::now() + POLL;
        let mut interactive = 0;
        loop {
            let (under_way, number) = {
                let page = changes.borrow_and_update();
                page.life.check()?;
                if page.dialog.is_some() {
                    return Err(PageError::DialogOpen);
                }
                let under_way = page.is_under_way(Instant::now());
                if !under_way && page.document.dom_complete {
                    return Ok(page.number);
                }
                (under_way, page.number)
            };
            let wake = poll.min(deadline.at);
            if tokio::time::timeout_at(wake, changes.changed()).await.is_ok() {
                continue;
            }
            if Instant::now() >= deadline.at {
                return Err(deadline.error(what));
            }
            if !under_way {
                let complete = self.poll_ready(number, &mut interactive, deadline).await;
                self.standing.send_if_modified(|page| {
                    let now_complete = complete && page.number == number;
                    page.document.dom_complete |= now_complete;
                    now_complete
                });
            }
            poll = Instant::now() + POLL;
        }
    }

    async fn poll_ready(&self, number: u64, interactive: &mut u32, deadline: &Deadline) -> bool {
        let patience = RESOURCES.min(deadline.left());
        match self.say(patience).await {
            Ok(said) if said.ready == "complete" => {
                self.standing.send_if_modified(|page| {
                    let same = page.number == number;
                    page.document.loaded |= same;
                    same
                });
                true
            }
            Ok(said) if said.ready == "interactive" => {
                *interactive += 1;
                *interactive >= INTERACTIVE_POLLS
            }
            _ => false,
        }
    }

    /// Fails when the document is the browser's own page for a site that was not reached; once,
    /// so that the page can be worked with afterwards.
    fn tell_failure(&self) -> Result<(), PageError> {
        let mut failure = Ok(());
        self.standing.send_if_modified(|page| {
            if let Some(error) = page.net_error().filter(|error| *error != BODYLESS) {
                if !page.document.told {
                    failure = Err(unreachable(error));
                }
                page.document.told = true;
            }
            false
        });
        failure
    }

    /// Says where the page stands now: by its own word, or the browser's when it cannot answer.
    async fn landing(&self, deadline: &Deadline) -> Result<Landing, PageError> {
        let (status, failed_url) = {
            let page = self.standing.borrow();
            page.life.check()?;
            (page.status(), page.document.failed_url.clone())
        };
        let said = self.say(RESOURCES.min(deadline.left())).await;
        let (url, title) = match (said, failed_url) {
            (Ok(Said { title, .. }), Some(url)) => (url, title),
            (Ok(Said { url, title, .. }), None) => (url, title),
            (Err(PageError::Crashed), _) => return Err(PageError::Crashed),
            (Err(_), _) => {
                let Location { url, title } = self.locate().await?;
                (url, title)
            }
        };
        Ok(Landing { url, title, status })
    }

    async fn say(&self, patience: Duration) -> Result<Said, PageError> {
        let script = "[document.readyState, location.href, document.title]";
        let json = self.in_world(script, "settle", patience).await?;
        let (ready, url, title) = serde_json::from_str(&json)
            .map_err(|error| PageError::Refused { what: "settle", why: error.to_string() })?;
        Ok(Said { ready, url, title })
    }

    /// Asks the browser's own process, so a page that hangs does not matter.
    pub async fn locate(&self) -> Result<Location, PageError> {
        let asking = GetTargetInfoParams { target_id: Some(self.target.0.clone().into()) };
        let info: Info = self.connection.ask(None, asking, SOON).await.map_err(|error| {
            // The only reason to refuse is that there is no such target.
            match error {
                CallError::Protocol { .. } => PageError::Gone,
                other => page_error(other, "location", SOON),
            }
        })?;
        Ok(Location { url: info.target_info.url, title: info.target_info.title })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    target_info: TargetInfo,
}

#[derive(Deserialize)]
struct TargetInfo {
    url: String,
    title: String,
}
