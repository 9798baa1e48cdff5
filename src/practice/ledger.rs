//! Every request that the practice sites received, in the order of arrival.
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// One request, written down before it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// 1, 2, 3, … without gaps.
    pub n: usize,
    /// As it was asked for: `http://shop.localhost:40123`.
    pub origin: String,
    /// Without the port: `shop.localhost`.
    pub host: String,
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Without the question mark; empty if there is none.
    pub query: String,
    /// At most 1 MiB, and what is no UTF-8 replaced.
    pub body: String,
    /// Names and values, as they were sent.
    pub cookies: Vec<(String, String)>,
}

impl Received {
    /// Returns the field `name` of a form that was posted.
    pub fn field(&self, name: &str) -> Option<String> {
        let mut fields = url::form_urlencoded::parse(self.body.as_bytes());
        fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// Returns the value of the cookie `name`.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        self.cookies.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The writing end.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Vec<Received>>);

impl Ledger {
    /// Writes `received` down under the next number.
    pub fn write(&self, received: Received) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let n = rows.len() + 1;
        rows.push(Received { n, ..received });
    }

    pub fn rows(&self) -> Vec<Received> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns how many requests had this method and path, on whatever host.
pub fn count(rows: &[Received], method: &str, path: &str) -> usize {
    rows.iter().filter(|row| row.method == method && row.path == path).count()
}
