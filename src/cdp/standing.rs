//! How a page stands, as its events tell: pure, so that every order of events can be tested.
use std::time::Duration;

use tokio::time::Instant;

use crate::ports::page::{Dialog, PageError};

/// A navigation that was asked for and never started (a `mailto:` link) holds nobody longer.
const ASKED: Duration = Duration::from_millis(250);
/// How many documents' answers are kept: the current one and those on the way to it.
const ANSWERS: usize = 8;

/// Can the page be spoken to?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Life {
    #[default]
    Live,
    Crashed,
    Gone,
    Lost,
}

impl Life {
    pub fn check(self) -> Result<(), PageError> {
        match self {
            Self::Live => Ok(()),
            Self::Crashed => Err(PageError::Crashed),
            Self::Gone => Err(PageError::Gone),
            Self::Lost => Err(PageError::Lost),
        }
    }
}

/// The main frame's document.
#[derive(Debug, Clone, Default)]
pub(super) struct Document {
    /// Chromium's name of the navigation that made it.
    pub loader: String,
    pub url: String,
    /// Where it should have come from, when it is the browser's own error page.
    pub failed_url: Option<String>,
    pub dom_complete: bool,
    pub loaded: bool,
    /// Somebody was told that it is an error page.
    pub told: bool,
}

/// A context of the isolated world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct World {
    pub context: i64,
    /// The library was evaluated there.
    pub equipped: bool,
}

/// A navigation of the main frame that is under way.
#[derive(Debug, Clone)]
enum Heading {
    Asked(Instant),
    Started(String),
}

/// What came over the network for one navigation.
#[derive(Debug, Clone)]
struct NetworkAnswer {
    loader: String,
    status: Option<u16>,
    error: Option<String>,
}

/// The whole of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    pub life: Life,
    pub dialog: Option<Dialog>,
    /// The main frame.
    pub frame: String,
    pub document: Document,
    /// The isolated world's context in the main frame. Its events come before or after those of
    /// the document that it belongs to.
    pub world: Option<World>,
    /// Grows with each new document, and with each death.
    pub number: u64,
    heading: Option<Heading>,
    answers: Vec<NetworkAnswer>,
}

impl Standing {
    /// A navigation of the main frame was asked for, by the page or by its user.
    pub fn asked(&mut self, now: Instant) {
        if !matches!(self.heading, Some(Heading::Started(_))) {
            self.heading = Some(Heading::Asked(now));
        }
    }

    pub fn started(&mut self, loader: &str) {
        self.heading = Some(Heading::Started(loader.to_owned()));
    }

    /// The main frame shows another document.
    pub fn committed(&mut self, document: Document) {
        let other_under_way =
            matches!(&self.heading, Some(Heading::Started(loader)) if *loader != document.loader);
        if !other_under_way {
            self.heading = None;
        }
        if self.document.loader == document.loader {
            return;
        }
        self.document = document;
        self.number += 1;
    }

    /// The document got another URL.
    pub fn moved_within(&mut self, url: &str) {
        url.clone_into(&mut self.document.url);
        if matches!(self.heading, Some(Heading::Asked(_))) {
            self.heading = None;
        }
    }

    /// Nothing loads any more: a navigation that did not commit was given up, or was a download.
    pub fn stopped(&mut self) {
        if matches!(self.heading, Some(Heading::Started(_))) {
            self.heading = None;
        }
    }

    pub fn is_under_way(&self, now: Instant) -> bool {
        match &self.heading {
            None => false,
            Some(Heading::Started(_)) => true,
            Some(Heading::Asked(since)) => now.duration_since(*since) < ASKED,
        }
    }

    pub fn dom_complete(&mut self, loader: &str) {
        if self.document.loader == loader {
            self.document.dom_complete = true;
        }
    }

    pub fn loaded(&mut self, loader: &str) {
        if self.document.loader == loader {
            self.document.dom_complete = true;
            self.document.loaded = true;
        }
    }

    pub fn answered(&mut self, loader: &str, status: u16) {
        // Pages of the browser itself, `data:` and files have no status.
        self.note(loader).status = (status != 0).then_some(status);
    }

    /// A request failed; only that of the main frame's document matters.
    pub fn failed(&mut self, loader: &str, error: &str) {
        let started = matches!(&self.heading, Some(Heading::Started(to)) if to == loader);
        if started || self.document.loader == loader {
            self.note(loader).error = Some(error.to_owned());
        }
    }

    fn note(&mut self, loader: &str) -> &mut NetworkAnswer {
        let at = self.answers.iter().position(|answer| answer.loader == loader);
        let at = at.unwrap_or_else(|| {
            if self.answers.len() == ANSWERS {
                self.answers.remove(0);
            }
            self.answers.push(NetworkAnswer { loader: loader.into(), status: None, error: None });
            self.answers.len() - 1
        });
        &mut self.answers[at]
    }

    /// Returns the HTTP status of the document.
    pub fn status(&self) -> Option<u16> {
        self.answer()?.status
    }

    /// Returns why the document is an error page, in Chromium's words.
    pub fn net_error(&self) -> Option<&str> {
        self.document.failed_url.as_ref()?;
        Some(self.answer().and_then(|answer| answer.error.as_deref()).unwrap_or("net::ERR_FAILED"))
    }

    fn answer(&self) -> Option<&NetworkAnswer> {
        self.answers.iter().find(|answer| answer.loader == self.document.loader)
    }

    pub fn crashed(&mut self) {
        self.life = Life::Crashed;
        self.number += 1;
        self.dialog = None;
        self.heading = None;
        self.document = Document::default();
        self.world = None;
    }

    pub fn revived(&mut self) {
        if self.life == Life::Crashed {
            self.life = Life::Live;
        }
    }

    /// Ends it: closed, or the browser is gone.
    pub fn ended(&mut self, life: Life) {
        if matches!(self.life, Life::Live | Life::Crashed) {
            self.crashed();
            self.life = life;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(loader: &str) -> Document {
        Document { loader: loader.into(), ..Document::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_navigation_is_under_way_from_its_start_to_its_commit() {
        let (mut page, now) = (Standing::default(), Instant::now());
        page.asked(now);
        assert!(page.is_under_way(now));
        page.started("B");
        page.asked(now);
        assert!(page.is_under_way(now + ASKED));
        // The document before it commits late.
        page.committed(document("A"));
        assert!(page.is_under_way(now));
        page.committed(document("B"));
        assert!(!page.is_under_way(now));
        page.dom_complete("A");
        assert!(!page.document.dom_complete);
        page.loaded("B");
        assert!(page.document.dom_complete && page.document.loaded);
        assert_eq!(page.number, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn what_never_starts_is_not_waited_for() {
        let (mut page, now) = (Standing::default(), Instant::now());
        page.asked(now);
        assert!(page.is_under_way(now + ASKED - Duration::from_millis(1)));
        assert!(!page.is_under_way(now + ASKED));
        page.asked(now);
        page.moved_within("http://a.test/#x");
        assert!(!page.is_under_way(now));
        page.started("download");
        page.stopped();
        assert!(!page.is_under_way(now));
    }

    #[test]
    fn an_answer_belongs_to_its_document() {
        let mut page = Standing::default();
        page.answered("A", 200);
        page.answered("B", 404);
        page.committed(document("B"));
        assert_eq!(page.status(), Some(404));
        assert_eq!(page.net_error(), None);
        for other in 0..20 {
            page.answered(&format!("frame {other}"), 200);
        }
        assert_eq!(page.answers.len(), ANSWERS);
        page.failed("an image", "net::ERR_ABORTED");
        page.started("C");
        page.failed("C", "net::ERR_CONNECTION_REFUSED");
        page.committed(Document { failed_url: Some("http://x".into()), ..document("C") });
        assert_eq!(page.net_error(), Some("net::ERR_CONNECTION_REFUSED"));
        assert_eq!(page.status(), None);
    }

    #[test]
    fn what_is_gone_does_not_come_back() {
        let mut page = Standing::default();
        page.crashed();
        assert_eq!(page.life.check(), Err(PageError::Crashed));
        page.revived();
        page.ended(Life::Gone);
        page.revived();
        page.ended(Life::Lost);
        assert_eq!(page.life.check(), Err(PageError::Gone));
    }
}
