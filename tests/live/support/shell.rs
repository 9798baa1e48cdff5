//! The real program, as a shell uses it: one home folder a test, nothing left when it is dropped.
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::devtools::DevTools;
use crate::support::kept::Kept;
use crate::support::processes::{kill, processes_with};

/// A home folder, and commands in it. Dropped, it ends its browsers and its daemon, and fails the
/// test if one of them lives on.
pub struct Shell {
    root: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

/// One command that is over.
#[derive(Debug, Default)]
pub struct Done {
    pub exit: i32,
    /// Standard output, read as the envelope; null when it is none.
    pub json: Value,
    pub out: String,
    pub err: String,
    pub took: Duration,
}

impl Done {
    /// The contract's word: the outcome, or the kind of the error.
    pub fn word(&self) -> &str {
        let outcome = self.json["outcome"].as_str();
        outcome.or_else(|| self.json["error"]["kind"].as_str()).unwrap_or_default()
    }

    pub fn data(&self, key: &str) -> &Value {
        &self.json["data"][key]
    }

    /// Fails the test unless the command succeeded.
    pub fn good(self) -> Self {
        assert_eq!(self.exit, 0, "{self:#?}");
        self
    }
}

impl Shell {
    pub fn new() -> Self {
        Self::in_folder("home")
    }

    /// A shell whose home folder has this name.
    pub fn in_folder(name: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join(name)).unwrap();
        // Throw-away profiles lie in here too, so that their browsers can be told from others.
        let (home, folder) = (root.path().join(name), root.path().display().to_string());
        let environment = vec![
            ("STRAWMANUS_HOME".to_owned(), home.display().to_string()),
            ("STRAWMANUS_BROWSER__HEADLESS".to_owned(), "true".to_owned()),
            ("TMPDIR".to_owned(), folder),
        ];
        Self { root, environment }
    }

    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.environment.push((key.to_owned(), value.to_owned()));
        self
    }

    pub fn home(&self) -> PathBuf {
        PathBuf::from(&self.environment[0].1)
    }

    /// The folder that commands are called in.
    pub fn folder(&self) -> &Path {
        self.root.path()
    }

    /// Runs a command to its end, with `--json`.
    pub fn run(&self, words: &[&str]) -> Done {
        self.plain(&[words, &["--json"]].concat())
    }

    /// Runs a command to its end, as it is.
    /// Changes the test page by a script of ours, which the guard would hold.
    pub fn script(&self, script: &str) -> Done {
        self.run(&["eval", script, "--auto-approve", "--allow", "test.localhost"]).good()
    }

    pub fn plain(&self, words: &[&str]) -> Done {
        let began = now();
        let output = self.command(words).output().unwrap();
        done(output, began.elapsed())
    }

    /// Starts a command with `--json`, to be waited for.
    pub fn start(&self, words: &[&str]) -> Started {
        let mut command = self.command(&[words, &["--json"]].concat());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Started::of(command)
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(words).current_dir(self.root.path());
        command.env_remove("ANTHROPIC_API_KEY").env_remove("OPENAI_API_KEY");
        command.envs(self.environment.iter().map(|(key, value)| (key, value)));
        command
    }

    pub fn actors(&self) -> Vec<Value> {
        let told = self.run(&["attach"]).good();
        told.data("actors").as_array().cloned().unwrap_or_default()
    }

    /// Returns the card of the actor with this name.
    pub fn actor(&self, name: &str) -> Value {
        let found = self.actors().into_iter().find(|actor| actor["name"] == name);
        found.unwrap_or_default()
    }

    /// Waits until an actor says that it does what is wanted.
    pub fn comes_to(&self, name: &str, wanted: impl Fn(&str) -> bool) {
        let seen = eventually(Duration::from_secs(30), || {
            let card = self.actor(name);
            card["doing"].as_str().is_some_and(&wanted).then_some(()).ok_or(card)
        });
        seen.unwrap_or_else(|card| panic!("{name} says {card}"));
    }

    /// Waits until an actor has been started again so often.
    pub fn comes_to_restarts(&self, name: &str, restarts: usize) {
        let seen = eventually(Duration::from_secs(30), || {
            let card = self.actor(name);
            (card["restarts"] == restarts).then_some(()).ok_or(card)
        });
        seen.unwrap_or_else(|card| panic!("{name} was not started again {restarts} times: {card}"));
    }

    /// Returns the process of a session's browser.
    pub fn browser(&self, session: &str) -> u32 {
        let card = self.actor(&format!("browser of {session}"));
        let doing = card["doing"].as_str().unwrap_or_default();
        let pid = doing.rsplit_once("pid ").map(|(_, pid)| pid.to_owned());
        pid.and_then(|pid| pid.parse().ok()).unwrap_or_else(|| panic!("no browser: {card}"))
    }

    pub fn daemon(&self) -> u32 {
        let told = self.run(&["attach"]).good();
        u32::try_from(told.data("pid").as_u64().unwrap()).unwrap()
    }

    /// Returns a kept connection to the daemon, which must run.
    pub fn keep(&self) -> Kept {
        Kept::to(&self.home())
    }

    /// Returns another client of the default session's browser.
    pub fn devtools(&self) -> DevTools {
        let url = self.run(&["get", "cdp-url"]).good();
        DevTools::at(url.data("value").as_str().unwrap())
    }

    /// Returns a tab's row of `tab list`; null when it is not there.
    pub fn tab(&self, id: &str) -> Value {
        let list = self.run(&["tab", "list"]).good();
        let rows = list.data("tabs").as_array().cloned().unwrap_or_default();
        rows.into_iter().find(|row| row["id"].as_u64() == id.parse().ok()).unwrap_or_default()
    }

    /// Returns the id of a new tab at `url`.
    pub fn new_tab(&self, url: &str) -> String {
        let tab = self.run(&["tab", "new", url]).good();
        tab.data("tab").to_string()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let told = self.plain(&["close", "--all", "--json"]);
        let folder = self.folder().display().to_string();
        let left = eventually(Duration::from_secs(10), || {
            let left = processes_with(&folder);
            left.is_empty().then_some(()).ok_or(left)
        });
        if let Err(left) = left {
            left.iter().for_each(|(pid, _)| kill(*pid));
            if !std::thread::panicking() {
                panic!("left running after {told:?}: {left:?}");
            }
        }
    }
}

/// A command under way.
pub struct Started {
    child: Child,
    began: Instant,
}

impl Started {
    pub fn of(mut command: Command) -> Self {
        Self { child: command.spawn().unwrap(), began: now() }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn wait(self) -> Done {
        let output = self.child.wait_with_output().unwrap();
        done(output, self.began.elapsed())
    }
}

/// The program that was built with this test or bench.
fn program() -> PathBuf {
    match option_env!("CARGO_BIN_EXE_strawmanus") {
        Some(program) => program.into(),
        // An example lies one folder below the programs.
        None => std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("strawmanus"),
    }
}

pub fn done(output: Output, took: Duration) -> Done {
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    // Live steps may stand before the envelope.
    let json = out.lines().last().and_then(|line| serde_json::from_str(line).ok());
    let exit = output.status.code().unwrap_or(-1);
    Done { exit, json: json.unwrap_or_default(), out, err, took }
}

/// Looks every 10 ms until `look` is content, or says what it saw last.
pub fn eventually<T, E>(
    patience: Duration,
    mut look: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let until = now() + patience;
    loop {
        match look() {
            Ok(seen) => return Ok(seen),
            Err(seen) if now() >= until => return Err(seen),
            Err(_) => pause(Duration::from_millis(10)),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test of real processes waits in real time")]
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

#[expect(clippy::disallowed_methods, reason = "a test of real processes measures real time")]
pub fn now() -> Instant {
    Instant::now()
}
