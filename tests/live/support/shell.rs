//! The real program, as a shell uses it: one home folder a test, nothing left when it is dropped.
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use strawmanus::app::demo::processes::{kill, renderers_of};

const PROGRAM: &str = env!("CARGO_BIN_EXE_strawmanus");

/// A home folder, and commands in it. Dropped, it ends its browsers and its daemon, and fails the
/// test if one of them lives on.
pub struct Shell {
    root: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

/// One command that is over.
#[derive(Debug)]
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
        let home = root.path().join(name);
        let environment = vec![
            ("STRAWMANUS_HOME".to_owned(), home.display().to_string()),
            ("STRAWMANUS_BROWSER__HEADLESS".to_owned(), "true".to_owned()),
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
        let mut command = Command::new(PROGRAM);
        command.args(words).current_dir(self.root.path()).env_remove("ANTHROPIC_API_KEY");
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

    /// Kills the page processes that `before` did not list, or all of them.
    pub fn kill_renderers(&self, browser: u32, but: &[u32]) -> Vec<u32> {
        let mut killed = renderers_of(browser);
        killed.retain(|pid| !but.contains(pid));
        killed.iter().for_each(|pid| kill(*pid));
        killed
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let told = self.plain(&["close", "--all", "--json"]);
        let home = self.home().display().to_string();
        let left = eventually(Duration::from_secs(10), || {
            let left = processes_with(&home);
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

    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub fn wait(self) -> Done {
        let output = self.child.wait_with_output().unwrap();
        done(output, self.began.elapsed())
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

/// Lists the living processes that name `words` in their command or environment: a home folder is
/// named by its daemon's environment and by its browsers' profiles.
pub fn processes_with(words: &str) -> Vec<(u32, String)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let command = std::fs::read(entry.path().join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let surroundings = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let surroundings = String::from_utf8_lossy(&surroundings).into_owned();
        let ours = !command.is_empty() && pid != std::process::id();
        let daemon = command.contains(" daemon") && surroundings.contains(words);
        (ours && (command.contains(words) || daemon)).then_some((pid, command))
    });
    named.collect()
}
