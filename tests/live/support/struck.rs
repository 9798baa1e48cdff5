//! What can befall a tab, and how long it takes until it is answered for and well again.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use strawmanus::practice::server::{Options, Practice};

use crate::support::devtools::DevTools;
use crate::support::kept::Kept;
use crate::support::processes::{kill, renderers_of, resident};
use crate::support::shell::{Done, Shell, eventually, now};

/// A script that never ends.
pub const NEVER: [&str; 4] = ["eval", "new Promise(() => 0)", "--timeout", "60s"];
/// Whatever takes so long is as bad as what never comes.
pub const LONG: Duration = Duration::from_secs(60);

/// What befalls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    RendererKilled,
    PageCrashed,
    TargetClosed,
    BrowserKilled,
}

/// A browser with tabs on sites of their own, so that each has a page process of its own.
pub struct Stage {
    pub practice: Practice,
    pub shell: Shell,
}

/// Whom a fault befalls, and another client that is attached to it.
pub struct Victim {
    pub tab: String,
    devtools: DevTools,
    target: String,
    session: String,
    renderers: Vec<u32>,
    browser: u32,
}

/// How a fault went: counted from the moment it struck.
#[derive(Debug)]
pub struct Struck {
    /// What the command under way was answered, and when.
    pub pending: Option<(Done, Duration)>,
    pub at: Instant,
}

impl Fault {
    /// The outcome of a command that was under way.
    pub fn word(self) -> &'static str {
        match self {
            Self::TargetClosed => "target_gone",
            Self::RendererKilled | Self::PageCrashed | Self::BrowserKilled => "tab_restarted",
        }
    }

    pub fn strike(self, victim: &mut Victim) {
        match self {
            Self::RendererKilled => victim.renderers.iter().for_each(|pid| kill(*pid)),
            Self::PageCrashed => victim.devtools.crash(&victim.session),
            Self::TargetClosed => victim.devtools.close(&victim.target),
            Self::BrowserKilled => kill(victim.browser),
        }
    }

    /// Strikes while the `command` is under way in the victim's tab, if there is one.
    pub fn strike_during(
        self,
        shell: &Shell,
        victim: &mut Victim,
        command: Option<&[&str]>,
    ) -> Struck {
        let Some(command) = command else {
            let at = now();
            self.strike(victim);
            return Struck { pending: None, at };
        };
        let mut kept = shell.keep();
        std::thread::scope(|scope| {
            let tab = victim.tab.clone();
            let under_way = scope.spawn(move || {
                let done = kept.run(&[command, &["--tab", &tab]].concat());
                (done, now())
            });
            shell.comes_to(&format!("tab t{}", victim.tab), |doing| !doing.starts_with("idle"));
            let at = now();
            self.strike(victim);
            let (done, answered) = under_way.join().unwrap();
            Struck { pending: Some((done, answered - at)), at }
        })
    }
}

impl Stage {
    pub fn new() -> Self {
        Self { practice: Practice::start(Options::default()).unwrap(), shell: Shell::new() }
    }

    /// Returns a new tab at a page of a site.
    pub fn tab(&self, site: &str, path: &str) -> String {
        self.shell.new_tab(&self.practice.url(site, path))
    }

    /// Looks up what a fault in this tab needs to know; its URL must be nobody else's.
    pub fn victim(&self, tab: &str) -> Victim {
        let url = self.shell.tab(tab)["url"].as_str().unwrap().to_owned();
        let mut victim = self.victim_at(&url, &[]);
        let (session, browser) = (victim.session.clone(), victim.browser);
        victim.renderers = vec![victim.devtools.renderer(browser, &session)];
        Victim { tab: tab.to_owned(), ..victim }
    }

    /// The same for a page that cannot be asked now, because it is on its way to another: every
    /// page process is its own but those of `others`.
    pub fn victim_at(&self, url: &str, others: &[Victim]) -> Victim {
        let (mut devtools, browser) = (self.shell.devtools(), self.shell.browser("default"));
        let target = devtools.page(url);
        let session = devtools.attach(&target);
        let mut renderers = renderers_of(browser);
        renderers.retain(|pid| !others.iter().any(|other| other.renderers.contains(pid)));
        Victim { tab: String::new(), devtools, target, session, renderers, browser }
    }
}

/// Asks until the tab answers from a page that can be worked with, at this URL; returns when it did.
pub fn usable(kept: &mut Kept, tab: &str, url: &str) -> Instant {
    let answered = eventually(LONG, || {
        let done = kept.run(&["eval", "location.href", "--tab", tab, "--timeout", "30s"]);
        if *done.data("value") == url { Ok(now()) } else { Err(Box::new(done)) }
    });
    answered.unwrap_or_else(|done| panic!("tab {tab} did not come back to {url}: {done:?}"))
}

/// Asks a tab without a pause, on a connection of its own.
pub struct Hammer {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Hammered>,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Hammered {
    pub took: Vec<Duration>,
    pub failed: Vec<Done>,
}

impl Hammer {
    pub fn on(shell: &Shell, tab: &str) -> Self {
        let (stop, mut kept, tab) =
            (Arc::new(AtomicBool::new(false)), shell.keep(), tab.to_owned());
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut hammered = Hammered::default();
            while !stopped.load(Ordering::Relaxed) {
                for words in [["get", "title", "--tab", &tab], ["eval", "1", "--tab", &tab]] {
                    let done = kept.run(&words);
                    hammered.took.push(done.took);
                    if done.exit != 0 {
                        hammered.failed.push(done);
                    }
                }
            }
            hammered
        });
        Self { stop, thread }
    }

    pub fn stop(self) -> Hammered {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Asks and reads a tab so often, in turns; returns how long each took. Fails the test when one
/// fails.
pub fn latencies(kept: &mut Kept, tab: &str, times: usize) -> Vec<Duration> {
    let all = [&["get", "title"][..], &["eval", "1"], &["observe"]];
    let asked = (0..times).flat_map(|_| all);
    asked.map(|words| kept.run(&[words, &["--tab", tab]].concat()).good().took).collect()
}

/// Opens so many tabs, reads each, and closes them; returns by how many bytes the daemon had grown
/// while all were open.
pub fn tab_costs(stage: &Stage, tabs: usize) -> u64 {
    let (daemon, mut kept) = (stage.shell.daemon(), stage.shell.keep());
    let before = resident(daemon);
    let url = stage.practice.url("shop", "/");
    let open = |kept: &mut Kept| {
        let tab = kept.run(&["tab", "new", &url]).good().data("tab").to_string();
        kept.run(&["observe", "--tab", &tab]).good();
        tab
    };
    let all: Vec<_> = (0..tabs).map(|_| open(&mut kept)).collect();
    let grown = resident(daemon).saturating_sub(before);
    for tab in all {
        kept.run(&["tab", "close", &tab]).good();
    }
    grown
}
