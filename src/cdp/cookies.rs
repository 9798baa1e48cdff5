//! Cookies out of the browser and back in.
use std::sync::Arc;

use chromiumoxide_cdp::cdp::browser_protocol::storage;
use chromiumoxide_types::{Command, Method, MethodId};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cdp::attach::SOON;
use crate::cdp::connection::Connection;
use crate::cdp::errors::{CallError, page_error};
use crate::ports::browser::CookieJar;
use crate::ports::page::PageError;

/// The fields of a cookie that can be given back. The generated types drop what they do not know,
/// so cookies stay JSON here.
const KEPT: &[&str] = &[
    "name",
    "value",
    "domain",
    "path",
    "secure",
    "httpOnly",
    "sameSite",
    "priority",
    "sourceScheme",
    "sourcePort",
    "partitionKey",
];

#[derive(Deserialize)]
struct All {
    cookies: Vec<Map<String, Value>>,
}

/// `Storage.setCookies` with cookies as JSON.
#[derive(Serialize)]
struct SetCookies<'a> {
    cookies: &'a [Map<String, Value>],
}

impl Method for SetCookies<'_> {
    fn identifier(&self) -> MethodId {
        storage::SetCookiesParams::IDENTIFIER.into()
    }
}

impl Command for SetCookies<'_> {
    type Response = storage::SetCookiesReturns;
}

/// Reads all cookies, in an order that depends on nothing but themselves.
pub(super) async fn read(connection: &Arc<Connection>) -> Result<CookieJar, PageError> {
    let what = "read cookies";
    let all: All = connection
        .ask(None, storage::GetCookiesParams::default(), SOON)
        .await
        .map_err(|error| page_error(error, what, SOON))?;
    let mut cookies: Vec<_> = all.cookies.into_iter().map(kept).collect();
    cookies.sort_by_cached_key(|cookie| {
        ["domain", "path", "name", "partitionKey"]
            .map(|field| cookie.get(field).map(Value::to_string))
    });
    let jar = serde_json::to_string(&cookies)
        .map_err(|error| PageError::Refused { what, why: error.to_string() })?;
    Ok(CookieJar(jar))
}

/// Puts these cookies in place of all. One that the browser does not take costs no other.
pub(super) async fn restore(
    connection: &Arc<Connection>,
    jar: &CookieJar,
) -> Result<(), PageError> {
    let what = "restore cookies";
    let cookies: Vec<Map<String, Value>> = serde_json::from_str(&jar.0)
        .map_err(|error| PageError::Refused { what, why: error.to_string() })?;
    // What was deleted since the profile was written must not come back with it.
    connection
        .ask::<IgnoredAny>(None, storage::ClearCookiesParams::default(), SOON)
        .await
        .map_err(|error| page_error(error, what, SOON))?;
    match set(connection, &cookies).await {
        Err(CallError::Protocol { .. }) => {}
        other => return other.map_err(|error| page_error(error, what, SOON)),
    }
    for cookie in &cookies {
        match set(connection, std::slice::from_ref(cookie)).await {
            Err(CallError::Protocol { message, .. }) => {
                tracing::warn!(domain = ?cookie.get("domain"), why = message, "a cookie was lost");
            }
            other => other.map_err(|error| page_error(error, what, SOON))?,
        }
    }
    Ok(())
}

async fn set(
    connection: &Arc<Connection>,
    cookies: &[Map<String, Value>],
) -> Result<(), CallError> {
    connection.ask::<IgnoredAny>(None, SetCookies { cookies }, SOON).await.map(drop)
}

fn kept(mut cookie: Map<String, Value>) -> Map<String, Value> {
    let expires = cookie.remove("expires").filter(|_| cookie.get("session") != Some(&true.into()));
    cookie.retain(|field, _| KEPT.contains(&field.as_str()));
    cookie.extend(expires.map(|expires| ("expires".to_owned(), expires)));
    cookie
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_cookie_has_no_end_and_nothing_is_invented() {
        let kept =
            |json: &str| Value::Object(kept(serde_json::from_str(json).unwrap())).to_string();
        assert_eq!(
            kept(
                r#"{"name":"a","value":"b","domain":"x.test","path":"/","expires":-1,"size":2,"session":true,"sameParty":false}"#
            ),
            r#"{"name":"a","value":"b","domain":"x.test","path":"/"}"#
        );
        assert_eq!(
            kept(r#"{"name":"a","expires":9.5,"session":false,"secure":true}"#),
            r#"{"name":"a","secure":true,"expires":9.5}"#
        );
    }
}
