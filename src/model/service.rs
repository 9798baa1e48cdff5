//! A model's service: where it is, its key, and how long it may take.
use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::Response;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use serde_json::Value;
use tokio::time::timeout;
use url::{Host, Url};

use crate::model::failure::{Complaint, Failure};
use crate::model::retry;
use crate::model::stream::{body, events, within};
use crate::model::wire::{Gather, Heard, Wire};
use crate::ports::model::ModelError;

/// A key to the service. Never shown.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into().trim().to_owned())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// How the service is reached from the caller's network.
#[derive(Debug, Clone, Copy, Default)]
pub struct Proxies<'a> {
    /// The address of the proxy for everything.
    pub all: Option<&'a str>,
    /// Hosts that are reached without it, as in `NO_PROXY`.
    pub none: Option<&'a str>,
}

/// How long a service may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How long it may send nothing.
    pub stall: Duration,
    /// How long one whole answer may take.
    pub whole: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { stall: Duration::from_secs(60), whole: Duration::from_secs(300) }
    }
}

/// A service that can be asked.
#[derive(Debug, Clone)]
pub(super) struct Service {
    client: reqwest::Client,
    endpoint: Url,
    pub wire: Wire,
    key: Option<Key>,
    pub patience: Patience,
}

impl Service {
    /// Makes ready to ask; sends nothing yet. A service on this machine needs no key.
    pub fn new(
        wire: Wire,
        base_url: &str,
        key: Option<Key>,
        proxies: Proxies<'_>,
    ) -> Result<Self, ModelError> {
        let endpoint = wire.endpoint(base_url)?;
        let key = key.filter(|key| !key.0.is_empty());
        if key.is_none() && !is_local(&endpoint) {
            return Err(ModelError::NoKey { variable: wire.key_variable() });
        }
        let client = client(&endpoint, proxies)?;
        Ok(Self { client, endpoint, wire, key, patience: Patience::default() })
    }

    /// Sends a request once, and listens to its answer.
    pub async fn ask(&self, request: &Value) -> Result<Heard, Failure> {
        let mut gathering = self.wire.gathering();
        let whole = self.patience.whole;
        match timeout(whole, self.hear(request, gathering.as_mut())).await {
            Ok(Ok(())) => Ok(gathering.heard()),
            Ok(Err(failure)) => Err(failure.costing(gathering.usage())),
            Err(_elapsed) => {
                let why = format!("it was not over after {} s", whole.as_secs());
                Err(Failure::broken_off(why).costing(gathering.usage()))
            }
        }
    }

    async fn hear(&self, request: &Value, gathering: &mut dyn Gather) -> Result<(), Failure> {
        let stall = self.patience.stall;
        let post = self.client.post(self.endpoint.clone()).headers(self.headers()?);
        let sent = post.body(request.to_string()).send();
        let response = within(stall, sent).await?.map_err(|error| Failure::unreachable(&error))?;
        let status = response.status().as_u16();
        if !response.status().is_success() {
            let asked = retry::asked(response.headers());
            let text = body(response, stall).await.unwrap_or_default();
            return Err(self.complain(Complaint::of_status(status, &text, asked), request));
        }
        if is_stream(&response) {
            return self.hear_events(response, gathering).await;
        }
        let text = body(response, stall).await?;
        let whole: Value = serde_json::from_str(&text)
            .map_err(|error| Failure::last(ModelError::Unreadable(error.to_string())))?;
        if let Some(error) = whole.get("error").filter(|error| !error.is_null()) {
            return Err(self.complain(Complaint::of_error(error, None), request));
        }
        gathering.take_whole(whole)
    }

    async fn hear_events(
        &self,
        response: Response,
        gathering: &mut dyn Gather,
    ) -> Result<(), Failure> {
        let mut events = events(response, self.patience.stall);
        while let Some(data) = events.next().await {
            let data = match data {
                Ok(data) => data,
                // What was said last was the end, whatever became of the connection.
                Err(_) if gathering.is_whole() => return Ok(()),
                Err(failure) => return Err(failure),
            };
            let parsed: Value = serde_json::from_str(&data).unwrap_or_default();
            if let Some(error) = parsed.get("error").filter(|error| !error.is_null()) {
                return Err(self.complain(Complaint::of_error(error, None), &Value::Null));
            }
            if gathering.take(&data)? == ControlFlow::Break(()) {
                break;
            }
        }
        if gathering.is_whole() {
            return Ok(());
        }
        Err(Failure::broken_off("it was closed before its end"))
    }

    fn complain(&self, complaint: Complaint, request: &Value) -> Failure {
        let spare = self.wire.spare_fields().iter().copied();
        let sent: Vec<_> = spare.filter(|field| has(request, field)).collect();
        let secret = self.key.as_ref().map(|key| key.0.as_str());
        complaint.failure(secret, self.wire.key_variable(), &sent)
    }

    fn headers(&self) -> Result<HeaderMap, Failure> {
        let json = HeaderValue::from_static("application/json");
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, json)]);
        if self.wire == Wire::Anthropic {
            let version = HeaderValue::from_static("2023-06-01");
            headers.insert(HeaderName::from_static("anthropic-version"), version);
        }
        if let Some(Key(key)) = &self.key {
            let (name, value) = match self.wire {
                Wire::Anthropic => (HeaderName::from_static("x-api-key"), key.clone()),
                Wire::OpenAi => (AUTHORIZATION, format!("Bearer {key}")),
            };
            // A key of characters that no header takes is none that the service gave.
            let denied = |_| {
                let variable = self.wire.key_variable();
                Failure::last(ModelError::Denied { status: 401, variable })
            };
            let mut value = HeaderValue::from_str(&value).map_err(denied)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }
}

/// Whether a request has a field: at its top, or, as breakpoints of the cache, anywhere.
fn has(request: &Value, field: &str) -> bool {
    request.get(field).is_some()
        || (field == "cache_control" && request["system"][0].get(field).is_some())
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim().starts_with("text/event-stream"))
}

/// Whether an address is of this machine.
pub fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn client(endpoint: &Url, proxies: Proxies<'_>) -> Result<reqwest::Client, ModelError> {
    // Whoever was first installed the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("strawmanus/", env!("CARGO_PKG_VERSION")))
        // The key would go wherever a redirect points.
        .redirect(Policy::none())
        // The caller's proxies count, not those of whoever started this process.
        .no_proxy();
    if let Some(address) = proxies.all.filter(|_| !is_local(endpoint)) {
        let proxy =
            reqwest::Proxy::all(address).map_err(|error| Failure::unreachable(&error).error)?;
        let none = proxies.none.and_then(reqwest::NoProxy::from_string);
        builder = builder.proxy(proxy.no_proxy(none));
    }
    builder.build().map_err(|error| Failure::unreachable(&error).error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_sent_and_never_shown() {
        for (wire, name, value) in [
            (Wire::Anthropic, "x-api-key", "sk-secret"),
            (Wire::OpenAi, "authorization", "Bearer sk-secret"),
        ] {
            let key = Some(Key::new(" sk-secret\n"));
            let service = Service::new(wire, "", key, Proxies::default()).unwrap();
            assert!(!format!("{service:?}").contains("secret"));
            let headers = service.headers().map_err(|failure| failure.error).unwrap();
            assert_eq!(headers[name], value);
            assert!(!format!("{headers:?}").contains("secret"));
        }
    }

    #[test]
    fn only_a_service_on_this_machine_needs_no_key() {
        let new = |base: &str, key: &str| {
            Service::new(Wire::OpenAi, base, Some(Key::new(key)), Proxies::default()).map(|_| ())
        };
        let none = Err(ModelError::NoKey { variable: "OPENAI_API_KEY" });
        assert_eq!(new("", " "), none);
        assert_eq!(new("http://localhost.evil/v1", ""), none);
        for base in ["http://localhost:1/v1", "http://127.0.0.1:1", "http://[::1]:1"] {
            assert_eq!(new(base, ""), Ok(()), "{base}");
        }
    }
}
