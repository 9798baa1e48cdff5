//! The browser: found, startable, and with or without its sandbox.
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::cli::doctor::{Cure, Finding, Room, State};

/// A browser that takes longer does not start.
const START_PATIENCE: Duration = Duration::from_secs(30);

pub async fn look(room: &Room<'_>) -> Vec<Finding> {
    let program = match room.probe.locate() {
        Ok(program) => program,
        Err(why) => {
            let missing = Finding::new("browser", State::Broken, why)
                .remedy("install Chromium or Chrome, or set `browser.executable`");
            return vec![if can_install() {
                missing.cure(Cure::Install(&["chromium"]))
            } else {
                missing
            }];
        }
    };
    let started = tokio::time::timeout(START_PATIENCE, room.probe.try_start()).await;
    let started = started.unwrap_or_else(|_| Err("it did not start within 30 s".to_owned()));
    let browser = match started {
        Ok(product) => Finding::ok("browser", format!("{} ({product})", program.display())),
        Err(why) => {
            let found = format!("{} does not start: {why}", program.display());
            Finding::new("browser", State::Broken, found).remedy(format!(
                "start it by hand to see why: {} --headless=new --dump-dom about:blank",
                program.display()
            ))
        }
    };
    vec![browser, sandbox()]
}

fn sandbox() -> Finding {
    if nix::unistd::geteuid().is_root() {
        return Finding::new(
            "sandbox",
            State::Warning,
            "off: this is root, so --no-sandbox is used",
        )
        .remedy("run strawmanus as an ordinary user");
    }
    let says = |file: &str, word: &str| {
        std::fs::read_to_string(file).is_ok_and(|text| text.trim() == word)
    };
    let forbidden = says("/proc/sys/kernel/unprivileged_userns_clone", "0")
        || says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1");
    if forbidden {
        return Finding::new("sandbox", State::Warning, "the system restricts user namespaces")
            .remedy("should the browser not start, use one from the system's packages");
    }
    Finding::ok("sandbox", "on")
}

/// Whether packages can be installed without asking for a password.
pub fn can_install() -> bool {
    nix::unistd::geteuid().is_root() && Path::new("/etc/debian_version").exists()
}

/// Installs Debian packages; says so first, for it takes a while and changes the system.
pub fn install(packages: &[&str]) -> Result<(), String> {
    let line = format!("apt-get install --yes --no-install-recommends {}", packages.join(" "));
    eprintln!("running: {line}");
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
    let done = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    match done {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("apt-get ended with {status}; try `apt-get update` first")),
        Err(error) => Err(format!("apt-get did not run: {error}")),
    }
}
