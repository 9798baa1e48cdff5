//! What a tab's job works with: the page, what it says meanwhile, and one deadline for the whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::actors::tab::timed::Timed;
use crate::actors::world::World;
use crate::domain::ids::TabId;
use crate::domain::page::numbering::Meaning;
use crate::domain::page::observation::{Observation, View};
use crate::domain::page::tree::{DocumentId, NodeKey};
use crate::domain::target::Target;
use crate::messages::perception::PerceptionMsg;
use crate::messages::tab::{Generation, Landed, Question, TabError, Until};
use crate::perception::answers::{Got, Resolved};
use crate::perception::decode::parse;
use crate::ports::page::{Landing, Page, PageError, PageEvent};

/// How often a wait looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long the news of a landing may take after the landing.
const HEARING: Duration = Duration::from_millis(100);

/// Made anew for every job; dropped with it.
pub struct Hands {
    pub id: TabId,
    pub world: World,
    pub page: Arc<Timed>,
    pub events: mpsc::UnboundedReceiver<PageEvent>,
    /// Of the tab.
    incarnation: u32,
    deadline: Instant,
    dispatched: Flag,
}

/// Whether input has left for the page: from then on an act that got no answer is in doubt.
#[derive(Clone, Default)]
pub struct Flag(Arc<AtomicBool>);

impl Flag {
    pub fn set(&self) {
        self.0.store(true, Relaxed);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// A node that a target led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub document: DocumentId,
    pub key: NodeKey,
    /// Such as `button "Send"`.
    pub label: String,
}

impl Hands {
    pub fn new(
        (id, incarnation): (TabId, u32),
        (world, page): (&World, &Arc<Timed>),
        events: mpsc::UnboundedReceiver<PageEvent>,
        patience: Duration,
    ) -> Self {
        let deadline = Instant::now() + patience;
        let (world, page) = (world.clone(), Arc::clone(page));
        Self { id, world, page, events, incarnation, deadline, dispatched: Flag::default() }
    }

    pub fn dispatched(&self) -> Flag {
        self.dispatched.clone()
    }

    /// Returns what is left of the job's patience.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    pub async fn navigate(&mut self, url: &str) -> Result<Landed, TabError> {
        self.may_go(url).await?;
        let landing = self.page.navigate(url, self.left()).await?;
        // The tab counts its landings by what the page says; that may be a moment behind.
        let _ = timeout(HEARING, self.hear_of_landing()).await;
        Ok(self.landed(landing))
    }

    async fn hear_of_landing(&mut self) {
        let _rest = self.page.rest();
        while let Some(event) = self.events.recv().await {
            if matches!(event, PageEvent::Navigated { .. }) {
                return;
            }
        }
    }

    fn landed(&self, Landing { url, title, status }: Landing) -> Landed {
        let landing = self.world.books.note_tab(self.id, |note| {
            (note.url, note.title) = (url.clone(), title.clone());
            note.landings
        });
        let incarnation = self.incarnation;
        let generation = Generation { incarnation, landing: landing.unwrap_or_default() };
        Landed { url, title, status, generation }
    }

    pub async fn observe(&self, view: View) -> Result<Observation, TabError> {
        let raw = self.page.call("walk", "{}", self.left()).await?;
        let note = self.world.books.tabs.get(&self.id).map(|note| note.clone());
        let note = note.ok_or(TabError::TargetGone)?;
        let tabs = self.world.books.tabs_of(&note.session).len();
        let numbering = Box::new(note.numbering);
        let perception = self.world.doors.perceptions.find(&self.id).ok_or(TabError::TargetGone)?;
        let ask = |reply| PerceptionMsg::Render { raw, view, tabs, numbering, reply };
        let rendered = perception.ask(ask, self.left()).await;
        let rendered = rendered
            .map_err(|error| TabError::Refused { why: format!("the page was not read: {error}") })?
            .map_err(|error| TabError::Refused { why: error.to_string() })?;
        self.world.books.note_tab(self.id, |note| {
            note.numbering = rendered.numbering;
            note.title.clone_from(&rendered.observation.title);
        });
        Ok(rendered.observation)
    }

    pub async fn get(&self, question: Question) -> Result<String, TabError> {
        let (what, target, name) = match question {
            Question::Url => return Ok(self.page.location().await?.url),
            Question::Title => return Ok(self.page.location().await?.title),
            Question::Count { target } => {
                let argument = self.aimed(&target)?.to_string();
                return Ok(self.page.call("count", &argument, self.left()).await?);
            }
            Question::Text { target } => ("text", target, None),
            Question::Html { target } => ("html", target, None),
            Question::Value { target } => ("value", Some(target), None),
            Question::Attribute { target, name } => ("attribute", Some(target), Some(name)),
            Question::Bounds { target } => ("bounds", Some(target), None),
        };
        let argument = match target {
            None => json!({ "what": what, "name": name }),
            Some(target) => {
                let Found { document, key, .. } = self.resolve(&target).await?;
                json!({ "what": what, "name": name, "document": document, "key": key })
            }
        };
        let raw = self.page.call("get", &argument.to_string(), self.left()).await?;
        match parse::<Got>(&raw).map_err(unreadable)? {
            Got::Ok { value } => Ok(value.unwrap_or_default()),
            Got::Gone => Err(TabError::Stale { id: "the element".into() }),
        }
    }

    /// Waits by looking: a page that hangs or navigates meanwhile is looked at again.
    pub async fn wait(&self, until: Until) -> Result<(), TabError> {
        loop {
            if self.holds(&until).await? {
                return Ok(());
            }
            self.page.pause(LOOK_EVERY).await;
        }
    }

    async fn holds(&self, until: &Until) -> Result<bool, TabError> {
        let (function, argument, wanted) = match until {
            Until::Url { words } => return Ok(self.page.location().await?.url.contains(words)),
            Until::Text { words } => ("text_has", json!({ "words": words }), true),
            Until::Visible { target } => ("visible", self.aimed(target)?, true),
            Until::Gone { target } => match self.aimed(target) {
                Ok(target) => ("visible", target, false),
                Err(TabError::Stale { .. }) => return Ok(true),
                Err(error) => return Err(error),
            },
        };
        match self.page.call(function, &argument.to_string(), self.left()).await {
            Ok(answer) => Ok((answer == "true") == wanted),
            // Between two documents nothing is shown; the next look sees the new one.
            Err(PageError::Navigated { .. }) => Ok(!wanted),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the one node that a target means now.
    pub async fn resolve(&self, target: &Target) -> Result<Found, TabError> {
        let argument = self.aimed(target)?.to_string();
        let raw = self.page.call("resolve", &argument, self.left()).await?;
        let words = target.to_string();
        match parse::<Resolved>(&raw).map_err(unreadable)? {
            Resolved::Ok { document, key, label } => Ok(Found { document, key, label }),
            Resolved::NotFound => Err(TabError::NotFound { target: words }),
            Resolved::Ambiguous { fits } => Err(TabError::Ambiguous { target: words, fits }),
            Resolved::Stale => Err(TabError::Stale { id: words }),
            Resolved::Invalid { why } => Err(TabError::Refused { why }),
        }
    }

    /// Returns a target as the page's library takes it: a number with the node that it means.
    fn aimed(&self, target: &Target) -> Result<serde_json::Value, TabError> {
        let Target::Element(id) = target else {
            return Ok(json!({ "target": target }));
        };
        let meaning = self.world.books.tabs.get(&self.id).map(|note| note.numbering.meaning(*id));
        match meaning {
            Some(Meaning::Node(document, key)) => {
                Ok(json!({ "target": target, "document": document, "key": key }))
            }
            Some(Meaning::Stale) => Err(TabError::Stale { id: id.to_string() }),
            Some(Meaning::Unknown) | None => Err(TabError::NotFound { target: id.to_string() }),
        }
    }
}

/// An answer of our own library that we cannot read is a bug of ours.
pub fn unreadable(error: impl std::fmt::Display) -> TabError {
    TabError::Refused { why: format!("the page's library answered what cannot be read: {error}") }
}
