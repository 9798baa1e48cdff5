//! A browser whose pages work, unless its script says otherwise for the nth call of a kind.
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use async_trait::async_trait;
use strawmanus::ports::Sink;
use strawmanus::ports::browser::{
    About, Browser, BrowserError, BrowserEvent, CookieJar, LaunchSpec, Launcher, OpenPage,
};
use strawmanus::ports::page::{ConsoleLine, Dialog, Level, Page, PageError, PageEvent, TargetKey};

use crate::support::web::page::FakePage;

pub mod page;

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
    /// The document is replaced meanwhile, and the call works.
    Depart,
    /// Our own code breaks.
    Panic,
    /// The page gives every control another name, and works on.
    Rename,
    /// The page writes something else on every control, and keeps their names.
    Reword,
    /// Every control stands somewhere else.
    Move,
    /// The page puts another value into its field.
    Retype,
    /// Every field holds a secret from now on.
    Secret,
    /// The first field composes a message from now on.
    Compose,
    /// The button "Add to cart" has the focus from now on.
    Focus,
}

/// Where it goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum At {
    Launch,
    /// Copying the cookies.
    Cookies,
    /// Giving them back.
    Restore,
    Open,
    Navigate,
    Settled,
    Location,
    Call(&'static str),
    Evaluate,
    Click,
    Hover,
    Press,
    Insert,
    Dialog,
    Picture,
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
    // Sends a form that a page answers.
    Control { tag: "button", role: "button", name: "Search" },
    Control { tag: "button", role: "button", name: "Preview" },
    Control { tag: "button", role: "button", name: "Ask" },
    Control { tag: "button", role: "button", name: "Close" },
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
    /// Whether each browser was started without a window.
    headless: Vec<bool>,
    restored: Vec<String>,
}

struct Target {
    url: String,
    document: usize,
    alive: bool,
    field: String,
    dialog: Option<Dialog>,
    changes: u32,
    renamed: bool,
    reworded: bool,
    place: &'static str,
    composes: bool,
    secret: bool,
    focused: bool,
    console: Vec<ConsoleLine>,
    sink: Weak<dyn Fn(PageEvent) + Send + Sync>,
}

impl Web {
    pub fn with(self, at: At, nth: RangeInclusive<usize>, fault: Fault) -> Self {
        self.0.lock().unwrap().script.push((at, nth, fault));
        self
    }

    /// Nothing goes wrong from now on.
    pub fn heal(&self) {
        self.0.lock().unwrap().script.clear();
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

    /// Returns whether each browser was started without a window.
    pub fn headless(&self) -> Vec<bool> {
        self.0.lock().unwrap().headless.clone()
    }

    /// Writes a line to the console of the page at `url`.
    pub fn say(&self, url: &str, text: &str) {
        let key = self.key_of(url);
        let line = ConsoleLine { level: Level::Log, text: text.into(), at: None, place: None };
        self.change(&key, |target| target.console.push(line));
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

    /// Returns where the pages are, oldest first.
    pub fn pages(&self) -> Vec<String> {
        let world = self.0.lock().unwrap();
        let mut pages: Vec<_> = world.targets.iter().collect();
        pages.sort_by_key(|(key, _)| key.trim_start_matches('T').parse::<u32>().unwrap());
        pages.into_iter().map(|(_, target)| target.url.clone()).collect()
    }

    /// Opens an `alert` on the page at `url`, from outside.
    pub fn alert(&self, url: &str, message: &str) {
        let key = self.key_of(url);
        self.open_dialog(&key, "alert", message);
    }

    /// Opens a `confirm` on the page at `url`, from outside.
    pub fn confirm(&self, url: &str, message: &str) {
        let key = self.key_of(url);
        self.open_dialog(&key, "confirm", message);
    }

    /// Kills the process of the page at `url`, from outside.
    pub fn crash(&self, url: &str) {
        self.end(url, PageEvent::Crashed);
    }

    /// Closes the page at `url`, from outside.
    pub fn close(&self, url: &str) {
        self.end(url, PageEvent::Gone);
    }

    /// Kills the process of every page.
    pub fn crash_all(&self) {
        self.pages().iter().for_each(|url| self.crash(url));
    }

    /// Closes every page.
    pub fn close_all(&self) {
        self.pages().iter().for_each(|url| self.close(url));
    }

    fn end(&self, url: &str, event: PageEvent) {
        let key = self.key_of(url);
        self.hit(&key, event);
    }

    fn key_of(&self, url: &str) -> String {
        let world = self.0.lock().unwrap();
        let found = world.targets.iter().find(|(_, target)| target.url == url);
        found.map(|(key, _)| key.clone()).expect("a page at that address")
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
        let opener = self.key_of(opener);
        self.pop_up_from(opener, url);
    }

    fn pop_up_from(&self, opener: String, url: &str) {
        let (sink, target) = {
            let mut world = self.0.lock().unwrap();
            let key = world.add(url);
            (world.browser.clone().expect("a browser"), key)
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
                if let Some(target) = self.0.lock().unwrap().targets.get_mut(key) {
                    target.alive = false;
                    let sink = target.sink.clone();
                    tokio::spawn(async move {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                        sink.upgrade().inspect(|sink| sink(PageEvent::Crashed));
                    });
                }
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
                self.open_dialog(key, "alert", "hello");
                return Err(PageError::DialogOpen);
            }
            Some(Fault::Navigate) => {
                self.land(key, "http://elsewhere.test/");
                return Err(PageError::Navigated { what: "the call" });
            }
            Some(Fault::Depart) => self.land(key, "http://elsewhere.test/"),
            Some(Fault::Panic) => panic!("a bug in {at:?}"),
            Some(Fault::Rename) => self.change(key, |target| target.renamed = true),
            Some(Fault::Reword) => self.change(key, |target| target.reworded = true),
            Some(Fault::Move) => self.change(key, |target| target.place = " — in row \"Bob\""),
            Some(Fault::Retype) => self.change(key, |target| target.field = "else".into()),
            Some(Fault::Secret) => self.change(key, |target| target.secret = true),
            Some(Fault::Compose) => self.change(key, |target| target.composes = true),
            Some(Fault::Focus) => self.change(key, |target| target.focused = true),
            Some(Fault::Garbage) => {}
        }
        Ok(fault)
    }

    fn change(&self, key: &str, change: impl FnOnce(&mut Target)) {
        if let Some(target) = self.0.lock().unwrap().targets.get_mut(key) {
            change(target);
        }
    }

    fn open_dialog(&self, key: &str, kind: &str, message: &str) {
        let dialog = Dialog { kind: kind.into(), message: message.into() };
        self.change(key, |target| target.dialog = Some(dialog.clone()));
        self.hit(key, PageEvent::DialogOpened(dialog));
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
            renamed: false,
            reworded: false,
            place: "",
            composes: false,
            secret: false,
            focused: false,
            console: Vec::new(),
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

#[async_trait]
impl Launcher for Web {
    async fn launch(
        &self,
        spec: LaunchSpec,
        sink: Sink<BrowserEvent>,
    ) -> Result<Arc<dyn Browser>, BrowserError> {
        let started = self.call(At::Launch, None).await;
        started.map_err(|error| BrowserError::StartFailed { why: error.to_string() })?;
        let mut world = self.0.lock().unwrap();
        world.browsers += 1;
        world.headless.push(spec.headless);
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
        Ok(Arc::new(FakePage::new(self.web.clone(), key, sink)))
    }

    async fn close_target(&self, target: &TargetKey) -> Result<(), PageError> {
        self.web.write(format!("close {}", target.0));
        self.web.0.lock().unwrap().targets.remove(&target.0);
        Ok(())
    }

    async fn cookies(&self) -> Result<CookieJar, PageError> {
        self.web.call(At::Cookies, None).await?;
        Ok(CookieJar(self.web.0.lock().unwrap().cookies.clone()))
    }

    async fn restore_cookies(&self, jar: &CookieJar) -> Result<(), PageError> {
        self.web.call(At::Restore, None).await?;
        self.web.0.lock().unwrap().restored.push(jar.0.clone());
        Ok(())
    }

    async fn shut_down(&self) {
        self.web.write("shut down");
        self.web.0.lock().unwrap().targets.clear();
    }
}
