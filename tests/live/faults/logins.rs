//! Logins outlive a browser that is killed, and logouts too.
use std::time::Duration;

use crate::support::processes::{browsers_below, kill, zombies_of};
use crate::support::shell::{eventually, pause};
use crate::support::struck::{LONG, Stage};

#[test]
fn a_login_outlives_the_browser_on_its_own_profile() {
    outlives("cloned");
}

#[test]
fn a_login_outlives_the_browser_on_a_throw_away_profile() {
    outlives("fresh");
}

fn outlives(profile: &str) {
    let mut stage = Stage::new();
    stage.shell = stage.shell.with("STRAWMANUS_BROWSER__PROFILE", profile);
    let shell = &stage.shell;
    log_in(&stage);
    // Long before Chromium would write its cookies by itself.
    pause(Duration::from_secs(1));
    killed(&stage, 1);
    assert_eq!(shown(&stage), ["yes", "yes"]);
    let (session, remember) = (sent(&stage, "session"), sent(&stage, "remember"));
    assert!(session.is_some() && session == remember, "{session:?}, {remember:?}");
    nothing_in_clear(&stage, &session.unwrap());

    // Signed out, it stays so, although Chromium's own copy may be older.
    shell.run(&["click", "role=button[name=\"Sign out\"]"]).good();
    pause(Duration::from_secs(1));
    killed(&stage, 2);
    shell.run(&["open", &stage.practice.url("shop", "/account")]).good();
    assert_eq!((sent(&stage, "session"), sent(&stage, "remember")), (None, None));

    let (folder, daemon) = (shell.folder().display().to_string(), shell.daemon());
    // A crash handler ends a moment after its browser, and is reaped then.
    let reaped = eventually(LONG, || match zombies_of(daemon) {
        zombies if zombies.is_empty() => Ok(()),
        zombies => Err(zombies),
    });
    assert_eq!(reaped, Ok(()));
    shell.run(&["close"]).good();
    let ended = eventually(LONG, || match browsers_below(&folder) {
        left if left.is_empty() => Ok(()),
        left => Err(left),
    });
    assert_eq!(ended, Ok(()));
}

#[test]
fn a_logout_outlives_the_browser_although_its_profile_knows_the_login() {
    let stage = Stage::new();
    let shell = &stage.shell;
    log_in(&stage);
    // Ended in good order, the browser writes the login into its profile.
    shell.run(&["close"]).good();
    shell.run(&["open", &stage.practice.url("shop", "/account")]).good();
    assert_eq!(shown(&stage), ["yes", "yes"]);
    shell.run(&["click", "role=button[name=\"Sign out\"]"]).good();
    killed(&stage, 1);
    shell.run(&["open", &stage.practice.url("shop", "/account")]).good();
    assert_eq!((sent(&stage, "session"), sent(&stage, "remember")), (None, None));
}

fn log_in(stage: &Stage) {
    let shell = &stage.shell;
    shell.run(&["open", &stage.practice.url("shop", "/login")]).good();
    shell.run(&["fill", "label=User name", "ada"]).good();
    shell.run(&["fill", "label=Password", "practice"]).good();
    shell.run(&["click", "role=button[name=\"Sign in\"]"]).good();
    assert_eq!(shown(stage), ["yes", "yes"]);
}

/// What the account's page says of the session cookie and of the persistent one.
fn shown(stage: &Stage) -> [String; 2] {
    let text = stage.shell.run(&["get", "text"]).good();
    let text = text.data("value").as_str().unwrap().to_owned();
    ["session cookie: ", "persistent cookie: "].map(|label| {
        let after = text.split_once(label).map(|(_, after)| after).unwrap_or_default();
        after.split_whitespace().next().unwrap_or_default().to_owned()
    })
}

/// What the newest request for the account's page carried.
fn sent(stage: &Stage, cookie: &str) -> Option<String> {
    let ledger = stage.practice.ledger();
    let newest = ledger.iter().rfind(|row| row.method == "GET" && row.path == "/account").unwrap();
    newest.cookie(cookie).map(str::to_owned)
}

/// Kills the browser and waits for the next; the old one leaves neither a process nor a lock.
fn killed(stage: &Stage, restarts: usize) {
    let shell = &stage.shell;
    let (browser, daemon) = (shell.browser("default"), shell.daemon());
    kill(browser);
    shell.comes_to_restarts("browser of default", restarts);
    // Answered by the new browser.
    shell.run(&["eval", "1"]).good();
    let next = shell.browser("default");
    assert_ne!(browser, next);
    let lock = shell.home().join("profiles/default/profile/SingletonLock");
    if let Ok(link) = std::fs::read_link(lock) {
        assert!(link.to_string_lossy().ends_with(&format!("-{next}")), "{link:?}");
    }
    let reaped = eventually(LONG, || {
        let left = zombies_of(daemon);
        if left.is_empty() { Ok(()) } else { Err(left) }
    });
    reaped.unwrap_or_else(|left| panic!("zombies: {left:?}"));
}

/// The daemon's own copy of the cookies holds none that could be read.
fn nothing_in_clear(stage: &Stage, token: &str) {
    let folder = stage.shell.home().join("sealed");
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().flatten().collect();
    assert!(files.iter().any(|file| file.file_name().to_string_lossy().contains("cookies")));
    for file in files {
        let bytes = std::fs::read(file.path()).unwrap();
        let holds = |words: &str| bytes.windows(words.len()).any(|part| part == words.as_bytes());
        assert!(!holds(token) && !holds("remember"), "{:?} is in clear", file.path());
    }
}
