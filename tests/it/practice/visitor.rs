//! A browser's part that needs no browser: cookies are kept, redirects are shown and not followed.
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use reqwest::header::{CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, RequestBuilder};
use url::form_urlencoded;

const HOSTS: [&str; 5] = ["shop", "mail", "news", "test", "frames"];

pub struct Visitor {
    pub http: Client,
    pub cookies: BTreeMap<String, String>,
}

#[derive(Debug)]
pub struct Page {
    pub status: u16,
    /// Where a redirect leads.
    pub location: String,
    pub set_cookies: Vec<String>,
    pub text: String,
}

/// A client that finds `*.localhost` on this machine and asks no proxy.
pub fn client() -> ClientBuilder {
    // The second test in this process finds it installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let client = Client::builder().no_proxy().redirect(Policy::none());
    HOSTS.iter().fold(client, |client, site| client.resolve(&format!("{site}.localhost"), here))
}

impl Visitor {
    pub fn new() -> Self {
        Self { http: client().build().unwrap(), cookies: BTreeMap::new() }
    }

    pub async fn get(&mut self, url: &str) -> Page {
        self.ask(self.http.get(url)).await
    }

    pub async fn post(&mut self, url: &str, fields: &[(&str, &str)]) -> Page {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.http.post(url).body(body);
        self.ask(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded")).await
    }

    async fn ask(&mut self, request: RequestBuilder) -> Page {
        let pairs = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        let cookies = pairs.collect::<Vec<_>>().join("; ");
        let request = if cookies.is_empty() { request } else { request.header(COOKIE, cookies) };
        let response = request.send().await.unwrap();
        let header = |name| {
            let values = response.headers().get_all(name).iter();
            values.map(|value| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let (set_cookies, location) = (header(SET_COOKIE), header(LOCATION).concat());
        for cookie in &set_cookies {
            let (name, rest) = cookie.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
            if cookie.contains("Max-Age=0") {
                self.cookies.remove(name);
            }
        }
        let status = response.status().as_u16();
        Page { status, location, set_cookies, text: response.text().await.unwrap() }
    }
}
