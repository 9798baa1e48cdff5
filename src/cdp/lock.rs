//! The lock that a browser holds on its profile: a link to `host-pid`.
use std::io;
use std::path::{Path, PathBuf};

use nix::sys::signal::kill;
use nix::unistd::{Pid, gethostname};

use crate::ports::browser::BrowserError;

/// Who holds a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Holder {
    Nobody,
    /// The lock of a process that is dead.
    Stale,
    Process(u32),
    Elsewhere(String),
}

/// Returns the process of this computer that has the profile `folder` open.
pub fn profile_holder(folder: &Path) -> Option<u32> {
    match holder(folder) {
        Holder::Process(pid) => Some(pid),
        Holder::Nobody | Holder::Stale | Holder::Elsewhere(_) => None,
    }
}

/// Makes sure that nobody holds the profile: removes the lock of a process that is dead.
pub(super) fn take(folder: &Path) -> Result<(), BrowserError> {
    let failed = |why: String| BrowserError::StartFailed { why };
    match holder(folder) {
        Holder::Nobody => Ok(()),
        Holder::Process(pid) => {
            Err(BrowserError::ProfileLocked { folder: folder.display().to_string(), pid })
        }
        Holder::Elsewhere(host) => Err(failed(format!(
            "the profile is in use on the computer {host}; if that is over, remove {}",
            lock(folder).display()
        ))),
        Holder::Stale => match std::fs::remove_file(lock(folder)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed(format!("the stale lock {}: {error}", lock(folder).display())))
            }
            _ => Ok(()),
        },
    }
}

fn lock(folder: &Path) -> PathBuf {
    folder.join("SingletonLock")
}

fn holder(folder: &Path) -> Holder {
    let Ok(link) = std::fs::read_link(lock(folder)) else { return Holder::Nobody };
    let link = link.to_string_lossy();
    let parsed = link.rsplit_once('-').and_then(|(host, pid)| Some((host, pid.parse().ok()?)));
    let Some((host, pid)) = parsed else { return Holder::Stale };
    let here = gethostname().is_ok_and(|name| name.to_string_lossy() == host);
    match (here, is_browser(pid)) {
        (false, _) => Holder::Elsewhere(host.to_owned()),
        (true, true) => Holder::Process(pid),
        (true, false) => Holder::Stale,
    }
}

/// Is `pid` a living browser? Pids are used again: where the system tells what a process runs,
/// another program does not hold the lock, and neither does a zombie, which runs nothing.
fn is_browser(pid: u32) -> bool {
    let Ok(number) = i32::try_from(pid) else { return false };
    let alive = !matches!(kill(Pid::from_raw(number), None), Err(nix::errno::Errno::ESRCH));
    match std::fs::read(format!("/proc/{pid}/cmdline")) {
        Ok(command) => alive && String::from_utf8_lossy(&command).to_lowercase().contains("chrom"),
        Err(_) => alive,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn locked_by(host: &str, pid: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        symlink(format!("{host}-{pid}"), lock(folder.path())).unwrap();
        folder
    }

    #[test]
    fn a_lock_holds_only_while_its_browser_lives() {
        let here = gethostname().unwrap().to_string_lossy().into_owned();
        let free = tempfile::tempdir().unwrap();
        assert_eq!(holder(free.path()), Holder::Nobody);

        // This test is alive, and no browser.
        let folder = locked_by(&here, std::process::id());
        assert_eq!(holder(folder.path()), Holder::Stale);
        take(folder.path()).unwrap();
        assert_eq!(holder(folder.path()), Holder::Nobody);

        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        assert_eq!(holder(locked_by(&here, ended.id()).path()), Holder::Stale);
    }

    #[test]
    fn a_living_browser_is_named() {
        let here = gethostname().unwrap().to_string_lossy().into_owned();
        let mut command = std::process::Command::new("sleep");
        std::os::unix::process::CommandExt::arg0(&mut command, "chromium");
        let mut browser = command.arg("60").spawn().unwrap();
        let folder = locked_by(&here, browser.id());
        // The program's name is there once it runs.
        while std::fs::read(format!("/proc/{}/cmdline", browser.id())).is_ok_and(|c| c.is_empty()) {
            std::thread::yield_now();
        }
        assert_eq!(profile_holder(folder.path()), Some(browser.id()));
        let locked = take(folder.path()).unwrap_err();
        assert!(matches!(locked, BrowserError::ProfileLocked { pid, .. } if pid == browser.id()));
        browser.kill().unwrap();
        browser.wait().unwrap();
        assert_eq!(holder(folder.path()), Holder::Stale);
    }

    #[test]
    fn the_lock_of_another_computer_is_left_alone() {
        let folder = locked_by("some-other-host", 1);
        assert_eq!(holder(folder.path()), Holder::Elsewhere("some-other-host".into()));
        let error = take(folder.path()).unwrap_err().to_string();
        assert!(error.contains("in use on the computer some-other-host"), "{error}");
        assert!(std::fs::read_link(lock(folder.path())).is_ok());
    }
}
