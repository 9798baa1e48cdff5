//! Anthropic's Messages: one plain request a turn.
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use url::{Host, Url};

use crate::model::conversation;
use crate::model::retry::{self, Retry};
use crate::ports::model::{Answer, Conversation, Failed, Model, ModelError};

/// Where the service is, unless the user says another place.
pub const BASE_URL: &str = "https://api.anthropic.com";

/// Where the key is looked for.
const KEY: &str = "ANTHROPIC_API_KEY";
const NO_KEY: ModelError = ModelError::NoKey { variable: KEY };

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(180);

/// How much of an error's text is passed on, in characters.
const DETAIL: usize = 300;

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

/// A model of the service.
#[derive(Debug, Clone)]
pub struct Anthropic {
    client: reqwest::Client,
    endpoint: Url,
    model: String,
    key: Key,
    retry: Retry,
}

impl Anthropic {
    /// Makes ready to ask `model` at `base_url` (such as [`BASE_URL`]); sends nothing yet.
    ///
    /// # Errors
    /// `NoKey` without a key, `Unreachable` when the address is none or TLS cannot be set up.
    pub fn new(
        base_url: &str,
        model: &str,
        key: Key,
        proxies: Proxies<'_>,
    ) -> Result<Self, ModelError> {
        if key.0.is_empty() {
            return Err(NO_KEY);
        }
        let endpoint = endpoint(base_url)?;
        let client = client(&endpoint, proxies)?;
        Ok(Self { client, endpoint, model: model.to_owned(), key, retry: Retry::default() })
    }

    /// Sends again by another rule.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// Sends once. `Err` holds the failure, and how long to wait if sending again may help.
    async fn send(&self, body: &str) -> Result<String, Failure> {
        let request = self.client.post(self.endpoint.clone()).headers(self.headers()?);
        let sent =
            request.body(body.to_owned()).send().await.map_err(|error| unreachable(&error))?;
        let (status, asked) = (sent.status(), retry::asked(sent.headers()));
        let text = sent.text().await.map_err(|error| unreachable(&error))?;
        if status.is_success() {
            return Ok(text);
        }
        let again = Retry::helps(status.as_u16());
        Err(Failure { error: self.refused(status, &text), again, asked })
    }

    fn headers(&self) -> Result<HeaderMap, Failure> {
        let no_key = |_| Failure::last(ModelError::Denied { status: 401, variable: KEY });
        let mut key = HeaderValue::from_str(&self.key.0).map_err(no_key)?;
        key.set_sensitive(true);
        Ok(HeaderMap::from_iter([
            ("x-api-key".parse().map_err(|_| Failure::last(NO_KEY))?, key),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ]))
    }

    fn refused(&self, status: StatusCode, body: &str) -> ModelError {
        let status = status.as_u16();
        if matches!(status, 401 | 403) {
            return ModelError::Denied { status, variable: KEY };
        }
        let parsed: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
        let message = parsed["error"]["message"].as_str().unwrap_or(body);
        let flat = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let detail = flat.replace(&self.key.0, "…").chars().take(DETAIL).collect();
        ModelError::Status { status, detail }
    }
}

#[async_trait]
impl Model for Anthropic {
    fn name(&self) -> String {
        self.model.clone()
    }

    fn sees(&self) -> bool {
        true
    }

    async fn answer(&self, conversation: &Conversation) -> Result<Answer, Failed> {
        let body = conversation::request(&self.model, conversation)?.to_string();
        let mut number = 0;
        loop {
            let failure = match self.send(&body).await {
                Ok(text) => return Ok(conversation::answer(&text)?),
                Err(failure) => failure,
            };
            let wait = self.retry.wait(number, failure.asked).filter(|_| failure.again);
            let Some(wait) = wait else { return Err(failure.error.into()) };
            tracing::warn!(error = %failure.error, ?wait, "the model is asked again");
            tokio::time::sleep(wait).await;
            number += 1;
        }
    }
}

/// Why one request brought no answer.
struct Failure {
    error: ModelError,
    again: bool,
    asked: Option<Duration>,
}

impl Failure {
    fn last(error: ModelError) -> Self {
        Self { error, again: false, asked: None }
    }
}

/// A connection that breaks may hold next time; what was sent changes nothing but the bill.
fn unreachable(error: &reqwest::Error) -> Failure {
    let mut why = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(deeper) = source {
        why = deeper.to_string();
        source = deeper.source();
    }
    Failure { error: ModelError::Unreachable(why), again: true, asked: None }
}

fn endpoint(base_url: &str) -> Result<Url, ModelError> {
    let base = base_url.trim().trim_end_matches('/').trim_end_matches("/v1");
    let bad = |why: &str| ModelError::Unreachable(format!("`{base_url}` is no address: {why}"));
    let url =
        Url::parse(&format!("{base}/v1/messages")).map_err(|error| bad(&error.to_string()))?;
    let http = matches!(url.scheme(), "http" | "https");
    if http { Ok(url) } else { Err(bad("it must begin with https:// or http://")) }
}

fn is_local(url: &Url) -> bool {
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
    let version = HeaderMap::from_iter([(
        reqwest::header::HeaderName::from_static("anthropic-version"),
        HeaderValue::from_static("2023-06-01"),
    )]);
    let mut builder = reqwest::Client::builder()
        .default_headers(version)
        .user_agent(concat!("strawmanus/", env!("CARGO_PKG_VERSION")))
        // The key would go wherever a redirect points.
        .redirect(Policy::none())
        .timeout(PATIENCE)
        // The caller's proxies count, not those of whoever started this process.
        .no_proxy();
    if let Some(address) = proxies.all.filter(|_| !is_local(endpoint)) {
        let proxy = reqwest::Proxy::all(address).map_err(|error| unreachable(&error).error)?;
        let none = proxies.none.and_then(reqwest::NoProxy::from_string);
        builder = builder.proxy(proxy.no_proxy(none));
    }
    builder.build().map_err(|error| unreachable(&error).error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_never_shown() {
        let model =
            Anthropic::new(BASE_URL, "a-model", Key::new("sk-secret"), Proxies::default()).unwrap();
        assert!(!format!("{model:?}").contains("secret"));
        let headers = model.headers().map_err(|failure| failure.error).unwrap();
        assert_eq!(headers["x-api-key"], "sk-secret");
        assert!(!format!("{headers:?}").contains("secret"));
        let error = model.refused(StatusCode::BAD_REQUEST, "sk-secret is\n odd");
        assert_eq!(error, ModelError::Status { status: 400, detail: "… is odd".into() });
        let none =
            Anthropic::new(BASE_URL, "a-model", Key::new(" \n"), Proxies::default()).unwrap_err();
        assert_eq!(none, NO_KEY);
    }

    #[test]
    fn the_address_is_made_of_the_base() {
        for (base, url) in [
            (BASE_URL, "https://api.anthropic.com/v1/messages"),
            ("https://proxy.example/x/v1/", "https://proxy.example/x/v1/messages"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/messages"),
            ("http://model.localhost:1/", "http://model.localhost:1/v1/messages"),
            ("http://[::1]:1", "http://[::1]:1/v1/messages"),
        ] {
            assert_eq!(endpoint(base).unwrap().as_str(), url);
        }
        for base in ["ftp://x", "api", ""] {
            assert!(matches!(endpoint(base), Err(ModelError::Unreachable(_))), "{base}");
        }
    }
}
