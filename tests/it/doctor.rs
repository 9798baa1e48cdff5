//! What `doctor` finds and mends, on homes in every state of neglect.
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use strawmanus::cli::doctor::{Visit, examine};
use strawmanus::config::environment::Environment;
use strawmanus::config::home::Home;
use strawmanus::config::{Config, Settings};
use strawmanus::control::answer::{Answer, Failure};
use strawmanus::control::composition::{Composition, Probe};
use strawmanus::control::handler::Handler;
use tokio::net::UnixListener;

use crate::fake::{Daemon, Fake, home, limits};

/// A machine as a test wants it.
#[derive(Clone)]
struct Machine {
    started: Result<String, String>,
    holder: Option<u32>,
}

#[async_trait]
impl Composition for Machine {
    async fn handler(&self, _: &Home, _: &Config) -> Result<Arc<dyn Handler>, Failure> {
        Ok(Fake::new("unused"))
    }

    fn probe(&self, _: &Config) -> Arc<dyn Probe> {
        Arc::new(self.clone())
    }
}

#[async_trait]
impl Probe for Machine {
    fn locate(&self) -> Result<PathBuf, String> {
        Ok("/opt/chromium".into())
    }

    async fn try_start(&self) -> Result<String, String> {
        self.started.clone()
    }

    fn profile_holder(&self, folder: &Path) -> Option<u32> {
        self.holder.filter(|_| folder.join("SingletonLock").symlink_metadata().is_ok())
    }
}

fn healthy() -> Machine {
    Machine { started: Ok("Chrome/156.0".to_owned()), holder: None }
}

async fn visit(machine: &Machine, home: &Home, fix: bool) -> Answer {
    let environment: Environment = [("ANTHROPIC_API_KEY", "sk-very-secret")].into_iter().collect();
    let settings = Settings::load(home, &environment, &[]);
    let visit = Visit { home: home.clone(), environment, settings };
    let answer = examine(machine, visit, fix).await;
    assert!(!format!("{answer:?}").contains("sk-very-secret"), "a key was told");
    answer
}

/// Returns `state` and `fixed` of one check; nothing when it was not made.
fn check(answer: &Answer, name: &str) -> Option<(String, bool)> {
    let checks = answer.data["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["check"] == name)?;
    Some((found["state"].as_str().unwrap().to_owned(), found["fixed"].as_bool().unwrap()))
}

fn is(state: &str, fixed: bool) -> Option<(String, bool)> {
    Some((state.to_owned(), fixed))
}

#[tokio::test]
async fn a_healthy_machine_has_nothing_broken() {
    let (_root, home) = home();
    let answer = visit(&healthy(), &home, false).await;
    assert_eq!(answer.exit, 0, "{}", answer.text);
    for name in ["settings", "home", "daemon", "browser", "model key"] {
        assert_eq!(check(&answer, name), is("ok", false), "{name}");
    }
    assert_eq!(answer.envelope()["ok"], Value::Bool(true));
}

#[tokio::test]
async fn no_browser_is_exit_code_four_and_says_why() {
    let (_root, home) = home();
    let machine = Machine { started: Err("libnss3.so is missing".to_owned()), holder: None };
    let answer = visit(&machine, &home, false).await;
    assert_eq!(answer.exit, 4);
    let error = answer.error.unwrap();
    assert_eq!(error.kind, "browser");
    assert!(error.message.contains("libnss3.so is missing") && error.hint.is_some(), "{error:?}");
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_found_too() {
    let (_root, home) = home();
    fs::write(home.config_file(), "[limits]\nstepz = 1").unwrap();
    let answer = visit(&healthy(), &home, false).await;
    assert_eq!((answer.exit, check(&answer, "settings")), (1, is("broken", false)));
}

#[tokio::test]
async fn a_missing_or_open_home_is_mended() {
    let root = tempfile::tempdir().unwrap();
    let home = Home::at(root.path().join("home"));
    let answer = visit(&healthy(), &home, false).await;
    assert_eq!((answer.exit, home.folder().exists()), (0, false), "looking makes nothing");
    assert_eq!(check(&visit(&healthy(), &home, true).await, "home"), is("ok", true));

    fs::write(home.lock_file(), "").unwrap();
    fs::set_permissions(home.folder(), Permissions::from_mode(0o755)).unwrap();
    let answer = visit(&healthy(), &home, false).await;
    assert_eq!((answer.exit, check(&answer, "home")), (1, is("broken", false)));
    assert_eq!(check(&visit(&healthy(), &home, true).await, "home"), is("ok", true));
    assert_eq!(fs::metadata(home.folder()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn what_dead_processes_left_is_removed_and_what_lives_is_not() {
    let (_root, home) = home();
    drop(UnixListener::bind(home.socket()).unwrap());
    let profile = home.folder().join("profiles/default/profile");
    fs::create_dir_all(&profile).unwrap();
    let lock = profile.join("SingletonLock");
    std::os::unix::fs::symlink("host-1", &lock).unwrap();
    let alive = Machine { holder: Some(std::process::id()), ..healthy() };
    // No process has the highest number that fits.
    let dead = Machine { holder: Some(i32::MAX as u32), ..healthy() };

    let answer = visit(&dead, &home, false).await;
    assert_eq!(answer.exit, 0, "what is left is no damage");
    assert_eq!(check(&answer, "socket"), is("warning", false));
    assert_eq!(check(&answer, "profile"), is("warning", false));
    visit(&alive, &home, true).await;
    assert!(lock.symlink_metadata().is_ok(), "the lock of a living browser stays");
    assert!(!home.socket().exists());
    let answer = visit(&dead, &home, true).await;
    assert_eq!(check(&answer, "profile"), is("ok", true));
    assert!(lock.symlink_metadata().is_err());
}

#[tokio::test]
async fn a_daemon_of_another_build_is_told_of() {
    let (_root, home) = home();
    let _daemon = Daemon::start(&home, "0.0.9", limits()).await;
    let answer = visit(&healthy(), &home, true).await;
    assert_eq!(check(&answer, "daemon"), is("warning", false));
    assert_eq!(check(&answer, "socket"), None, "its socket is not stale");
    assert!(home.socket().exists());
}
