//! Answers: how the runtime's words become those of the control protocol.

use serde_json::json;

use crate::app::Told;
use crate::control::answer::{Answer, Failure};
use crate::messages::address::AskError;
use crate::messages::session::SessionError;
use crate::messages::tab::{Acted, Landed, TabError};
use crate::ports::page::Unreachable;

/// Ends a verb with a usage error.
pub fn usage<T>(message: impl Into<String>) -> Told<T> {
    Err(Box::new(Answer::failed(2, Failure::new("usage", message))))
}

/// Ends a verb with trouble of the daemon or what it stands on.
pub fn trouble<T>(kind: &str, message: impl Into<String>) -> Told<T> {
    Err(Box::new(Answer::failed(4, Failure::new(kind, message))))
}

pub fn session_failed(error: &SessionError) -> Box<Answer> {
    let message = error.to_string();
    let (exit, kind) = match error {
        SessionError::NoTab(_) => (1, "not_found"),
        SessionError::Owned(..) | SessionError::NotOurs => (1, "refused"),
        SessionError::Browser(_) => (4, "browser"),
        SessionError::Store(_) => (4, "store"),
    };
    Box::new(Answer::failed(exit, Failure::new(kind, message)))
}

pub fn not_answered(who: &str, error: AskError) -> Box<Answer> {
    Box::new(Answer::failed(4, Failure::new("daemon", format!("{who}: {error}"))))
}

/// A tab's refusal, in the words of the contract.
pub fn tab_failed(error: &TabError) -> Box<Answer> {
    let mut answer = Answer::acted(error.kind(), error.to_string()).with_hint(error.hint());
    if let TabError::Held { id, .. } = error {
        answer = answer.with_hint(format!("`strawmanus approve {id}`, or `strawmanus deny {id}`"));
    }
    match error {
        TabError::Held { id, what, url, judgement } => {
            answer.data = json!({
                "hold": { "id": id.to_string(), "what": what, "url": url, "why": judgement.why }
            });
        }
        TabError::Unreachable { why, .. } => {
            answer.outcome = None;
            if let Some(failure) = &mut answer.error {
                failure.kind = unreachable_kind(*why).to_owned();
            }
        }
        TabError::Ambiguous { fits, .. } => answer.data = json!({ "fits": fits }),
        _ => {}
    }
    Box::new(answer)
}

fn unreachable_kind(why: Unreachable) -> &'static str {
    match why {
        Unreachable::DnsFailed => "dns_failed",
        Unreachable::ConnectionRefused => "connection_refused",
        Unreachable::TlsFailed => "tls_failed",
        Unreachable::EmptyReply => "empty_reply",
        Unreachable::BadUrl => "bad_url",
        Unreachable::Aborted => "aborted",
        Unreachable::Other => "unreachable",
    }
}

/// Where a navigation ended. A refusing site is a failure, although a page is shown.
pub fn landed(landed: &Landed) -> Answer {
    let Landed { url, title, status, .. } = landed;
    let text = match status {
        Some(status) if *status != 200 => format!("{url} '{title}' (HTTP {status})"),
        _ => format!("{url} '{title}'"),
    };
    let data = json!({ "url": url, "title": title, "status": status });
    let mut answer = Answer::told(text, data);
    answer.outcome = Some("navigated".into());
    if let Some(status) = status.filter(|status| *status >= 400) {
        answer.exit = 1;
        let failure = Failure::new("http_error", format!("the site answered HTTP {status}"));
        answer.error = Some(failure.hint("check the address; `observe` shows the page that came"));
    }
    answer
}

/// What an action came to.
pub fn acted(acted: &Acted) -> Answer {
    let Acted { outcome, what, url, judgement, allowed, approved, value } = acted;
    let text = format!("{}: {what}", outcome.kind.word());
    let mut data = json!({
        "what": what,
        "url": url,
        "class": judgement.class,
        "allowed": allowed,
    });
    if let Some(id) = approved {
        data["approved"] = json!(id.to_string());
    }
    if let Some(value) = value {
        data["value"] = serde_json::from_str(value).unwrap_or_default();
    }
    Answer::acted(outcome.kind, text).with_data(data).with_delta(outcome.delta.clone())
}
