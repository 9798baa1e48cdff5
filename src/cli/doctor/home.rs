//! The home folder, the daemon in it, and what dead processes left there.
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::sys::statvfs::statvfs;
use nix::unistd::Pid;

use crate::cli::doctor::{Cure, Finding, Room, State};
use crate::config::home::Home;
use crate::control::build::Build;
use crate::control::daemon::{lock_holder, lock_is_free};
use crate::control::link::{Link, NoLink};

/// Below this a store or a profile may soon fail to be written, and below the other it will.
const LITTLE_SPACE: u64 = 500 << 20;
const NO_SPACE: u64 = 50 << 20;

pub async fn look(room: &Room<'_>) -> Vec<Finding> {
    let home = &room.visit.home;
    let mut findings = vec![folder(home)];
    if findings[0].state != State::Broken && home.folder().exists() {
        findings.push(space(home));
    }
    findings.push(daemon(home).await);
    findings.extend(stale_socket(home));
    findings.extend(profiles(room));
    findings
}

fn folder(home: &Home) -> Finding {
    let path = home.folder().display().to_string();
    let Ok(about) = fs::metadata(home.folder()) else {
        return Finding::ok("home", format!("{path} (made when needed)")).cure(Cure::PrepareHome);
    };
    if !about.is_dir() {
        return Finding::new("home", State::Broken, format!("{path} is no folder"))
            .remedy("move it away, or set STRAWMANUS_HOME");
    }
    if about.uid() != nix::unistd::geteuid().as_raw() {
        return Finding::new("home", State::Broken, format!("{path} belongs to another user"))
            .remedy("set STRAWMANUS_HOME to a folder of your own");
    }
    let mode = about.mode() & 0o777;
    if mode & 0o077 != 0 {
        let open = Finding::new(
            "home",
            State::Broken,
            format!("{path} is open to others (mode {mode:03o})"),
        )
        .remedy(format!("chmod 700 '{path}'"));
        return if home.may_be_closed() { open.cure(Cure::CloseHome) } else { open };
    }
    match tempfile::tempfile_in(home.folder()) {
        Ok(_) => Finding::ok("home", path),
        Err(error) => {
            Finding::new("home", State::Broken, format!("{path} cannot be written: {error}"))
                .remedy("make it writable, or set STRAWMANUS_HOME")
        }
    }
}

fn space(home: &Home) -> Finding {
    let Ok(about) = statvfs(home.folder()) else {
        return Finding::ok("disk", "unknown");
    };
    #[expect(clippy::unnecessary_cast, reason = "these widths differ between systems")]
    let free = about.blocks_available() as u64 * about.fragment_size() as u64;
    let found = format!("{} MB free", free >> 20);
    let state = match free {
        free if free < NO_SPACE => State::Broken,
        free if free < LITTLE_SPACE => State::Warning,
        _ => return Finding::ok("disk", found),
    };
    Finding::new("disk", state, found)
        .remedy("free some space, or set STRAWMANUS_HOME to another disk")
}

async fn daemon(home: &Home) -> Finding {
    match Link::open(&home.socket()).await {
        Ok(link) => {
            let pid = link.hello.pid;
            let version =
                link.hello.build.as_ref().map_or("unknown", |build| build.version.as_str());
            let found = format!("version {version} (process {pid})");
            let ours = Build::of_process();
            if link.hello.build.as_ref().is_some_and(|build| build.serves(&ours)) {
                return Finding::ok("daemon", found);
            }
            Finding::new("daemon", State::Warning, format!("{found}, another build than this one"))
                .remedy("the next command replaces it")
        }
        Err(NoLink::Absent) if lock_is_free(home) => {
            Finding::ok("daemon", "not running (started when needed)")
        }
        Err(_) => {
            let pid = lock_holder(home).map_or_else(|| "PID".to_owned(), |pid| pid.to_string());
            Finding::new("daemon", State::Broken, format!("process {pid} does not answer"))
                .remedy(format!("run `kill {pid}`"))
        }
    }
}

fn stale_socket(home: &Home) -> Option<Finding> {
    let socket = home.socket();
    let stale = crate::cli::exists(&socket) && lock_is_free(home);
    stale.then(|| {
        Finding::new(
            "socket",
            State::Warning,
            format!("{} is left of a dead daemon", socket.display()),
        )
        .remedy("harmless; `doctor --fix` removes it")
        .cure(Cure::RemoveFiles(vec![socket]))
    })
}

/// Looks for profiles that a process locks, and for locks whose process is dead.
fn profiles(room: &Room<'_>) -> Vec<Finding> {
    let sessions = room.visit.home.below(&room.config.folders.profiles);
    let entries = fs::read_dir(sessions).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path().join("profile"));
    folders.filter_map(|folder| profile(room, &folder)).collect()
}

fn profile(room: &Room<'_>, folder: &Path) -> Option<Finding> {
    let pid = room.probe.profile_holder(folder)?;
    let shown = folder.display();
    if is_alive(pid) {
        return Some(Finding::ok("profile", format!("{shown} is in use by process {pid}")));
    }
    let locks: Vec<PathBuf> = ["SingletonLock", "SingletonSocket", "SingletonCookie"]
        .map(|name| folder.join(name))
        .into();
    Some(
        Finding::new(
            "profile",
            State::Warning,
            format!("{shown} is locked by process {pid}, which is dead"),
        )
        .remedy("`doctor --fix` removes the lock")
        .cure(Cure::RemoveFiles(locks)),
    )
}

fn is_alive(pid: u32) -> bool {
    let Ok(pid) = i32::try_from(pid) else { return false };
    !matches!(kill(Pid::from_raw(pid), None), Err(Errno::ESRCH))
}
