//! Reaching a browser that somebody else started.
use std::time::Duration;

use serde::Deserialize;

use crate::cdp::wire::Wire;
use crate::ports::browser::BrowserError;

const PATIENCE: Duration = Duration::from_secs(5);
/// Where a browser listens when nobody says otherwise.
pub(super) const USUAL: &str = "127.0.0.1:9222";

/// Opens the wire to `endpoint`: `host:port`, `http://…` or `ws://…`. Also returns the WebSocket's
/// URL.
pub(super) async fn reach(endpoint: &str) -> Result<(Wire, String), BrowserError> {
    let failed = |why: String| BrowserError::Unreachable { endpoint: endpoint.to_owned(), why };
    let opened = async {
        let url = match endpoint.split_once("://") {
            Some(("ws", _)) => endpoint.to_owned(),
            Some(("http", _)) => ask(endpoint).await?,
            None => ask(&format!("http://{endpoint}")).await?,
            Some((scheme, _)) => {
                return Err(format!("`{scheme}:` is not spoken; use host:port, http:// or ws://"));
            }
        };
        let wire = Wire::web_socket(&url).await.map_err(|error| error.to_string())?;
        Ok((wire, url))
    };
    match tokio::time::timeout(PATIENCE, opened).await {
        Ok(opened) => opened.map_err(failed),
        Err(_) => Err(failed(format!("no answer within {PATIENCE:?}"))),
    }
}

#[derive(Deserialize)]
struct Version {
    #[serde(rename = "webSocketDebuggerUrl")]
    web_socket: Option<String>,
}

/// Asks the browser for its WebSocket.
async fn ask(base: &str) -> Result<String, String> {
    // Only plain HTTP is spoken here, yet the client wants to know who would do TLS.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().map_err(|error| chain(&error))?;
    let url = format!("{}/json/version", base.trim_end_matches('/'));
    let answer = client.get(url).send().await.map_err(|error| chain(&error))?;
    let status = answer.status();
    if !status.is_success() {
        return Err(format!("/json/version answered {}", status.as_u16()));
    }
    let version: Version = answer
        .json()
        .await
        .map_err(|_| "what answers at /json/version is no browser".to_owned())?;
    version.web_socket.ok_or_else(|| "/json/version names no WebSocket".to_owned())
}

/// Returns an error with its causes; reqwest's own text names none.
fn chain(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    async fn server(answer: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        at
    }

    #[tokio::test]
    async fn an_endpoint_that_is_no_browser_is_named_with_the_reason() {
        let not_found =
            server("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        let page = server("HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\n<h1>");
        for (endpoint, says) in [
            (not_found.await, "/json/version answered 404"),
            (page.await, "what answers at /json/version is no browser"),
            ("https://127.0.0.1:1".into(), "`https:` is not spoken"),
            ("127.0.0.1:1".into(), "refused"),
            ("ws://127.0.0.1:1/devtools".into(), "refused"),
        ] {
            let Err(error) = reach(&endpoint).await else { panic!("{endpoint}") };
            let error = error.to_string();
            assert!(error.contains(says) && error.contains(&endpoint), "{error}");
        }
    }
}
