//! The calls that look around: tabs, extracts, the console, pictures.

use crate::actors::orchestrator::deeds::Deed;
use crate::actors::orchestrator::worker::{GRACE, Worker};
use crate::domain::ids::TabId;
use crate::domain::page::excerpt::excerpt;
use crate::domain::tool::{TabsAction, ToolCall};
use crate::messages::session::SessionMsg;
use crate::messages::tab::{Picture, PictureOrder, TabError, TabMsg};
use crate::ports::page::{ConsoleLine, ConsoleLines};

/// Characters of an extract, unless the call says how many.
const EXTRACT: u32 = 8_000;
/// The most that a call may ask for.
const MOST: u32 = 24_000;

impl Worker {
    pub async fn look_around(&mut self, call: &ToolCall, deed: &mut Deed) -> Result<(), TabError> {
        match call {
            ToolCall::Extract { query, schema, max_chars } => {
                self.observe().await?;
                let most = max_chars.unwrap_or(EXTRACT).clamp(200, MOST);
                let page = self.newest.as_ref().map(|page| page.markdown()).unwrap_or_default();
                let text = excerpt(page, query, most as usize);
                let mut lines = vec![format!("of {}:", self.url())];
                if schema.is_some() {
                    let rule = "fill your schema from this text; each value must stand in it";
                    lines.push(rule.to_owned());
                }
                lines.extend(text.lines().map(str::to_owned));
                deed.done("extracted", lines)
            }
            ToolCall::Tabs { action, url, tab } => {
                self.tabs(*action, (url.as_deref(), *tab), deed).await
            }
            ToolCall::ConsoleView { max_lines } => self.console(*max_lines, deed).await,
            ToolCall::Screenshot { index, full_page, marks } => {
                let target = index.as_ref().map(|index| self.indexed(index)).transpose()?;
                let order = PictureOrder { target, full_page: *full_page, marks: *marks };
                self.picture(order, deed).await
            }
            ToolCall::Restart { url } => {
                self.restart(None).await?;
                self.navigate(url, deed).await
            }
            _ => Err(TabError::Refused { why: "this call looks at nothing".into() }),
        }
    }

    async fn console(&mut self, most: u32, deed: &mut Deed) -> Result<(), TabError> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let ask = |reply| TabMsg::Console { most, reply };
        let ConsoleLines { lines, dropped } = self.ask(GRACE, ask).await?;
        let mut told: Vec<_> = lines.iter().map(ConsoleLine::to_string).collect();
        if dropped > 0 {
            told.insert(0, format!("{dropped} older lines are kept no longer"));
        }
        if told.is_empty() {
            told.push("the console is empty".into());
        }
        deed.done("listed", told)
    }

    /// Takes a picture, and keeps it in the run's folder.
    async fn picture(&mut self, order: PictureOrder, deed: &mut Deed) -> Result<(), TabError> {
        let patience = self.order.limits.action_time;
        let Picture { png, width, height, cut } =
            self.ask(patience, |reply| TabMsg::Picture { order, patience, reply }).await?;
        let stamp = self.world.clock.now().strftime("%H%M%S%.3f").to_string();
        let name = format!("screenshots/{}.png", stamp.replace('.', "-"));
        let kept = self.world.files.write(&self.order.folder.join(&name), &png).await;
        kept.map_err(|error| TabError::Refused { why: error.to_string() })?;
        let mut lines = vec![format!("{width} x {height} pixels, kept as {name}")];
        if cut {
            lines.push("the page is longer than a picture can be: it was cut".into());
        }
        deed.picture = Some(name);
        deed.done("pictured", lines)
    }

    /// Starts the browser again; `headed` also gives it a window.
    pub async fn restart(&mut self, headed: Option<bool>) -> Result<(), TabError> {
        self.forget_filled();
        self.ask_session(|reply| SessionMsg::Restart { headed, reply }).await?;
        self.observe().await
    }

    /// Whether the session's browser has no window.
    pub fn is_headless(&self) -> bool {
        let note = self.world.books.sessions.get(&self.order.session);
        note.is_some_and(|note| note.spec.headless && note.spec.endpoint.is_none())
    }

    async fn tabs(
        &mut self,
        action: TabsAction,
        (url, tab): (Option<&str>, Option<TabId>),
        deed: &mut Deed,
    ) -> Result<(), TabError> {
        match action {
            TabsAction::List => deed.done("listed", self.tab_lines()),
            TabsAction::New => {
                let opened = self.new_tab().await?;
                self.openers.extend(self.tab.replace(opened));
                match url {
                    Some(url) => self.navigate(url, deed).await,
                    None => deed.done("new_tab", vec![format!("{opened} opened")]),
                }
            }
            TabsAction::Switch => {
                let wanted = self.own(tab)?;
                self.openers.retain(|other| *other != wanted);
                self.openers.extend(self.tab.replace(wanted));
                deed.done("changed", vec![format!("now in {wanted}")])
            }
            TabsAction::Close => {
                let closed = match tab {
                    Some(_) => self.own(tab)?,
                    None => self.tab.ok_or(TabError::TargetGone)?,
                };
                if self.own_tabs().len() == 1 {
                    let why = "it is the run's only tab; navigate in it instead".into();
                    return Err(TabError::Refused { why });
                }
                self.ask_session(|reply| SessionMsg::CloseTab { tab: closed, reply }).await?;
                self.openers.retain(|other| *other != closed);
                if self.tab == Some(closed) {
                    self.tab = self.openers.pop().or_else(|| self.own_tabs().last().copied());
                }
                deed.done("changed", vec![format!("{closed} is closed")])
            }
        }
    }

    /// A tab of the run's own; the person's and other runs' are not touched.
    fn own(&self, tab: Option<TabId>) -> Result<TabId, TabError> {
        let own = self.own_tabs();
        tab.filter(|tab| own.contains(tab)).ok_or_else(|| {
            let own = own.iter().map(TabId::to_string).collect::<Vec<_>>().join(", ");
            TabError::Refused { why: format!("that is no tab of this run; its tabs are {own}") }
        })
    }

    fn tab_lines(&self) -> Vec<String> {
        let line = |tab: TabId| {
            let note = self.world.books.tabs.get(&tab)?;
            let here = if self.tab == Some(tab) { " (here)" } else { "" };
            Some(format!("{tab}{here} {} '{}'", note.url, note.title))
        };
        self.own_tabs().into_iter().filter_map(line).collect()
    }
}
