//! A request as the sites read it, and what they answer.
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Response, StatusCode, header};
use url::form_urlencoded;

use crate::practice::ledger::Received;
use crate::practice::template::Html;

const LONGEST_BODY: usize = 1 << 20;

/// A request, read to its end.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Of the Host header, in lower case, without the port.
    pub host: String,
    /// Of the Host header; 80 without one.
    pub port: u16,
    /// `HEAD` counts as `GET`: its answer's body is dropped on the way out.
    pub method: String,
    pub path: String,
    pub query: String,
    pub body: String,
    pub cookies: Vec<(String, String)>,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    status: StatusCode,
    kind: &'static str,
    headers: Vec<(header::HeaderName, String)>,
    body: String,
}

impl Asked {
    /// Reads `request` to its end; a body that is cut or longer than 1 MiB becomes an empty one.
    pub async fn read(request: Request) -> Self {
        let (head, body) = request.into_parts();
        let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).unwrap_or("127.0.0.1").to_ascii_lowercase();
        let (host, port) = match host.rsplit_once(':') {
            Some((name, port)) => (name.to_owned(), port.parse().unwrap_or(80)),
            None => (host, 80),
        };
        let cookies = cookies(&head.headers);
        let body = axum::body::to_bytes(body, LONGEST_BODY).await.unwrap_or_default();
        Self {
            host,
            port,
            method: head.method.as_str().replace("HEAD", "GET"),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            body: String::from_utf8_lossy(&body).into_owned(),
            cookies,
        }
    }

    pub fn origin(&self) -> String {
        format!("http://{}:{}", self.host, self.port)
    }

    pub fn asks(&self) -> (&str, &str) {
        (&self.method, &self.path)
    }

    /// Returns the value of `name` in the query, empty if it is not there.
    pub fn param(&self, name: &str) -> String {
        value_of(&self.query, name)
    }

    /// Returns the value of `name` in the form that was posted, empty if it is not there.
    pub fn field(&self, name: &str) -> String {
        value_of(&self.body, name)
    }

    pub fn cookie(&self, name: &str) -> Option<&str> {
        self.cookies.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn received(&self) -> Received {
        Received {
            n: 0,
            origin: self.origin(),
            host: self.host.clone(),
            method: self.method.clone(),
            path: self.path.clone(),
            query: self.query.clone(),
            body: self.body.clone(),
            cookies: self.cookies.clone(),
        }
    }
}

impl Reply {
    pub fn page(html: Html) -> Self {
        Self::of("text/html; charset=utf-8", html.into_string())
    }

    pub fn of(kind: &'static str, body: impl Into<String>) -> Self {
        Self { status: StatusCode::OK, kind, headers: Vec::new(), body: body.into() }
    }

    pub fn empty() -> Self {
        Self::of("text/plain", "").status(204)
    }

    /// The answer after a POST: look there, by GET.
    pub fn see_other(location: impl Into<String>) -> Self {
        Self::of("text/plain", "").status(303).header(header::LOCATION, location.into())
    }

    pub fn found(location: impl Into<String>) -> Self {
        Self::of("text/plain", "").status(302).header(header::LOCATION, location.into())
    }

    /// A number that is no status becomes 400.
    pub fn status(self, status: u16) -> Self {
        Self { status: StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), ..self }
    }

    /// Adds a `Set-Cookie` with its attributes, such as `basket=1; Path=/`.
    pub fn cookie(self, cookie: impl Into<String>) -> Self {
        self.header(header::SET_COOKIE, cookie.into())
    }

    fn header(mut self, name: header::HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Never cached: the ledger must see every request. A header that HTTP cannot carry makes it 500.
    pub fn into_response(self) -> Response<Body> {
        let mut response = Response::builder()
            .status(self.status)
            .header(header::CONTENT_TYPE, self.kind)
            .header(header::CACHE_CONTROL, "no-store");
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response.body(Body::from(self.body)).unwrap_or_else(|_| {
            let mut broken = Response::new(Body::from("a header could not be written"));
            *broken.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            broken
        })
    }
}

fn value_of(pairs: &str, name: &str) -> String {
    let mut pairs = form_urlencoded::parse(pairs.as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

fn cookies(headers: &HeaderMap) -> Vec<(String, String)> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}
