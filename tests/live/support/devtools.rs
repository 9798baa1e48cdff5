//! Another client of the same browser, such as a person's DevTools.
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, WebSocket, connect, stream::MaybeTlsStream};

use crate::support::processes::{renderers_of, resident};

/// What a page takes up so that its process can be told from the others.
const BALLAST: u64 = 64 << 20;
const SILENCE: Duration = Duration::from_secs(20);

pub struct DevTools {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    last: u64,
}

impl DevTools {
    /// Connects to what `get cdp-url` says.
    pub fn at(url: &str) -> Self {
        let (socket, _) = connect(url).unwrap();
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(SILENCE)).unwrap();
        }
        Self { socket, last: 0 }
    }

    /// Returns the `result` of a call on a session, or on the browser itself.
    pub fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.post(session, method, params);
        loop {
            let text = self.socket.read().unwrap().into_text().unwrap_or_default();
            let Ok(mut said) = serde_json::from_str::<Value>(&text) else { continue };
            if said["id"] == id {
                assert!(said["error"].is_null(), "{method}: {said}");
                return said["result"].take();
            }
        }
    }

    /// Sends a call whose answer will not come.
    fn post(&mut self, session: Option<&str>, method: &str, params: Value) -> u64 {
        self.last += 1;
        let mut call = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = session {
            call["sessionId"] = session.into();
        }
        self.socket.send(Message::text(call.to_string())).unwrap();
        self.last
    }

    /// Returns the URL and the name of every page.
    pub fn pages(&mut self) -> Vec<(String, String)> {
        let said = self.call(None, "Target.getTargets", json!({}));
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let targets = said["targetInfos"].as_array().cloned().unwrap_or_default();
        let pages = targets.iter().filter(|target| target["type"] == "page");
        pages.map(|page| (word(&page["url"]), word(&page["targetId"]))).collect()
    }

    /// Returns the one page whose URL holds these words.
    pub fn page(&mut self, words: &str) -> String {
        let mut pages = self.pages();
        pages.retain(|(url, _)| url.contains(words));
        let [(_, target)] = &pages[..] else { panic!("pages at {words}: {pages:?}") };
        target.clone()
    }

    pub fn close(&mut self, target: &str) {
        self.call(None, "Target.closeTarget", json!({ "targetId": target }));
    }

    /// Crashes a page's process in the browser's own way.
    pub fn crash(&mut self, session: &str) {
        self.post(Some(session), "Page.crash", json!({}));
    }

    /// Returns the process that works for a page: the one that grows by what the page takes up.
    /// A page that is on its way to another does not answer.
    pub fn renderer(&mut self, browser: u32, session: &str) -> u32 {
        let before: Vec<_> =
            renderers_of(browser).iter().map(|pid| (*pid, resident(*pid))).collect();
        let expression = format!("window.ballast = new Uint8Array({BALLAST}).fill(1); 1");
        self.call(Some(session), "Runtime.evaluate", json!({ "expression": expression }));
        let grown = |(pid, before): &(u32, u64)| resident(*pid).saturating_sub(*before);
        let (pid, grown) = before.iter().map(|it| (it.0, grown(it))).max_by_key(|it| it.1).unwrap();
        assert!(grown > BALLAST / 2, "no page process grew by more than {grown} bytes");
        pid
    }

    /// Returns a session on a page.
    pub fn attach(&mut self, target: &str) -> String {
        let params = json!({ "targetId": target, "flatten": true });
        let said = self.call(None, "Target.attachToTarget", params);
        said["sessionId"].as_str().unwrap().to_owned()
    }
}
