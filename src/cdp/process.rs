//! The browser's process: its own group, ended as a whole, and no zombie left of it.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStderr};
use tokio::sync::watch;

/// Lines of the browser's complaints that are kept, and how much of each.
const LINES: usize = 12;
const LINE: usize = 300;
/// How long the members of a killed group may take to be gone.
const REAPING: Duration = Duration::from_secs(5);
/// How long a browser that failed may take to say why.
const LAST_WORDS: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_millis(20);

/// A browser that we started. Dropping it kills the whole group.
pub(super) struct Process {
    pub pid: u32,
    group: Pid,
    complaints: Complaints,
    /// Closes when the browser can say no more.
    listening: watch::Receiver<()>,
    /// How the process ended, once it did.
    ended: watch::Receiver<Option<String>>,
}

type Complaints = Arc<Mutex<VecDeque<String>>>;

impl Process {
    /// Watches over `child`, the leader of its own group. `folder` is removed when all is over.
    pub fn watch(mut child: Child, folder: Option<TempDir>) -> Option<Self> {
        let pid = child.id()?;
        let group = Pid::from_raw(i32::try_from(pid).ok()?);
        let complaints = Complaints::default();
        let (listens, listening) = watch::channel(());
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(listen(stderr, Arc::clone(&complaints), listens));
        }
        let (tell, ended) = watch::channel(None);
        tokio::spawn(keep(child, group, tell, folder));
        Some(Self { pid, group, complaints, listening, ended })
    }

    /// Ends the browser and returns how it ended and what it complained of last.
    pub async fn last_words(&self) -> String {
        // One that is about to end by itself says why.
        let how = match tokio::time::timeout(LAST_WORDS, self.ended()).await {
            Ok(how) => how,
            Err(_) => {
                self.kill();
                "it had to be killed".to_owned()
            }
        };
        let mut listening = self.listening.clone();
        let all_said = async { while listening.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(LAST_WORDS, all_said).await;
        let lines = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = lines.iter().map(String::as_str);
        std::iter::once(how.as_str()).chain(lines).collect::<Vec<_>>().join("\n")
    }

    /// Waits until the process ended; returns how.
    pub async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(how) => how.clone().unwrap_or_default(),
            Err(_) => "it ended".to_owned(),
        }
    }

    pub fn kill(&self) {
        // Once the leader was reaped its number may belong to others.
        if self.ended.borrow().is_none() {
            let _ = killpg(self.group, Signal::SIGKILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the leader, ends what is left of its group, and reaps what falls to us.
async fn keep(
    mut child: Child,
    group: Pid,
    tell: watch::Sender<Option<String>>,
    folder: Option<TempDir>,
) {
    let how = match child.wait().await {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    let _ = killpg(group, Signal::SIGKILL);
    tell.send_replace(Some(how));
    let _ = tokio::time::timeout(REAPING, reap(group)).await;
    if let Some(folder) = folder {
        let path = folder.path().to_owned();
        let removed = tokio::task::spawn_blocking(move || folder.close()).await;
        if !matches!(removed, Ok(Ok(()))) {
            tracing::warn!(folder = %path.display(), "a throw-away profile could not be removed");
        }
    }
    reap_strays().await;
}

/// Reaps the group's other members: they are ours when this process adopts orphans.
async fn reap(group: Pid) {
    let all = Pid::from_raw(-group.as_raw());
    loop {
        match waitpid(all, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => tokio::time::sleep(STEP).await,
            Ok(_) | Err(Errno::EINTR) => {}
            // No member is our child. Those that init has to reap are gone as soon as it does.
            Err(_) => return,
        }
    }
}

/// Reaps orphans that had left the group, such as the browser's crash handlers: they end by
/// themselves, a moment after the browser.
#[cfg(target_os = "linux")]
async fn reap_strays() {
    use tokio::signal::unix::{SignalKind, signal};
    let until = tokio::time::Instant::now() + REAPING;
    let Ok(mut deaths) = signal(SignalKind::child()) else { return };
    loop {
        for stray in strays() {
            let _ = waitpid(stray, Some(WaitPidFlag::WNOHANG));
        }
        if tokio::time::timeout_at(until, deaths.recv()).await.is_err() {
            return;
        }
    }
}

#[cfg(not(target_os = "linux"))]
async fn reap_strays() {}

/// Lists our children in other sessions. We start none there, so nobody else waits for them.
#[cfg(target_os = "linux")]
fn strays() -> Vec<Pid> {
    use nix::unistd::getsid;
    let here = getsid(None);
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_ours = |pid: &i32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:\t"));
        parent.is_some_and(|parent| parent == std::process::id().to_string())
    };
    pids.filter(is_ours).map(Pid::from_raw).filter(|pid| getsid(Some(*pid)) != here).collect()
}

/// Lets the orphans of this process's children fall to it, so that it can reap them.
#[cfg(target_os = "linux")]
pub(super) fn adopt_orphans() {
    if let Err(error) = nix::sys::prctl::set_child_subreaper(true) {
        tracing::debug!(%error, "orphans are left to init");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn adopt_orphans() {}

async fn listen(stderr: ChildStderr, complaints: Complaints, _listens: watch::Sender<()>) {
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let line: String = String::from_utf8_lossy(&line).chars().take(LINE).collect();
        let mut kept = complaints.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == LINES {
            kept.pop_front();
        }
        kept.push_back(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Child {
        tokio::process::Command::new("sh")
            .args(["-c", script])
            .process_group(0)
            .stderr(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    }

    #[tokio::test]
    async fn the_whole_group_ends_with_its_owner_and_the_folder_goes() {
        adopt_orphans();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let mut child = shell("sleep 600 & echo $!; wait");
        let mut grandchild = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut grandchild).await.unwrap();
        let grandchild = Pid::from_raw(grandchild.trim().parse().unwrap());
        let process = Process::watch(child, Some(folder)).unwrap();
        let mut ended = process.ended.clone();
        drop(process);
        assert!(ended.wait_for(Option::is_some).await.unwrap().is_some());
        for _ in 0..250 {
            let gone = nix::sys::signal::kill(grandchild, None) == Err(Errno::ESRCH);
            if gone && !path.exists() {
                return;
            }
            tokio::time::sleep(STEP).await;
        }
        panic!("{grandchild} or {} is still there", path.display());
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn an_orphan_in_a_session_of_its_own_is_reaped() {
        adopt_orphans();
        let mut child = shell("setsid sh -c 'echo $$; exec sleep 0.2' & wait; exit");
        let mut stray = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut stray).await.unwrap();
        let stray = Pid::from_raw(stray.trim().parse().unwrap());
        let process = Process::watch(child, None).unwrap();
        process.kill();
        process.ended().await;
        for _ in 0..250 {
            if nix::sys::signal::kill(stray, None) == Err(Errno::ESRCH) {
                return;
            }
            tokio::time::sleep(STEP).await;
        }
        panic!("{stray} is still there");
    }

    #[tokio::test]
    async fn the_last_complaints_are_kept() {
        let child = shell("for n in $(seq 1 40); do echo line $n >&2; done; exit 7");
        let process = Process::watch(child, None).unwrap();
        let words = process.last_words().await;
        assert!(words.starts_with("exit status: 7\n"), "{words}");
        assert!(words.ends_with("line 40"), "{words}");
        assert_eq!(words.lines().count(), 1 + LINES);
    }
}
