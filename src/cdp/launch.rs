//! Starting a browser of our own, on a pipe.
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use tempfile::TempDir;
use tokio::net::unix::pipe;
use tokio::process::Command;

use crate::cdp::lock;
use crate::cdp::process::{Process, adopt_orphans};
use crate::cdp::wire::Wire;
use crate::ports::browser::{BrowserError, LaunchSpec, ProfileMode};

pub use crate::cdp::lock::profile_holder;

/// Where the browser writes the port and path for other clients.
const PORT_FILE: &str = "DevToolsActivePort";
const PORT_PATIENCE: Duration = Duration::from_secs(2);
const PORT_STEP: Duration = Duration::from_millis(10);

/// What every browser of ours is started with.
const ARGUMENTS: &[&str] = &[
    "--remote-debugging-pipe",
    "--remote-debugging-port=0",
    // Pages are opened as targets; nothing else is.
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-default-apps",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--metrics-recording-only",
    "--no-pings",
    "--hide-crash-restore-bubble",
    "--disable-search-engine-choice-screen",
    // A failed page must not load itself again under a run's hands.
    "--disable-auto-reload",
    // Tabs in the background work like the one in front.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider",
    // No keyring of the desktop is asked.
    "--password-store=basic",
    "--use-mock-keychain",
];

/// A browser that was started; whether it works is not known yet.
pub(super) struct Started {
    pub process: Process,
    profile: PathBuf,
}

/// Starts the program. Its profile is taken over from a dead holder.
pub(super) async fn start(
    program: &Path,
    spec: &LaunchSpec,
) -> Result<(Started, Wire), BrowserError> {
    let failed = |what: &str, error: io::Error| BrowserError::StartFailed {
        why: format!("{what}: {error}"),
    };
    let (profile, throw_away) =
        profile(spec).await.map_err(|error| failed("its profile folder", error))?;
    let at = profile.clone();
    tokio::task::spawn_blocking(move || lock::take(&at))
        .await
        .map_err(|error| failed("its profile", error.into()))??;
    match tokio::fs::remove_file(profile.join(PORT_FILE)).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(failed("its profile folder", error));
        }
        _ => {}
    }
    adopt_orphans();
    let mut command = Command::new(program);
    command.args(arguments(spec, &profile));
    command.envs(spec.screen.iter().map(|(key, value)| (key, value)));
    let wire = ends(&mut command).map_err(|error| failed("its pipe", error))?;
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed(&program.display().to_string(), error))?;
    // The browser's ends of the pipe must be open in the browser alone.
    drop(command);
    let process = Process::watch(child, throw_away)
        .ok_or_else(|| BrowserError::StartFailed { why: "it ended at once".into() })?;
    Ok((Started { process, profile }, wire))
}

impl Started {
    /// Waits a moment for the WebSocket that other clients can use.
    pub async fn endpoint(&self) -> Option<String> {
        let file = self.profile.join(PORT_FILE);
        let written = async {
            loop {
                if let Ok(text) = tokio::fs::read_to_string(&file).await
                    && let Some(endpoint) = endpoint(&text)
                {
                    return endpoint;
                }
                tokio::time::sleep(PORT_STEP).await;
            }
        };
        tokio::time::timeout(PORT_PATIENCE, written).await.ok()
    }
}

fn endpoint(port_file: &str) -> Option<String> {
    let (port, path) = port_file.split_once('\n')?;
    let port: u16 = port.trim().parse().ok()?;
    let path = path.trim();
    path.starts_with('/').then(|| format!("ws://127.0.0.1:{port}{path}"))
}

async fn profile(spec: &LaunchSpec) -> io::Result<(PathBuf, Option<TempDir>)> {
    if spec.profile == ProfileMode::Fresh {
        let folder = tokio::task::spawn_blocking(|| {
            tempfile::Builder::new().prefix("strawmanus-profile-").tempdir()
        });
        let folder = folder.await.map_err(io::Error::other)??;
        return Ok((folder.path().to_owned(), Some(folder)));
    }
    let folder = spec.folder.join("profile");
    tokio::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).await?;
    // The browser resolves a relative path against its own working folder.
    Ok((tokio::fs::canonicalize(folder).await?, None))
}

fn arguments(spec: &LaunchSpec, profile: &Path) -> Vec<String> {
    let mut all: Vec<String> = ARGUMENTS.iter().map(ToString::to_string).collect();
    all.push(format!("--user-data-dir={}", profile.display()));
    if spec.headless {
        all.push("--headless=new".into());
        all.push("--hide-scrollbars".into());
        all.push("--mute-audio".into());
    }
    if nix::unistd::geteuid().is_root() {
        // Chromium does not start as root otherwise.
        all.push("--no-sandbox".into());
    }
    all.extend(spec.arguments.iter().cloned());
    all
}

/// Lays the pipe to the program's descriptors 3 (it reads) and 4 (it writes).
fn ends(command: &mut Command) -> io::Result<Wire> {
    let (theirs_to_read, ours_to_write) = io::pipe()?;
    let (ours_to_read, theirs_to_write) = io::pipe()?;
    let mappings = vec![
        FdMapping { parent_fd: theirs_to_read.into(), child_fd: 3 },
        FdMapping { parent_fd: theirs_to_write.into(), child_fd: 4 },
    ];
    command.as_std_mut().fd_mappings(mappings).map_err(io::Error::other)?;
    let read = pipe::Receiver::from_owned_fd(ours_to_read.into())?;
    let write = pipe::Sender::from_owned_fd(ours_to_write.into())?;
    Ok(Wire::pipe(read, write))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_file_is_read_when_it_is_whole() {
        assert_eq!(
            endpoint("40661\n/devtools/browser/abc\n").as_deref(),
            Some("ws://127.0.0.1:40661/devtools/browser/abc")
        );
        for part in ["", "406", "40661\n", "x\n/y"] {
            assert_eq!(endpoint(part), None, "{part}");
        }
    }

    #[test]
    fn arguments_follow_the_request() {
        let mut spec = LaunchSpec {
            session: "default".parse().unwrap(),
            profile: ProfileMode::Cloned,
            headless: false,
            endpoint: None,
            executable: None,
            folder: "/home/x".into(),
            arguments: vec!["--lang=ko".into()],
            screen: Vec::new(),
            library: "",
        };
        let headed = arguments(&spec, Path::new("/home/x/profile"));
        assert!(headed.contains(&"--user-data-dir=/home/x/profile".into()));
        assert!(!headed.iter().any(|argument| argument.starts_with("--headless")));
        assert_eq!(headed.last().unwrap(), "--lang=ko");
        let root = nix::unistd::geteuid().is_root();
        assert_eq!(headed.contains(&"--no-sandbox".into()), root);
        spec.headless = true;
        assert!(arguments(&spec, Path::new("/p")).contains(&"--headless=new".into()));
    }
}
