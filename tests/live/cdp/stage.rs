//! A browser, a site, and what they said.
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use strawmanus::cdp::Chromium;
use strawmanus::ports::Sink;
use strawmanus::ports::browser::{
    Browser, BrowserError, BrowserEvent, LaunchSpec, Launcher, OpenPage, ProfileMode,
};
use strawmanus::ports::page::{Page, PageError, PageEvent, Press, TargetKey};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use crate::cdp::site::Site;

pub const LONG: Duration = Duration::from_secs(15);

/// What must happen at once: half a second on an idle computer, more where other tests run.
pub const AT_ONCE: Duration = Duration::from_secs(2);

/// A library for the isolated world.
pub const LIBRARY: &str = "globalThis.strawmanus = {
    times: 0,
    echo: (value) => value,
    count() { return ++this.times },
    title: () => document.title,
    later: (ms) => new Promise((done) => setTimeout(() => done('late'), ms)),
    fail() { throw new TypeError('bad argument') },
};";

pub type Events<T> = Arc<Mutex<Vec<T>>>;

pub struct Stage {
    pub browser: Arc<dyn Browser>,
    pub events: Events<BrowserEvent>,
    pub site: Site,
    pub folder: tempfile::TempDir,
}

pub struct Tab {
    pub page: Arc<dyn Page>,
    pub events: Events<PageEvent>,
}

pub fn spec(folder: &Path, profile: ProfileMode) -> LaunchSpec {
    LaunchSpec {
        session: "test".parse().unwrap(),
        profile,
        headless: true,
        endpoint: None,
        executable: None,
        folder: folder.to_owned(),
        arguments: Vec::new(),
        screen: vec![],
        library: LIBRARY,
    }
}

pub fn sink<T: Send + 'static>() -> (Events<T>, Sink<T>) {
    let events: Events<T> = Arc::default();
    let into = Arc::clone(&events);
    (events, Arc::new(move |event| into.lock().unwrap().push(event)))
}

pub async fn launch(spec: LaunchSpec) -> Result<Arc<dyn Browser>, BrowserError> {
    Chromium::default().launch(spec, sink().1).await
}

impl Stage {
    pub async fn start() -> Self {
        Self::with(ProfileMode::Cloned).await
    }

    pub async fn with(profile: ProfileMode) -> Self {
        Self::with_library(profile, LIBRARY).await
    }

    pub async fn with_library(profile: ProfileMode, library: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (events, into) = sink();
        let spec = LaunchSpec { library, ..spec(folder.path(), profile) };
        let browser = Chromium::default().launch(spec, into).await.unwrap();
        Self { browser, events, site: Site::start().await, folder }
    }

    pub async fn open(&self, path: &str) -> Tab {
        let tab = self.try_open(None, &self.site.url(path)).await.unwrap();
        tab.page.settled(LONG).await.unwrap();
        tab
    }

    pub async fn try_open(&self, target: Option<TargetKey>, url: &str) -> Result<Tab, PageError> {
        let (events, into) = sink();
        let request = OpenPage { target, url: url.to_owned() };
        Ok(Tab { page: self.browser.open(request, into).await?, events })
    }

    pub fn pid(&self) -> u32 {
        self.browser.about().pid.unwrap()
    }
}

impl Tab {
    pub async fn eval(&self, script: &str) -> String {
        same(&self.page.evaluate(script, LONG).await.unwrap())
    }

    /// Clicks the middle of a line of the page `/links`.
    pub async fn click(&self, top: f64) -> Result<(), PageError> {
        self.page.click(Press { x: 50.0, y: top + 10.0 }, LONG).await
    }

    pub fn heard(&self) -> Vec<PageEvent> {
        self.events.lock().unwrap().clone()
    }

    pub async fn hears(&self, what: impl Fn(&PageEvent) -> bool) {
        until("the page's event", || self.events.lock().unwrap().iter().any(&what)).await;
    }
}

/// Writes JSON in one way: the browser escapes what is not ASCII.
pub fn same(json: &str) -> String {
    serde_json::from_str::<serde_json::Value>(json).unwrap().to_string()
}

/// Waits until something is so; a test fails that waits long.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < LONG, "waited for {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A second client, such as a person's DevTools.
pub struct OtherClient {
    socket: tokio_tungstenite::WebSocketStream<
        tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>,
    >,
    calls: u64,
}

impl OtherClient {
    pub async fn of(stage: &Stage) -> Self {
        let url = stage.browser.about().endpoint.unwrap();
        let (socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
        Self { socket, calls: 0 }
    }

    /// Sends a command, to a session or the browser itself.
    pub async fn send(&mut self, session: Option<&str>, method: &str, params: Value) {
        self.calls += 1;
        let mut call = json!({"id": self.calls, "method": method, "params": params});
        if let Some(session) = session {
            call["sessionId"] = session.into();
        }
        self.socket.send(Message::text(call.to_string())).await.unwrap();
    }

    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        self.send(None, method, params).await;
        loop {
            let message = self.socket.next().await.unwrap().unwrap().into_text().unwrap();
            let mut message: Value = serde_json::from_str(&message).unwrap();
            if message["id"] == self.calls {
                assert!(message["error"].is_null(), "{message}");
                return message["result"].take();
            }
        }
    }
}

/// Processes of the browser's group, as (pid, state, command).
pub fn group(leader: u32) -> Vec<(u32, char, String)> {
    let mut members = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        let Some((_, rest)) = stat.rsplit_once(") ") else { continue };
        let fields: Vec<&str> = rest.split(' ').collect();
        if fields[2] == leader.to_string() {
            let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            members.push((pid, fields[0].chars().next().unwrap(), command));
        }
    }
    members
}

/// The renderer that works for `tab`: the one that grows by what the tab allocates.
pub async fn renderer(stage: &Stage, tab: &Tab) -> u32 {
    let pages = |pid: u32| -> u64 {
        let memory = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        memory.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
    };
    let renderers: Vec<(u32, u64)> = group(stage.pid())
        .into_iter()
        .filter(|(_, _, command)| command.contains("--type=renderer"))
        .map(|(pid, ..)| (pid, pages(pid)))
        .collect();
    tab.eval("window.ballast = new Uint8Array(200e6).fill(1); 1").await;
    let grown = renderers.into_iter().map(|(pid, before)| (pages(pid).saturating_sub(before), pid));
    let (most, pid) = grown.max().unwrap();
    assert!(most * 4096 > 150_000_000, "{most} pages");
    pid
}

pub fn kill(pid: u32) {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
}
