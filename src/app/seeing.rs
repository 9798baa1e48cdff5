//! The verbs that look at a tab.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::app::browsing::target_of;
use crate::app::told::{landed, usage};
use crate::app::{Call, Told};
use crate::control::answer::Answer;
use crate::control::verbs::Reading;
use crate::domain::ids::TabId;
use crate::domain::page::observation::{Observation, View};
use crate::domain::target::Target;
use crate::messages::session::SessionMsg;
use crate::messages::tab::{Question, TabMsg, Until};

/// How long `wait` waits when nobody says.
const WAITING: Duration = Duration::from_secs(30);

impl Call<'_> {
    pub async fn observe(&self, url: Option<&str>) -> Told<Answer> {
        let (tab, mut answer) = match url {
            Some(url) => {
                let tab = self.tab_for(url).await?;
                (tab, landed(&self.navigate(tab, url).await?))
            }
            None => (self.tab_id().await?, Answer::default()),
        };
        let seen = self.view(tab, View::Payload).await?;
        answer.outcome = None;
        answer.data = shown(tab, &seen);
        // As much of the page as the agent's model is told.
        answer.text = seen.within(self.config.context.markdown.get() as usize * 3);
        Ok(answer)
    }

    pub async fn snapshot(
        &self,
        interactive_only: bool,
        viewport_only: bool,
        depth: Option<u32>,
    ) -> Told<Answer> {
        let tab = self.tab_id().await?;
        let view = View::Snapshot { interactive_only, viewport_only, depth };
        let seen = self.view(tab, view).await?;
        let data = shown(tab, &seen);
        Ok(Answer::told(seen.text, data))
    }

    pub async fn view(&self, tab: TabId, view: View) -> Told<Observation> {
        let observe = |patience, reply| TabMsg::Observe { view: view.clone(), patience, reply };
        self.ask_tab(tab, self.action_time(), observe).await
    }

    pub async fn get(
        &self,
        what: Reading,
        target: Option<&str>,
        name: Option<&str>,
    ) -> Told<Answer> {
        if what == Reading::CdpUrl {
            return self.cdp_url().await;
        }
        let target = target.map(|target| target_of(target, None)).transpose()?;
        let question = question(what, target, name)?;
        let tab = self.tab_id().await?;
        let get = |patience, reply| TabMsg::Get { question: question.clone(), patience, reply };
        let value = self.ask_tab(tab, self.action_time(), get).await?;
        let json = match what {
            Reading::Count | Reading::Box => serde_json::from_str(&value).unwrap_or_default(),
            _ => Value::String(value.clone()),
        };
        Ok(Answer::told(value, json!({ "value": json })))
    }

    async fn cdp_url(&self) -> Told<Answer> {
        let session = self.session().await?;
        let about = self.ask_session(&session, |reply| SessionMsg::Describe { reply }).await?;
        match about.endpoint {
            Some(url) => Ok(Answer::told(url.clone(), json!({ "value": url }))),
            None => usage("this browser has no debugging address for others"),
        }
    }

    pub async fn wait(
        &self,
        target: Option<&str>,
        gone: bool,
        (text, url_has): (Option<&str>, Option<&str>),
    ) -> Told<Answer> {
        let until = match (target, text, url_has) {
            (Some(target), ..) if gone => Until::Gone { target: target_of(target, None)? },
            (Some(target), ..) => Until::Visible { target: target_of(target, None)? },
            (None, Some(words), _) => Until::Text { words: words.to_owned() },
            (None, None, Some(words)) => Until::Url { words: words.to_owned() },
            (None, None, None) => return usage("say what to wait for; see `wait --help`"),
        };
        let tab = self.tab_id().await?;
        let patience = self.request.globals.timeout.map_or(WAITING, |timeout| timeout.0);
        let wait = |patience, reply| TabMsg::Wait { until: until.clone(), patience, reply };
        self.ask_tab(tab, patience, wait).await?;
        Ok(Answer::told("it is so", json!({})))
    }
}

fn question(what: Reading, target: Option<Target>, name: Option<&str>) -> Told<Question> {
    Ok(match (what, target) {
        (Reading::Url, _) => Question::Url,
        (Reading::Title, _) => Question::Title,
        (Reading::Text, target) => Question::Text { target },
        (Reading::Html, target) => Question::Html { target },
        (Reading::Value, Some(target)) => Question::Value { target },
        (Reading::Count, Some(target)) => Question::Count { target },
        (Reading::Box, Some(target)) => Question::Bounds { target },
        (Reading::Attr, Some(target)) => match name {
            Some(name) => Question::Attribute { target, name: name.to_owned() },
            None => return usage("name the attribute: `get attr TARGET NAME`"),
        },
        (Reading::Value | Reading::Count | Reading::Box | Reading::Attr, None) => {
            return usage("name the element: `get WHAT TARGET`");
        }
        (Reading::CdpUrl, _) => return usage("`get cdp-url` takes no target"),
    })
}

/// What programs read of an observation.
fn shown(tab: TabId, seen: &Observation) -> Value {
    let refs: Map<String, Value> = seen
        .elements
        .iter()
        .map(|element| {
            let about = json!({
                "role": element.role,
                "name": element.name,
                "box": element.bounds,
            });
            (element.id.to_string(), about)
        })
        .collect();
    json!({ "tab": tab, "url": seen.url, "title": seen.title, "text": seen.text, "refs": refs })
}
