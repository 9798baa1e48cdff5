//! Which requests may have an effect, told in a bounded number of events.
use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use tokio::time::Instant;

use crate::ports::page::{PageEvent, RequestKind};

/// Requests that wait for their answer; the oldest is forgotten first.
const WAITING: usize = 256;
/// Events told in one window; a page that sends more is not told about further.
const TOLD: usize = 100;
const WINDOW: Duration = Duration::from_secs(1);

/// The requests with an effect that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct Requests {
    waiting: Vec<Waiting>,
    window: Option<Instant>,
    told: usize,
}

#[derive(Debug)]
struct Waiting {
    id: String,
    method: String,
    url: String,
    told: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WillBeSent<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(borrow)]
    request: Request<'a>,
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    redirect_response: Option<Response<'a>>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    method: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Received<'a> {
    #[serde(borrow)]
    pub request_id: Cow<'a, str>,
    #[serde(borrow)]
    pub frame_id: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    pub kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub response: Response<'a>,
}

#[derive(Deserialize)]
pub(super) struct Response<'a> {
    pub status: u16,
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Failed<'a> {
    #[serde(borrow)]
    pub request_id: Cow<'a, str>,
    #[serde(borrow)]
    pub error_text: Cow<'a, str>,
}

impl Requests {
    /// A request begins, or goes on after a redirect, which is an answer as well.
    pub fn sent(&mut self, sent: &WillBeSent<'_>, now: Instant) -> Vec<PageEvent> {
        let redirected = sent.redirect_response.as_ref();
        let answered = redirected.and_then(|answer| self.take(&sent.request_id, answer, now));
        let harmless = matches!(&*sent.request.method, "GET" | "HEAD" | "OPTIONS");
        let begun = if harmless { None } else { self.begin(sent, now) };
        answered.into_iter().chain(begun).collect()
    }

    fn begin(&mut self, sent: &WillBeSent<'_>, now: Instant) -> Option<PageEvent> {
        let (method, url) = (sent.request.method.to_string(), sent.request.url.to_string());
        let same = |waiting: &Waiting| waiting.method == method && waiting.url == url;
        let told = !self.waiting.iter().any(same) && self.may_tell(now);
        if self.waiting.len() == WAITING {
            self.waiting.remove(0);
        }
        let id = sent.request_id.to_string();
        self.waiting.push(Waiting { id, method: method.clone(), url: url.clone(), told });
        let kind = match sent.kind.as_deref() {
            Some("Document") => RequestKind::Document,
            Some("Fetch" | "XHR") => RequestKind::Fetch,
            Some("Ping" | "CSPViolationReport") => RequestKind::Ping,
            _ => RequestKind::Other,
        };
        told.then_some(PageEvent::Sent { method, url, kind })
    }

    pub fn received(&mut self, received: &Received<'_>, now: Instant) -> Option<PageEvent> {
        self.take(&received.request_id, &received.response, now)
    }

    fn take(&mut self, id: &str, response: &Response<'_>, now: Instant) -> Option<PageEvent> {
        let Waiting { method, url, told, .. } = self.remove(id)?;
        let url = response.url.as_ref().map_or(url, |url| url.to_string());
        let tells = told && self.may_tell(now);
        tells.then_some(PageEvent::Answered { method, url, status: response.status })
    }

    pub fn failed(&mut self, failed: &Failed<'_>) {
        self.remove(&failed.request_id);
    }

    fn remove(&mut self, id: &str) -> Option<Waiting> {
        let at = self.waiting.iter().position(|waiting| waiting.id == id)?;
        Some(self.waiting.remove(at))
    }

    fn may_tell(&mut self, now: Instant) -> bool {
        if self.window.is_none_or(|since| now.duration_since(since) >= WINDOW) {
            (self.window, self.told) = (Some(now), 0);
        }
        self.told += 1;
        self.told <= TOLD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(id: &str, method: &str, url: &str, redirect: Option<u16>) -> String {
        let redirect = redirect.map_or(String::new(), |status| {
            format!(r#","redirectResponse":{{"status":{status},"url":"http://a.test/first"}}"#)
        });
        format!(
            r#"{{"requestId":"{id}","type":"Document","request":{{"url":"{url}","method":"{method}"}}{redirect}}}"#
        )
    }

    fn tell(requests: &mut Requests, json: &str) -> Vec<PageEvent> {
        requests.sent(&serde_json::from_str(json).unwrap(), Instant::now())
    }

    #[tokio::test(start_paused = true)]
    async fn a_post_that_redirects_is_sent_once_and_answered_once() {
        let mut requests = Requests::default();
        assert_eq!(tell(&mut requests, &sent("1", "GET", "http://a.test/", None)), []);
        let first = tell(&mut requests, &sent("2", "POST", "http://a.test/first", None));
        let [PageEvent::Sent { method, kind, .. }] = &first[..] else { panic!("{first:?}") };
        assert_eq!((method.as_str(), *kind), ("POST", RequestKind::Document));
        let then = tell(&mut requests, &sent("2", "GET", "http://a.test/then", Some(303)));
        let (method, url) = ("POST".into(), "http://a.test/first".into());
        assert_eq!(then, [PageEvent::Answered { method, url, status: 303 }]);
        assert!(requests.waiting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_told_in_part_and_costs_bounded_memory() {
        let mut requests = Requests::default();
        let told: usize = (0..1000)
            .map(|n| {
                tell(&mut requests, &sent(&n.to_string(), "POST", &format!("u{n}"), None)).len()
            })
            .sum();
        assert_eq!((told, requests.waiting.len()), (TOLD, WAITING));
        tokio::time::advance(WINDOW).await;
        assert_eq!(tell(&mut requests, &sent("x", "POST", "again", None)).len(), 1);
        // The same once more, while the first waits, says nothing new.
        assert_eq!(tell(&mut requests, &sent("y", "POST", "again", None)).len(), 0);
        let failed = Failed { request_id: "x".into(), error_text: "".into() };
        requests.failed(&failed);
        assert!(!requests.waiting.iter().any(|waiting| waiting.id == "x"));
    }
}
