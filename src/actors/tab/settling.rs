//! After the input: waits for what it caused, on observed work and with a bound, and says what
//! changed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep_until};

use crate::actors::tab::work::{Hands, unreadable};
use crate::domain::address::same_site;
use crate::domain::ids::TabId;
use crate::domain::outcome::{Outcome, OutcomeKind};
use crate::messages::tab::{JobEnd, TabError};
use crate::perception::answers::{Changes, Peeked, Watched};
use crate::perception::decode::parse;
use crate::ports::page::{Dialog, Page, PageError, PageEvent, RequestKind};

/// With nothing seen to happen, an act has had no effect after this.
const QUIET: Duration = Duration::from_millis(250);
/// Work that the act caused is waited for this long at most.
const LONGEST: Duration = Duration::from_secs(5);
/// Between two looks at the page.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// After something changed, more of it may follow.
const AFTERMATH: Duration = Duration::from_millis(100);

/// What is compared with, from before the input.
pub struct Watching {
    token: String,
    url: String,
    tabs: HashSet<TabId>,
    began: Instant,
}

/// What was seen since the input.
#[derive(Default)]
struct Seen {
    new_document: bool,
    /// The page is closed.
    gone: bool,
    dialog: Option<String>,
    sent: Vec<Sent>,
    /// What the page only reports of itself: no effect, but told.
    pings: Vec<String>,
    /// How many changes of the page were counted, and when there were more.
    changes: u32,
    changed: Option<Instant>,
    /// When the page or the browser said something.
    said: Option<Instant>,
}

struct Sent {
    method: String,
    url: String,
    status: Option<u16>,
    /// It went to another site: told, and no effect here.
    elsewhere: bool,
}

impl Watching {
    pub async fn begin(hands: &mut Hands) -> Result<Self, TabError> {
        let token = hands.page.call("watch_begin", "{}", hands.left()).await?;
        let url = hands.page.location().await?.url;
        let tabs = tabs_opened_by(hands);
        // What was said before the input is no effect of it.
        while hands.events.try_recv().is_ok() {}
        Ok(Self { token, url, tabs, began: Instant::now() })
    }

    /// Waits until what the input caused has settled, and says what came of it.
    pub async fn end(
        self,
        hands: &mut Hands,
        input: Result<(), PageError>,
    ) -> Result<Outcome, TabError> {
        match input {
            Ok(()) | Err(PageError::DialogOpen | PageError::Navigated { .. } | PageError::Gone) => {
            }
            Err(error) => return Err(error.into()),
        }
        let mut seen = Seen::default();
        let until = self.began + LONGEST.min(hands.left());
        loop {
            self.listen(hands, &mut seen, Instant::now() + LOOK_EVERY).await?;
            if seen.gone {
                return closed(hands);
            }
            if seen.dialog.is_some() {
                break;
            }
            let peeked = self.peek(hands).await;
            let now = Instant::now();
            match peeked {
                Ok(Peeked::Ok { changes, .. }) => seen.note_changes(changes),
                Ok(Peeked::Gone) | Err(PageError::Navigated { .. }) => seen.new_document = true,
                // Its words are on their way, or came before the input.
                Err(PageError::DialogOpen) => {
                    seen.dialog = open_dialog(hands);
                    if now < until {
                        continue;
                    }
                }
                Err(PageError::Gone) => seen.gone = true,
                Err(error) => return Err(unclear(error)),
            }
            let quiet = match seen.changed.max(seen.said) {
                None => now >= self.began + QUIET,
                Some(last) => now >= last + AFTERMATH,
            };
            if now >= until || (quiet && seen.is_answered()) {
                break;
            }
        }
        self.sum_up(hands, seen).await
    }

    /// Takes in what the page says until `when`.
    async fn listen(
        &self,
        hands: &mut Hands,
        seen: &mut Seen,
        when: Instant,
    ) -> Result<(), TabError> {
        let _rest = Arc::clone(&hands.page).rest();
        loop {
            let event = tokio::select! {
                biased;
                event = hands.events.recv() => event,
                () = sleep_until(when) => return Ok(()),
            };
            let Some(event) = event else {
                // The tab is going; its cut is on the way.
                sleep_until(when).await;
                return Ok(());
            };
            seen.take(event, &self.url);
            if seen.dialog.is_some() || seen.gone {
                return Ok(());
            }
        }
    }

    /// Looks at the page, once no navigation is under way.
    async fn peek(&self, hands: &Hands) -> Result<Peeked, PageError> {
        if let Err(error) = hands.page.settled(hands.left()).await {
            // A navigation that led nowhere leaves the page as it was.
            if !matches!(error, PageError::Unreachable { .. } | PageError::Navigated { .. }) {
                return Err(error);
            }
        }
        self.ask(hands, "watch_peek").await
    }

    async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        hands: &Hands,
        function: &'static str,
    ) -> Result<T, PageError> {
        let argument = json!({ "token": self.token }).to_string();
        let raw = hands.page.call(function, &argument, hands.left()).await?;
        parse(&raw).map_err(|error| PageError::Refused {
            what: "a look at the page",
            why: unreadable(error).to_string(),
        })
    }

    async fn sum_up(self, hands: &Hands, seen: Seen) -> Result<Outcome, TabError> {
        if let Some(dialog) = seen.dialog {
            return Ok(Outcome { kind: OutcomeKind::DialogOpen, delta: vec![dialog] });
        }
        let changes = match self.ask(hands, "watch_end").await {
            Ok(Watched::Ok(changes)) => Some(changes),
            Ok(Watched::Gone) | Err(PageError::Navigated { .. }) => None,
            Err(PageError::DialogOpen) => {
                let dialog = open_dialog(hands).unwrap_or_else(|| "a dialog is open".into());
                return Ok(Outcome { kind: OutcomeKind::DialogOpen, delta: vec![dialog] });
            }
            Err(error) => return Err(unclear(error)),
        };
        let place = hands.page.location().await.map_err(unclear)?;
        let navigated = place.url != self.url || seen.new_document || changes.is_none();
        let Changes { background, .. } = changes.clone().unwrap_or_default();
        let opened = self.new_tabs(hands);
        let mut delta = opened.clone();
        if navigated {
            delta.push(format!("now at {} '{}'", place.url, place.title));
        }
        let (elsewhere, sent): (Vec<_>, Vec<_>) =
            seen.sent.into_iter().partition(|sent| sent.elsewhere);
        delta.extend(sent.iter().map(Sent::line));
        let told = changes.map(|changes| Changes { url: None, ..changes }.lines());
        let told = told.unwrap_or_default();
        let kind = if !opened.is_empty() {
            OutcomeKind::NewTab
        } else if navigated {
            OutcomeKind::Navigated
        } else if !told.is_empty() || !sent.is_empty() {
            OutcomeKind::Changed
        } else {
            OutcomeKind::NoEffect
        };
        delta.extend(told);
        let elsewhere = elsewhere.iter().map(Sent::line);
        let background = background.into_iter().chain(seen.pings).chain(elsewhere);
        delta.extend(background.map(|line| format!("background: {line}")));
        Ok(Outcome { kind, delta })
    }

    /// A popup is announced by the browser a moment after the input; it is known to the books when
    /// the session has taken it in.
    fn new_tabs(&self, hands: &Hands) -> Vec<String> {
        let new = |hands: &Hands| -> Vec<TabId> {
            let mut new: Vec<_> = tabs_opened_by(hands).difference(&self.tabs).copied().collect();
            new.sort();
            new
        };
        let url = |tab: &TabId| {
            let note = hands.world.books.tabs.get(tab);
            note.map(|note| note.url.clone()).unwrap_or_default()
        };
        new(hands).iter().map(|tab| format!("{tab} opened: {}", url(tab))).collect()
    }
}

impl Seen {
    fn take(&mut self, event: PageEvent, here: &str) {
        match event {
            PageEvent::Navigated { same_document, .. } => {
                self.new_document |= !same_document;
            }
            PageEvent::DialogOpened(dialog) => {
                self.dialog = Some(told(&dialog));
            }
            PageEvent::Sent { kind: RequestKind::Ping, method, url } => {
                self.pings.push(format!("{method} {} (beacon)", path_of(&url)));
                return;
            }
            PageEvent::Sent { method, url, .. } => {
                let elsewhere = is_elsewhere(&url, here);
                self.sent.push(Sent { method, url, status: None, elsewhere });
                if elsewhere {
                    return;
                }
            }
            PageEvent::Answered { method, url, status } => {
                let waits = |sent: &&mut Sent| {
                    sent.status.is_none() && (&sent.method, &sent.url) == (&method, &url)
                };
                let Some(sent) = self.sent.iter_mut().find(waits) else { return };
                sent.status = Some(status);
                if sent.elsewhere {
                    return;
                }
            }
            PageEvent::DialogClosed => self.dialog = None,
            PageEvent::Gone => self.gone = true,
            PageEvent::Crashed => return,
        }
        self.said = Some(Instant::now());
    }

    /// The count goes down when what was counted turns out to run by itself.
    fn note_changes(&mut self, changes: u32) {
        if changes == 0 {
            self.changed = None;
        } else if changes > self.changes {
            self.changed = Some(Instant::now());
        }
        self.changes = changes;
    }

    fn is_answered(&self) -> bool {
        self.sent.iter().all(|sent| sent.elsewhere || sent.status.is_some())
    }
}

impl Sent {
    fn line(&self) -> String {
        let status =
            self.status.map_or_else(|| "no answer yet".into(), |status| status.to_string());
        let whither = if self.elsewhere { self.url.clone() } else { path_of(&self.url) };
        format!("{} {whither} → {status}", self.method)
    }
}

/// Returns what is open over the page, as far as the tab has heard.
fn open_dialog(hands: &Hands) -> Option<String> {
    hands.world.books.tabs.get(&hands.id).and_then(|note| note.dialog.as_ref().map(told))
}

fn told(Dialog { kind, message }: &Dialog) -> String {
    format!("{kind} open: {message}")
}

/// After the input, a page that goes on but does not answer well leaves the effect unknown.
pub fn unclear(error: PageError) -> TabError {
    match TabError::from(error) {
        open @ TabError::DialogOpen { .. } => open,
        error if error.fate() == JobEnd::Alive => TabError::InDoubt { what: "the input".into() },
        fatal => fatal,
    }
}

fn is_elsewhere(url: &str, here: &str) -> bool {
    let (url, here) = (url::Url::parse(url), url::Url::parse(here));
    url.is_ok_and(|url| here.is_ok_and(|here| !same_site(&url, &here)))
}

fn path_of(url: &str) -> String {
    url::Url::parse(url).map_or_else(|_| url.to_owned(), |url| url.path().to_owned())
}

/// A popup that a press closes is what the press did. Any other page may have been closed by
/// somebody else, before it took the press.
fn closed(hands: &Hands) -> Result<Outcome, TabError> {
    let popup = hands.world.books.tabs.get(&hands.id).is_some_and(|note| note.opener.is_some());
    if !popup {
        return Err(TabError::TargetGone);
    }
    let delta = vec![format!("{} is closed", hands.id)];
    Ok(Outcome { kind: OutcomeKind::Changed, delta })
}

fn tabs_opened_by(hands: &Hands) -> HashSet<TabId> {
    let opened = hands.world.books.tabs.iter().filter(|note| note.opener == Some(hands.id));
    opened.map(|note| *note.key()).collect()
}
