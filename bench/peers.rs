//! Side by side with another program for the same job: `bench/peers/run`.
//!
//! Both drive the same Chromium over the same pages, in turns, and each figure is the time of one
//! whole process of the command line. Ours is built in the project's one profile, whose own code is
//! not optimized; the other is its release.
#[path = "peers/pages.rs"]
mod pages;
#[path = "peers/peer.rs"]
mod peer;
#[path = "peers/rows.rs"]
mod rows;
#[expect(dead_code, reason = "tests use more of it")]
#[path = "faults/support.rs"]
mod support;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::pages::Pages;
use crate::peer::Peer;
use crate::rows::Rows;
use crate::support::processes::resident;
use crate::support::shell::{Done, Shell};

/// In this order, since memory is looked at after the last two.
const PAGES: [&str; 4] = ["search", "form", "news", "table"];

struct Asked {
    rounds: usize,
    peer: PathBuf,
    chromium: PathBuf,
    pages: PathBuf,
}

fn main() -> ExitCode {
    let Some(asked) = asked() else {
        eprintln!("usage: bench/peers/run [--rounds N]");
        return ExitCode::from(2);
    };
    let pages = Pages::of(&asked.pages).expect("a port");
    let mut rows = Rows::default();
    println!(
        "{} rounds in turns, ours in the dev profile; load before: {}\n",
        asked.rounds,
        load()
    );
    cold(&asked, &pages, &mut rows);
    warm(&asked, &pages, &mut rows);
    println!("{rows}\nload after: {}", load());
    ExitCode::SUCCESS
}

fn asked() -> Option<Asked> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut asked =
        Asked { rounds: 10, peer: PathBuf::new(), chromium: PathBuf::new(), pages: PathBuf::new() };
    for pair in words.chunks(2) {
        let [name, value] = pair else { return None };
        match name.as_str() {
            "--rounds" => asked.rounds = value.parse().ok().filter(|rounds| *rounds > 0)?,
            "--peer" => asked.peer = std::fs::canonicalize(value).ok()?,
            "--chromium" => asked.chromium = value.into(),
            "--pages" => asked.pages = value.into(),
            _ => return None,
        }
    }
    (asked.peer.is_file() && asked.pages.is_dir()).then_some(asked)
}

/// Both programs, one beside the other.
struct Both {
    ours: Shell,
    theirs: Peer,
}

impl Both {
    fn new(asked: &Asked) -> Self {
        let ours = Shell::new();
        let ours =
            ours.with("STRAWMANUS_BROWSER__EXECUTABLE", &asked.chromium.display().to_string());
        Self { ours, theirs: Peer::new(&asked.peer, &asked.chromium) }
    }

    /// Runs a command by both, ours first. Fails when one of them does.
    fn run(&self, ours: &[&str], theirs: &[&str]) -> [Done; 2] {
        [self.ours.plain(ours).good(), self.theirs.run(theirs).good()]
    }

    fn same(&self, words: &[&str]) -> [Done; 2] {
        self.run(words, words)
    }

    fn memory(&self) -> [f64; 2] {
        let daemons = [Some(self.ours.daemon()), self.theirs.daemon()];
        daemons.map(|daemon| daemon.map_or(0.0, |pid| resident(pid) as f64 / 1048576.0))
    }
}

/// From nothing to a page that can be used.
fn cold(asked: &Asked, pages: &Pages, rows: &mut Rows) {
    let url = pages.url("form");
    let opened: Vec<_> =
        (0..asked.rounds).map(|_| Both::new(asked).same(&["open", &url])).collect();
    rows.times("open form, with nothing running", &opened);
}

fn warm(asked: &Asked, pages: &Pages, rows: &mut Rows) {
    let both = Both::new(asked);
    let open = |page: &str| both.same(&["open", &pages.url(page)]);
    for page in PAGES {
        open(page);
        // The first look is not measured.
        let sizes = both.same(&["snapshot", "-i"]).map(|done| done.out.len() as f64 / 4.0);
        let seen: Vec<_> = (0..asked.rounds).map(|_| both.same(&["snapshot", "-i"])).collect();
        rows.times(&format!("snapshot -i of {page}"), &seen);
        rows.values("… tokens of it (bytes / 4)", "", sizes);
        if page == "news" || page == "table" {
            rows.values(&format!("daemon after {page}, without Chromium"), "MB", both.memory());
        }
    }
    open("form");
    acts(asked, &both, rows);
}

fn acts(asked: &Asked, both: &Both, rows: &mut Rows) {
    let rounds = || 0..asked.rounds;
    let box_of = |done: &Done| reference(&done.out, "checkbox");
    let [ours, theirs] = both.same(&["snapshot", "-i"]).map(|done| box_of(&done));
    let theirs = format!("@{theirs}");
    let clicked =
        rounds().map(|_| both.run(&["click", &ours], &["click", &theirs])).collect::<Vec<_>>();
    rows.times("click a checkbox by number", &clicked);
    // What ours answers with the act, the other has to be asked for.
    let mut seen = clicked;
    for [_, theirs] in &mut seen {
        theirs.took += both.theirs.run(&["snapshot", "-i"]).good().took;
    }
    rows.times("the same, and what it changed (theirs: and a snapshot)", &seen);
    let css = ["click", "input[name=k10]"];
    rows.times("click a checkbox by CSS", &rounds().map(|_| both.same(&css)).collect::<Vec<_>>());
    let text = |round: usize| format!("text {round}");
    let filled = rounds().map(|round| both.same(&["fill", "#q", &text(round)])).collect::<Vec<_>>();
    rows.times("fill a field", &filled);
    for words in [&["get", "text", "#out"][..], &["get", "url"]] {
        let got = rounds().map(|_| both.same(words)).collect::<Vec<_>>();
        rows.times(&words.join(" "), &got);
    }
}

/// Returns the number of the first element of a role in a snapshot: `e12`.
fn reference(snapshot: &str, role: &str) -> String {
    let line = snapshot.lines().find(|line| line.trim_start().starts_with(&format!("- {role} ")));
    let line = line.unwrap_or_else(|| panic!("no {role} in {snapshot}"));
    let (_, after) = line.split_once("ref=").expect("a number");
    after.chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// How busy the machine is: processes that want a core, over 1, 5 and 15 minutes.
fn load() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<_> = load.split_whitespace().take(3).collect();
    format!("{} on {cores} cores", load.join(" "))
}
