//! `mail.localhost`: an inbox, a form to write, drafts, and what was sent.
use serde::Deserialize;

use crate::practice::exchange::{Asked, Reply};
use crate::practice::template::{Html, fill};

const INBOX: &str = include_str!("site/mail/inbox.html");
const MESSAGE: &str = include_str!("site/mail/message.html");
const COMPOSE: &str = include_str!("site/mail/compose.html");
const MESSAGES: &str = include_str!("site/mail/messages.toml");

#[derive(Debug, Deserialize)]
struct Message {
    id: usize,
    from: String,
    address: String,
    subject: String,
    date: String,
    body: String,
    #[serde(default)]
    unread: bool,
}

#[derive(Debug, Clone, Default)]
struct Written {
    to: String,
    subject: String,
    body: String,
}

/// The mailbox; one for all who look.
#[derive(Debug, Deserialize)]
pub struct Mail {
    #[serde(rename = "message")]
    messages: Vec<Message>,
    #[serde(skip)]
    sent: Vec<Written>,
    #[serde(skip)]
    drafts: Vec<Written>,
}

impl Mail {
    pub fn load() -> Result<Self, toml::de::Error> {
        toml::from_str(MESSAGES)
    }

    /// The links at the top.
    pub fn nav(&self) -> Html {
        let links = r#"<a href="/">Inbox</a><a href="/compose">New message</a><a href="/drafts">Drafts ({{drafts}})</a><a href="/sent">Sent ({{sent}})</a>"#;
        let number = |list: &Vec<Written>| Html::text(&list.len().to_string());
        fill(links, &[("drafts", &number(&self.drafts)), ("sent", &number(&self.sent))])
    }

    /// Returns title and content of the page that a GET asks for. Opening a message marks it read.
    pub fn page(&mut self, asked: &Asked) -> Option<(String, Html)> {
        match asked.path.as_str() {
            "/" => Some(("Inbox · Postbox".into(), self.inbox())),
            "/compose" => Some(("New message · Postbox".into(), self.compose(asked))),
            "/sent" => Some(("Sent · Postbox".into(), written("Sent", "/sent", &self.sent))),
            "/drafts" => {
                Some(("Drafts · Postbox".into(), written("Drafts", "/compose", &self.drafts)))
            }
            path => self.message(path.strip_prefix("/messages/")?.parse().ok()?),
        }
    }

    /// Takes what was written; returns where to look next.
    pub fn post(&mut self, asked: &Asked) -> Option<Reply> {
        let written = Written {
            to: asked.field("to"),
            subject: asked.field("subject"),
            body: asked.field("body"),
        };
        match asked.path.as_str() {
            "/send" => self.sent.push(written),
            "/drafts" => self.drafts.push(written),
            _ => return None,
        }
        Some(Reply::see_other(if asked.path == "/send" { "/sent" } else { "/drafts" }))
    }

    fn inbox(&self) -> Html {
        let row = r#"<tr class="{{class}}"><td>{{from}}</td><td><a href="/messages/{{id}}">{{subject}}</a></td><td class="soft">{{date}}</td></tr>"#;
        let rows = self.messages.iter().map(|message| {
            fill(
                row,
                &[
                    ("class", &Html::raw(if message.unread { "unread" } else { "read" })),
                    ("from", &Html::text(&message.from)),
                    ("id", &Html::text(&message.id.to_string())),
                    ("subject", &Html::text(&message.subject)),
                    ("date", &Html::text(&message.date)),
                ],
            )
        });
        list("Inbox", "From", rows.collect())
    }

    fn message(&mut self, id: usize) -> Option<(String, Html)> {
        let message = self.messages.iter_mut().find(|message| message.id == id)?;
        message.unread = false;
        let main = fill(
            MESSAGE,
            &[
                ("subject", &Html::text(&message.subject)),
                ("from", &Html::text(&message.from)),
                ("address", &Html::text(&message.address)),
                ("date", &Html::text(&message.date)),
                ("body", &Html::text(message.body.trim())),
            ],
        );
        Some((format!("{} · Postbox", message.subject), main))
    }

    /// `?n=2` continues the second draft.
    fn compose(&self, asked: &Asked) -> Html {
        let number: usize = asked.param("n").parse().unwrap_or_default();
        let draft = number.checked_sub(1).and_then(|at| self.drafts.get(at));
        let Written { to, subject, body } = draft.cloned().unwrap_or_default();
        fill(
            COMPOSE,
            &[
                ("to", &Html::text(&to)),
                ("subject", &Html::text(&subject)),
                ("body", &Html::text(&body)),
            ],
        )
    }
}

/// Messages that were written here, each a link to `target`.
fn written(heading: &str, target: &str, messages: &[Written]) -> Html {
    let row = r#"<tr><td>{{to}}</td><td><a href="{{target}}?n={{n}}">{{subject}}</a></td><td class="soft">today</td></tr>"#;
    let rows = messages.iter().enumerate().map(|(at, message)| {
        let subject = if message.subject.is_empty() { "(no subject)" } else { &message.subject };
        fill(
            row,
            &[
                ("to", &Html::text(&message.to)),
                ("target", &Html::text(target)),
                ("n", &Html::text(&(at + 1).to_string())),
                ("subject", &Html::text(subject)),
            ],
        )
    });
    list(heading, "To", rows.collect())
}

fn list(heading: &str, who: &str, rows: Html) -> Html {
    let empty = rows == Html::default();
    let notice = if empty { r#"<p class="soft">There is nothing here.</p>"# } else { "" };
    fill(
        INBOX,
        &[
            ("heading", &Html::text(heading)),
            ("notice", &Html::raw(notice)),
            ("who", &Html::text(who)),
            ("rows", &rows),
        ],
    )
}
