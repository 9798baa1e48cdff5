//! The verbs that do something in a tab.

use std::time::Duration;

use serde_json::json;

use crate::app::told::{acted, landed, usage};
use crate::app::{Call, Told};
use crate::control::answer::Answer;
use crate::control::verbs::{DialogVerb, TabVerb};
use crate::domain::action::Action;
use crate::domain::address::address;
use crate::domain::ids::TabId;
use crate::domain::keys::Chord;
use crate::domain::run::Consent;
use crate::domain::target::Target;
use crate::messages::session::{Owner, SessionMsg, TabLine};
use crate::messages::tab::{Landed, Order, Question, TabMsg};

/// How long `tab list` waits for the title of a page that has none yet.
const TITLE: Duration = Duration::from_millis(200);
const BLANK: &str = "about:blank";

impl Call<'_> {
    pub async fn open(&self, url: &str) -> Told<Answer> {
        let tab = self.tab_for(url).await?;
        let answer = landed(&self.navigate(tab, url).await?);
        Ok(with_tab(answer, tab))
    }

    /// Checks the address before a browser is started for it.
    pub async fn tab_for(&self, url: &str) -> Told<TabId> {
        if let Err(error) = address(url) {
            return usage(error.to_string());
        }
        self.tab_id().await
    }

    pub async fn navigate(&self, tab: TabId, url: &str) -> Told<Landed> {
        let url = match address(url) {
            Ok(url) => url.to_string(),
            Err(error) => return usage(error.to_string()),
        };
        let navigate = |patience, reply| TabMsg::Navigate { url: url.clone(), patience, reply };
        self.ask_tab(tab, self.navigation_time(), navigate).await
    }

    pub async fn click(&self, target: &str, within: Option<&str>) -> Told<Answer> {
        let target = target_of(target, within)?;
        self.act(Action::Click { target }).await
    }

    pub async fn fill(
        &self,
        (target, within): (&str, Option<&str>),
        text: &str,
        press_enter: bool,
    ) -> Told<Answer> {
        let target = target_of(target, within)?;
        self.act(Action::Fill { target, text: text.to_owned(), press_enter }).await
    }

    pub async fn press(&self, chord: &str) -> Told<Answer> {
        match chord.parse::<Chord>() {
            Ok(chord) => self.act(Action::Press { chord }).await,
            Err(error) => usage(error.to_string()),
        }
    }

    async fn act(&self, action: Action) -> Told<Answer> {
        let tab = self.tab_id().await?;
        let consent = self.consent();
        let act = |patience, reply| {
            let order = Box::new(Order::new(action.clone(), consent.clone()));
            TabMsg::Act { order, patience, reply }
        };
        let done = self.ask_tab(tab, self.action_time(), act).await?;
        Ok(with_tab(acted(&done), tab))
    }

    pub fn consent(&self) -> Consent {
        let globals = &self.request.globals;
        Consent { auto_approve: globals.auto_approve, hosts: globals.allow.clone() }
    }

    pub async fn eval(&self, script: &str) -> Told<Answer> {
        let tab = self.tab_id().await?;
        let consent = self.consent();
        let evaluate = |patience, reply| {
            let (script, consent) = (script.to_owned(), consent.clone());
            TabMsg::Evaluate { script, consent, patience, reply }
        };
        let value = self.ask_tab(tab, self.action_time(), evaluate).await?;
        let json = serde_json::from_str::<serde_json::Value>(&value).unwrap_or_default();
        let text = json.as_str().map_or(value, str::to_owned);
        Ok(Answer::told(text, json!({ "value": json })))
    }

    pub async fn dialog(&self, action: &DialogVerb) -> Told<Answer> {
        let tab = self.tab_id().await?;
        let (accept, text) = match action {
            DialogVerb::Accept { text } => (true, text.clone()),
            DialogVerb::Dismiss {} => (false, None),
        };
        let consent = self.consent();
        let answer = |_, reply| {
            let (text, consent) = (text.clone(), consent.clone());
            TabMsg::AnswerDialog { accept, text, consent, reply }
        };
        let dialog = self.ask_tab(tab, self.action_time(), answer).await?;
        let done = if accept { "accepted" } else { "dismissed" };
        let text = format!("{done} the {}: {}", dialog.kind, dialog.message);
        Ok(Answer::told(text, json!({ "dialog": dialog, "accepted": accept })))
    }

    pub async fn tab(&self, action: &TabVerb) -> Told<Answer> {
        match action {
            TabVerb::List {} => self.tab_list().await,
            TabVerb::New { url } => self.tab_new(url.as_deref()).await,
            TabVerb::Switch { id } => {
                let session = self.session().await?;
                let switch = |reply| SessionMsg::SwitchTab { tab: *id, reply };
                self.ask_session(&session, switch).await?;
                Ok(Answer::told(format!("{id} is current"), json!({ "tab": id })))
            }
            TabVerb::Close { id } => self.tab_close(*id).await,
        }
    }

    async fn tab_list(&self) -> Told<Answer> {
        let name = self.session_name();
        let Some(session) = self.app.world.doors.sessions.find(&name) else {
            return Ok(Answer::told("no tabs", json!({ "tabs": [] })));
        };
        let mut tabs = self.ask_session(&session, |reply| SessionMsg::ListTabs { reply }).await?;
        for tab in tabs.iter_mut().filter(|tab| tab.title.is_empty() && tab.url != BLANK) {
            tab.title = self.title_of(tab.id).await;
        }
        let line = |tab: &TabLine| {
            let mark = if tab.active { "*" } else { " " };
            let run = match tab.owner {
                Owner::Shell => String::new(),
                Owner::Run(run) => format!(" (run {run})"),
            };
            format!("{mark} {} {} '{}'{run}", tab.id, tab.url, tab.title)
        };
        let text = tabs.iter().map(line).collect::<Vec<_>>().join("\n");
        let rows: Vec<_> = tabs
            .iter()
            .map(|tab| {
                let run = match tab.owner {
                    Owner::Shell => None,
                    Owner::Run(run) => Some(run.to_string()),
                };
                json!({
                    "id": tab.id, "title": tab.title, "url": tab.url, "active": tab.active,
                    "run": run,
                })
            })
            .collect();
        let text = if text.is_empty() { "no tabs".to_owned() } else { text };
        Ok(Answer::told(text, json!({ "tabs": rows })))
    }

    /// A page that came by itself, such as a popup, was not looked at yet.
    async fn title_of(&self, tab: TabId) -> String {
        let Some(tab) = self.app.world.doors.tabs.find(&tab) else {
            return String::new();
        };
        let (question, patience) = (Question::Title, TITLE);
        let asked = tab.ask(|reply| TabMsg::Get { question, patience, reply }, TITLE).await;
        // One that is busy is listed without.
        asked.ok().and_then(Result::ok).unwrap_or_default()
    }

    async fn tab_new(&self, url: Option<&str>) -> Told<Answer> {
        if let Some(Err(error)) = url.map(address) {
            return usage(error.to_string());
        }
        let session = self.session().await?;
        let new = |reply| SessionMsg::NewTab { url: None, owner: Owner::Shell, reply };
        let tab = self.ask_session(&session, new).await?;
        let answer = match url {
            Some(url) => landed(&self.navigate(tab, url).await?),
            None => Answer::told(format!("{tab} is open and current"), json!({})),
        };
        Ok(with_tab(answer, tab))
    }

    async fn tab_close(&self, id: Option<TabId>) -> Told<Answer> {
        let tab = match id.or(self.request.globals.tab) {
            Some(tab) => tab,
            None => self.tab_id().await?,
        };
        let session = self.session().await?;
        let close = |reply| SessionMsg::CloseTab { tab, reply };
        self.ask_session(&session, close).await?;
        Ok(Answer::told(format!("{tab} is closed"), json!({ "tab": tab })))
    }
}

/// Reads a TARGET of the contract, and where it is to be looked for.
pub fn target_of(target: &str, within: Option<&str>) -> Told<Target> {
    match target.parse::<Target>() {
        Ok(target) => match within.map(|words| target.clone().within(words)) {
            None => Ok(target),
            Some(Ok(narrowed)) => Ok(narrowed),
            Some(Err(error)) => usage(error.to_string()),
        },
        Err(error) => usage(error.to_string()),
    }
}

fn with_tab(mut answer: Answer, tab: TabId) -> Answer {
    answer.data["tab"] = json!(tab);
    answer
}
