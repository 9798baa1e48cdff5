//! The other program, in a throw-away home folder. Dropped, what it started is ended.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::processes::{kill, processes_with};
use crate::support::shell::{Done, done, eventually, now};

const SESSION: &str = "bench";

pub struct Peer {
    program: PathBuf,
    chromium: PathBuf,
    folder: tempfile::TempDir,
}

impl Peer {
    pub fn new(program: &Path, chromium: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { program: program.to_owned(), chromium: chromium.to_owned(), folder }
    }

    pub fn run(&self, words: &[&str]) -> Done {
        let folder = self.folder.path();
        let mut command = Command::new(&self.program);
        command.args(words).current_dir(folder).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", folder);
        command.env("TMPDIR", folder).env("AGENT_BROWSER_SOCKET_DIR", folder.join("s"));
        command.env("AGENT_BROWSER_SESSION", SESSION);
        command.env("AGENT_BROWSER_EXECUTABLE_PATH", &self.chromium);
        command.env("AGENT_BROWSER_ARGS", "--no-sandbox");
        command.env("AGENT_BROWSER_NO_VERSION_CHECK", "1");
        let began = now();
        let output = command.output().expect("the other program runs");
        done(output, began.elapsed())
    }

    /// Returns its daemon's process.
    pub fn daemon(&self) -> Option<u32> {
        let file = self.folder.path().join("s").join(format!("{SESSION}.pid"));
        std::fs::read_to_string(file).ok()?.trim().parse().ok()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let daemon = self.daemon();
        self.run(&["close"]);
        let folder = self.folder.path().display().to_string();
        let left = || -> Vec<u32> {
            let alive = daemon.filter(|pid| Path::new(&format!("/proc/{pid}")).exists());
            let browsers = processes_with(&folder).into_iter().map(|(pid, _)| pid);
            alive.into_iter().chain(browsers).collect()
        };
        let gone = || if left().is_empty() { Ok(()) } else { Err(()) };
        if eventually(Duration::from_secs(5), gone).is_err() {
            left().into_iter().for_each(kill);
        }
    }
}
