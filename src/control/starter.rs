//! Starts the daemon as a process of its own.
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::config::environment::{Environment, is_taken};
use crate::config::home::Home;
use crate::control::daemon::open_private;

/// A log that is longer is put aside when the next daemon starts, so there are two at most.
const LONGEST_LOG: u64 = 4 << 20;
/// How much of the log is told when a daemon dies at its start.
const TAIL_LINES: usize = 8;

/// What starts a daemon.
pub trait Starter: Send + Sync + 'static {
    /// Starts one and returns at once.
    fn start(&self, home: &Home) -> io::Result<Starting>;
}

/// A daemon that was started, and may not serve yet.
pub struct Starting {
    has_ended: Box<dyn FnMut() -> bool + Send>,
    log: Option<(PathBuf, u64)>,
}

impl Starting {
    /// `has_ended` says whether it is over; `log` is the file it writes, and where it began.
    pub fn new(
        has_ended: impl FnMut() -> bool + Send + 'static,
        log: Option<(PathBuf, u64)>,
    ) -> Self {
        Self { has_ended: Box::new(has_ended), log }
    }

    pub fn has_ended(&mut self) -> bool {
        (self.has_ended)()
    }

    /// Returns the last lines that this daemon logged.
    pub fn log_tail(&self) -> String {
        self.log.as_ref().map_or_else(String::new, |(path, from)| tail(path, *from))
    }
}

/// Starts this program again, with the verb `daemon`.
#[derive(Debug)]
pub struct ProcessStarter {
    environment: Environment,
}

impl ProcessStarter {
    /// The daemon gets of `environment` only what concerns itself; each command brings its own.
    pub fn new(environment: Environment) -> Self {
        Self { environment }
    }

    fn command(&self, home: &Home) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("daemon").current_dir("/").env("STRAWMANUS_HOME", home.folder());
        // The daemon must not live off the first caller's keys, proxies or settings.
        let own = |key: &str| key == "STRAWMANUS_LOG" || key.starts_with("STRAWMANUS_DAEMON__");
        for (key, _) in self.environment.iter().filter(|(key, _)| is_taken(key)) {
            if key != "STRAWMANUS_HOME" && !own(key) {
                command.env_remove(key);
            }
        }
        Ok(command)
    }
}

impl Starter for ProcessStarter {
    fn start(&self, home: &Home) -> io::Result<Starting> {
        let path = home.log_file();
        if fs::metadata(&path).is_ok_and(|about| about.len() > LONGEST_LOG) {
            fs::rename(&path, path.with_extension("log.1"))?;
        }
        let log = open_private(&path)?;
        let began = log.metadata()?.len();
        let mut command = self.command(home)?;
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()?;
        Ok(Starting::new(ended(child), Some((path, began))))
    }
}

fn ended(mut child: Child) -> impl FnMut() -> bool + Send {
    move || !matches!(child.try_wait(), Ok(None))
}

fn tail(path: &Path, from: u64) -> String {
    let read = || -> io::Result<String> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut text = Vec::new();
        file.take(64 << 10).read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    };
    let text = read().unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}
