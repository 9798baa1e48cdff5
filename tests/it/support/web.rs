//! A browser whose pages work, unless its script says otherwise for the nth call of a kind.
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use strawmanus::domain::keys::Chord;
use strawmanus::ports::Sink;
use strawmanus::ports::browser::{
    About, Browser, BrowserError, BrowserEvent, CookieJar, LaunchSpec, Launcher, OpenPage,
};
use strawmanus::ports::page::{
    Dialog, Landing, Location, Page, PageError, PageEvent, Press, RequestKind, TargetKey,
    Unreachable,
};

/// What goes wrong. The named list: a bug from the wild becomes one of these first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call works, after this long.
    Slow(Duration),
    /// The call never answers.
    Hang,
    /// The page's process dies during the call, which is never answered by itself.
    Crash,
    /// The page's process dies, and the call is answered before the event comes.
    CrashAnsweredFirst,
    /// Somebody closes the page during the call.
    Gone,
    /// The browser dies during the call.
    Die,
    /// The connection answers garbage.
    Garbage,
    /// The call is refused.
    Refuse,
    /// A dialog opens during the call.
    Dialog,
    /// The document is replaced during the call.
    Navigate,
    /// Our own code breaks.
    Panic,
}

/// Where it goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum At {
    Launch,
    Open,
    Navigate,
    Call(&'static str),
    Evaluate,
    Click,
    Press,
    Insert,
}

/// One control of the only page there is.
#[derive(Debug, Clone, Copy)]
pub struct Control {
    pub tag: &'static str,
    pub role: &'static str,
    pub name: &'static str,
}

/// What every page shows, in order; the key of a node is its place here, from 1.
pub const CONTROLS: &[Control] = &[
    Control { tag: "a", role: "link", name: "Details" },
    Control { tag: "input", role: "textbox", name: "To" },
    Control { tag: "button", role: "button", name: "Add to cart" },
    Control { tag: "button", role: "button", name: "Send" },
    Control { tag: "button", role: "button", name: "Dead" },
];

/// The whole world outside the house; clones are one.
#[derive(Clone, Default)]
pub struct Web(Arc<Mutex<World>>);

#[derive(Default)]
struct World {
    script: Vec<(At, RangeInclusive<usize>, Fault)>,
    calls: HashMap<At, usize>,
    log: Vec<String>,
    under_way: usize,
    targets: HashMap<String, Target>,
    next_target: usize,
    browser: Option<Sink<BrowserEvent>>,
    browsers: usize,
    cookies: String,
    restored: Vec<String>,
}

struct Target {
    url: String,
    document: usize,
    alive: bool,
    field: String,
    dialog: Option<Dialog>,
    changes: u32,
    sink: Weak<dyn Fn(PageEvent) + Send + Sync>,
}

impl Web {
    pub fn with(self, at: At, nth: RangeInclusive<usize>, fault: Fault) -> Self {
        self.0.lock().unwrap().script.push((at, nth, fault));
        self
    }

    /// Returns what was really done since the last look, in order.
    pub fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().log)
    }

    /// Returns how many calls are being waited for.
    pub fn under_way(&self) -> usize {
        self.0.lock().unwrap().under_way
    }

    pub fn browsers(&self) -> usize {
        self.0.lock().unwrap().browsers
    }

    pub fn set_cookies(&self, jar: &str) {
        self.0.lock().unwrap().cookies = jar.to_owned();
    }

    /// Returns the jars that were given back to browsers.
    pub fn restored(&self) -> Vec<String> {
        self.0.lock().unwrap().restored.clone()
    }

    /// Kills the browser from outside.
    pub fn kill_browser(&self) {
        let sink = {
            let mut world = self.0.lock().unwrap();
            world.targets.clear();
            world.browser.take()
        };
        if let Some(sink) = sink {
            sink(BrowserEvent::Died { why: "killed".into() });
        }
    }

    /// Kills the process of the page at `url`, from outside.
    pub fn crash(&self, url: &str) {
        self.end(url, PageEvent::Crashed);
    }

    /// Closes the page at `url`, from outside.
    pub fn close(&self, url: &str) {
        self.end(url, PageEvent::Gone);
    }

    fn end(&self, url: &str, event: PageEvent) {
        let key = {
            let world = self.0.lock().unwrap();
            let found = world.targets.iter().find(|(_, target)| target.url == url);
            found.map(|(key, _)| key.clone()).expect("a page at that address")
        };
        self.hit(&key, event);
    }

    fn hit(&self, key: &str, event: PageEvent) {
        let sink = {
            let mut world = self.0.lock().unwrap();
            let Some(target) = world.targets.get_mut(key) else {
                return;
            };
            target.alive = event != PageEvent::Crashed && target.alive;
            let sink = target.sink.upgrade();
            if event == PageEvent::Gone {
                world.targets.remove(key);
            }
            sink
        };
        if let Some(sink) = sink {
            sink(event);
        }
    }

    /// Opens a page from the page at `opener`.
    pub fn pop_up(&self, opener: &str, url: &str) {
        let (sink, opener, target) = {
            let mut world = self.0.lock().unwrap();
            let opener = world.targets.iter().find(|(_, target)| target.url == opener);
            let opener = opener.map(|(key, _)| key.clone()).expect("an opener");
            let key = world.add(url);
            (world.browser.clone().expect("a browser"), opener, key)
        };
        let url = url.to_owned();
        sink(BrowserEvent::Popup { target: TargetKey(target), opener: TargetKey(opener), url });
    }

    fn write(&self, line: impl Into<String>) {
        self.0.lock().unwrap().log.push(line.into());
    }

    async fn call(&self, at: At, key: Option<&str>) -> Result<Option<Fault>, PageError> {
        let _counted = UnderWay::begin(self.clone());
        let fault = self.0.lock().unwrap().next_fault(at);
        let key = key.unwrap_or_default();
        match fault {
            None => {}
            Some(Fault::Slow(delay)) => tokio::time::sleep(delay).await,
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Crash) => {
                self.hit(key, PageEvent::Crashed);
                std::future::pending().await
            }
            Some(Fault::CrashAnsweredFirst) => {
                let (web, key) = (self.clone(), key.to_owned());
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    web.hit(&key, PageEvent::Crashed);
                });
                return Err(PageError::Crashed);
            }
            Some(Fault::Gone) => {
                self.hit(key, PageEvent::Gone);
                return Err(PageError::Gone);
            }
            Some(Fault::Die) => {
                self.kill_browser();
                return Err(PageError::Lost);
            }
            Some(Fault::Refuse) => {
                return Err(PageError::Refused { what: "the call", why: "as scripted".into() });
            }
            Some(Fault::Dialog) => {
                let dialog = Dialog { kind: "alert".into(), message: "hello".into() };
                if let Some(target) = self.0.lock().unwrap().targets.get_mut(key) {
                    target.dialog = Some(dialog.clone());
                }
                self.hit(key, PageEvent::DialogOpened(dialog));
                return Err(PageError::DialogOpen);
            }
            Some(Fault::Navigate) => {
                self.land(key, "http://elsewhere.test/");
                return Err(PageError::Navigated { what: "the call" });
            }
            Some(Fault::Panic) => panic!("a bug in {at:?}"),
            Some(Fault::Garbage) => {}
        }
        Ok(fault)
    }

    fn land(&self, key: &str, url: &str) {
        {
            let mut world = self.0.lock().unwrap();
            let Some(target) = world.targets.get_mut(key) else {
                return;
            };
            target.url = url.to_owned();
            target.document += 1;
            target.field.clear();
        }
        self.hit(key, PageEvent::Navigated { url: url.to_owned(), same_document: false });
    }
}

impl World {
    fn next_fault(&mut self, at: At) -> Option<Fault> {
        let nth = self.calls.entry(at).or_insert(0);
        *nth += 1;
        let hit =
            self.script.iter().find(|(where_, range, _)| *where_ == at && range.contains(nth));
        hit.map(|(_, _, fault)| *fault)
    }

    fn add(&mut self, url: &str) -> String {
        self.next_target += 1;
        let key = format!("T{}", self.next_target);
        let nobody: Weak<Silent> = Weak::new();
        let target = Target {
            url: url.to_owned(),
            document: self.next_target * 100,
            alive: true,
            field: String::new(),
            dialog: None,
            changes: 0,
            sink: nobody,
        };
        self.targets.insert(key.clone(), target);
        key
    }
}

type Silent = fn(PageEvent);

struct UnderWay(Web);

impl UnderWay {
    fn begin(web: Web) -> Self {
        web.0.lock().unwrap().under_way += 1;
        Self(web)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.0.lock().unwrap().under_way -= 1;
    }
}

struct FakeBrowser {
    web: Web,
}

struct FakePage {
    web: Web,
    key: String,
    _sink: Sink<PageEvent>,
}

#[async_trait]
impl Launcher for Web {
    async fn launch(
        &self,
        _spec: LaunchSpec,
        sink: Sink<BrowserEvent>,
    ) -> Result<Arc<dyn Browser>, BrowserError> {
        let started = self.call(At::Launch, None).await;
        started.map_err(|error| BrowserError::StartFailed { why: error.to_string() })?;
        let mut world = self.0.lock().unwrap();
        world.browsers += 1;
        world.browser = Some(sink);
        Ok(Arc::new(FakeBrowser { web: self.clone() }))
    }
}

#[async_trait]
impl Browser for FakeBrowser {
    fn about(&self) -> About {
        About { product: "Fake/1".into(), pid: Some(1), endpoint: None, headless: true }
    }

    async fn open(
        &self,
        request: OpenPage,
        sink: Sink<PageEvent>,
    ) -> Result<Arc<dyn Page>, PageError> {
        let OpenPage { target, url } = request;
        self.web.call(At::Open, target.as_ref().map(|key| key.0.as_str())).await?;
        let key = {
            let mut world = self.web.0.lock().unwrap();
            if world.browser.is_none() {
                return Err(PageError::Lost);
            }
            let key = match target {
                Some(key) if world.targets.contains_key(&key.0) => key.0,
                Some(_) => return Err(PageError::Gone),
                None => world.add(&url),
            };
            let target = world.targets.get_mut(&key).expect("it was just there");
            if !target.alive {
                (target.alive, target.field) = (true, String::new());
                target.document += 1;
            }
            target.sink = Arc::downgrade(&sink);
            key
        };
        self.web.write(format!("open {key} {url}"));
        Ok(Arc::new(FakePage { web: self.web.clone(), key, _sink: sink }))
    }

    async fn close_target(&self, target: &TargetKey) -> Result<(), PageError> {
        self.web.write(format!("close {}", target.0));
        self.web.0.lock().unwrap().targets.remove(&target.0);
        Ok(())
    }

    async fn cookies(&self) -> Result<CookieJar, PageError> {
        Ok(CookieJar(self.web.0.lock().unwrap().cookies.clone()))
    }

    async fn restore_cookies(&self, jar: &CookieJar) -> Result<(), PageError> {
        self.web.0.lock().unwrap().restored.push(jar.0.clone());
        Ok(())
    }

    async fn shut_down(&self) {
        self.web.write("shut down");
        self.web.0.lock().unwrap().targets.clear();
    }
}

impl FakePage {
    fn with<T>(&self, work: impl FnOnce(&mut Target) -> T) -> Result<T, PageError> {
        let mut world = self.web.0.lock().unwrap();
        if world.browser.is_none() {
            return Err(PageError::Lost);
        }
        let target = world.targets.get_mut(&self.key).ok_or(PageError::Gone)?;
        if !target.alive {
            return Err(PageError::Crashed);
        }
        Ok(work(target))
    }

    async fn check(&self, at: At, patience: Duration) -> Result<Option<Fault>, PageError> {
        let called = tokio::time::timeout(patience, self.web.call(at, Some(&self.key))).await;
        let fault = called.map_err(|_| PageError::TimedOut { what: "the call", patience })??;
        self.with(|_| ())?;
        Ok(fault)
    }

    /// What the page's own code does when a control is pressed.
    fn pressed(&self, control: Control) {
        let send = |event| self.web.hit(&self.key, event);
        match control.name {
            "Details" => self.web.land(&self.key, "http://shop.test/details"),
            "Send" | "Add to cart" => {
                self.web.write(format!("POST {}", control.name));
                let url = "http://shop.test/act".to_owned();
                let (method, kind) = ("POST".to_owned(), RequestKind::Fetch);
                send(PageEvent::Sent { method: method.clone(), url: url.clone(), kind });
                send(PageEvent::Answered { method, url, status: 200 });
            }
            _ => self.web.write(format!("pressed {}", control.name)),
        }
    }
}

fn control(key: &Value) -> Option<Control> {
    let place = usize::try_from(key.as_u64()?).ok()?.checked_sub(1)?;
    CONTROLS.get(place).copied()
}

fn walked(target: &Target) -> String {
    let head = json!([-1, "body", "", "", 0, 16]);
    let controls = CONTROLS.iter().zip(1..).map(|(control, key)| {
        let top = f64::from(key) * 40.0;
        // Interactive, reachable, in the viewport, a block.
        json!([
            0,
            control.tag,
            control.role,
            control.name,
            key,
            1 + 2 + 4 + 16,
            [10.0, top, 80.0, 20.0],
            []
        ])
    });
    let nodes: Vec<_> = std::iter::once(head).chain(controls).collect();
    json!({
        "v": 1, "document": format!("d{}", target.document), "url": target.url, "title": "A page",
        "viewport": [800, 600, 0, 600], "modal": null, "notes": [], "nodes": nodes,
    })
    .to_string()
}

fn probed(target: &Target, key: &Value) -> String {
    let Some(control) = control(key) else {
        return json!({ "status": "gone" }).to_string();
    };
    let top = key.as_f64().unwrap_or_default() * 40.0;
    json!({
        "status": "ok", "document": format!("d{}", target.document), "key": key, "url": target.url,
        "label": format!("{} \"{}\"", control.role, control.name), "tag": control.tag,
        "kind": "", "role": control.role, "name": control.name, "texts": [], "visible": true,
        "enabled": true, "editable": control.tag == "input", "readonly": false, "checked": null,
        "secret": false, "box": { "x": 10.0, "y": top, "width": 80.0, "height": 20.0 },
        "in_viewport": true, "point": { "x": 50.0, "y": top + 10.0 }, "coverer": null,
        "form": null, "submits": false, "compose": false, "search": false,
    })
    .to_string()
}

fn resolved(target: &Target, asked: &Value) -> String {
    let document = format!("d{}", target.document);
    let ok = |key: u64, control: Control| {
        let label = format!("{} \"{}\"", control.role, control.name);
        json!({ "status": "ok", "document": document, "key": key, "label": label }).to_string()
    };
    if let Some(key) = asked["key"].as_u64() {
        let same = asked["document"] == json!(document);
        return match control(&asked["key"]).filter(|_| same) {
            Some(found) => ok(key, found),
            None => json!({ "status": "stale" }).to_string(),
        };
    }
    let name = asked["target"]["query"][0]["name"].as_str().unwrap_or_default();
    let found = CONTROLS.iter().zip(1..).find(|(control, _)| control.name == name);
    found.map_or_else(
        || json!({ "status": "not_found" }).to_string(),
        |(control, key)| ok(key, *control),
    )
}

#[async_trait]
impl Page for FakePage {
    fn target(&self) -> TargetKey {
        TargetKey(self.key.clone())
    }

    async fn navigate(&self, url: &str, patience: Duration) -> Result<Landing, PageError> {
        self.check(At::Navigate, patience).await?;
        if url.contains("nowhere") {
            let (why, detail) = (Unreachable::DnsFailed, "net::ERR_NAME_NOT_RESOLVED".into());
            return Err(PageError::Unreachable { why, detail });
        }
        self.web.write(format!("navigate {url}"));
        self.web.land(&self.key, url);
        Ok(Landing { url: url.to_owned(), title: "A page".into(), status: Some(200) })
    }

    async fn settled(&self, _patience: Duration) -> Result<Landing, PageError> {
        self.with(|target| Landing {
            url: target.url.clone(),
            title: "A page".into(),
            status: None,
        })
    }

    async fn location(&self) -> Result<Location, PageError> {
        self.with(|target| Location { url: target.url.clone(), title: "A page".into() })
    }

    async fn evaluate(&self, script: &str, patience: Duration) -> Result<String, PageError> {
        self.check(At::Evaluate, patience).await?;
        Ok(json!(script).to_string())
    }

    async fn call(
        &self,
        function: &'static str,
        argument: &str,
        patience: Duration,
    ) -> Result<String, PageError> {
        if self.with(|target| target.dialog.is_some())? {
            return Err(PageError::DialogOpen);
        }
        if self.check(At::Call(function), patience).await? == Some(Fault::Garbage) {
            return Ok("{\"rubbish\":".into());
        }
        let asked: Value = serde_json::from_str(argument).unwrap();
        self.with(|target| match function {
            "walk" => walked(target),
            "resolve" => resolved(target, &asked),
            "probe" => probed(target, &asked["key"]),
            "probe_point" => probed(target, &json!(5)),
            "probe_focus" => json!({ "status": "nowhere" }).to_string(),
            "focus_for_fill" => json!({ "status": "ok", "kind": "type" }).to_string(),
            "value_of" => json!({
                "status": "ok", "value": target.field, "secret": false, "filled": true,
                "checked": null,
            })
            .to_string(),
            "scroll" => json!({ "moved": true, "y": 600.0, "bottom": 900.0 }).to_string(),
            "watch_begin" => format!("{}:{}", target.document, target.changes),
            "watch_peek" => match since(target, &asked) {
                Some(changes) => json!({ "status": "ok", "changes": changes, "quiet": 9 }),
                None => json!({ "status": "gone" }),
            }
            .to_string(),
            "watch_end" => match since(target, &asked) {
                Some(changes) => json!({
                    "status": "ok", "appeared": [], "vanished": [],
                    "changed": vec!["a field"; changes as usize], "messages": [], "background": [],
                    "scroll": null, "url": null, "mutations": changes,
                }),
                None => json!({ "status": "gone" }),
            }
            .to_string(),
            other => panic!("the fake page has no `{other}`"),
        })
    }

    async fn click(&self, press: Press, patience: Duration) -> Result<(), PageError> {
        self.check(At::Click, patience).await?;
        let place = (press.y / 40.0).floor();
        let found = CONTROLS.iter().zip(1..).find(|(_, key)| f64::from(*key) == place);
        if let Some((control, _)) = found {
            self.pressed(*control);
        }
        Ok(())
    }

    async fn press(&self, chord: &Chord, patience: Duration) -> Result<(), PageError> {
        self.check(At::Press, patience).await?;
        self.web.write(format!("key {chord}"));
        Ok(())
    }

    async fn insert_text(&self, text: &str, patience: Duration) -> Result<(), PageError> {
        self.check(At::Insert, patience).await?;
        self.web.write(format!("typed {text}"));
        self.with(|target| {
            target.field = text.to_owned();
            target.changes += 1;
        })
    }

    async fn answer_dialog(&self, accept: bool, _text: Option<&str>) -> Result<(), PageError> {
        self.with(|target| target.dialog = None)?;
        self.web.write(format!("dialog {}", if accept { "accepted" } else { "dismissed" }));
        self.web.hit(&self.key, PageEvent::DialogClosed);
        Ok(())
    }
}

/// Changes since the token was given; none when the document is another.
fn since(target: &Target, asked: &Value) -> Option<u32> {
    let (document, changes) = asked["token"].as_str()?.split_once(':')?;
    let same = document == target.document.to_string();
    same.then(|| target.changes - changes.parse::<u32>().unwrap_or_default())
}
