//! Starting, holding and ending browsers.
use std::time::Duration;

use strawmanus::cdp::launch::profile_holder;
use strawmanus::ports::browser::{BrowserError, OpenPage, ProfileMode};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::Instant;

use crate::cdp::stage::{AT_ONCE, LONG, Stage, group, kill, launch, sink, spec, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_in_use_names_its_holder_and_a_dead_holder_is_nobody() {
    let stage = Stage::start().await;
    let (pid, profile) = (stage.pid(), stage.folder.path().join("profile"));
    assert_eq!(profile_holder(&profile), Some(pid));
    let locked = launch(spec(stage.folder.path(), ProfileMode::Cloned)).await.err().unwrap();
    assert!(matches!(locked, BrowserError::ProfileLocked { pid: holder, .. } if holder == pid));
    let since = Instant::now();
    kill(pid);
    until("the death", || profile_holder(&profile).is_none()).await;
    let again = launch(spec(stage.folder.path(), ProfileMode::Cloned)).await.unwrap();
    println!("browser killed: new one on its profile after {:?}", since.elapsed());
    assert!(again.about().product.starts_with("Chrome/"), "{:?}", again.about());
    again.shut_down().await;
    assert_eq!(profile_holder(&profile), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_ends_with_its_last_reference() {
    let stage = Stage::with(ProfileMode::Fresh).await;
    let pid = stage.pid();
    assert!(!stage.folder.path().join("profile").exists());
    let arguments = group(pid).into_iter().find(|(member, ..)| *member == pid).unwrap().2;
    let profile = arguments.split(" --").find_map(|word| word.strip_prefix("user-data-dir="));
    let profile = std::path::PathBuf::from(profile.unwrap().trim());
    assert!(profile.exists());
    let tab = stage.open("/plain").await;
    let page = tab.page;
    drop(stage.browser);
    until("the group's end", || group(pid).is_empty()).await;
    until("the folder's end", || !profile.exists()).await;
    assert!(page.evaluate("1", LONG).await.is_err());
    // Crash handlers leave the group; they fall to this process, which other tests share.
    until("the handlers' end", || !handlers().contains(&'Z')).await;
}

/// The states of the crash handlers that are children of this process.
fn handlers() -> Vec<char> {
    let parent = std::process::id().to_string();
    let state = |process: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
        let (name, rest) = stat.rsplit_once(") ")?;
        let mut fields = rest.split(' ');
        let (state, of) = (fields.next()?.chars().next()?, fields.next()?);
        (name.contains("crashpad") && of == parent).then_some(state)
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(state).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_shuts_down_in_good_order() {
    let stage = Stage::start().await;
    let pid = stage.pid();
    let _tab = stage.open("/plain").await;
    let since = Instant::now();
    stage.browser.shut_down().await;
    println!("shut down after {:?}", since.elapsed());
    until("the group's end", || group(pid).is_empty()).await;
    assert!(stage.events.lock().unwrap().is_empty(), "an end that we asked for is no news");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_no_browser_fails_with_its_own_words() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("chromium");
    std::fs::write(&program, "#!/bin/sh\necho no display >&2\nexit 3\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut spec = spec(folder.path(), ProfileMode::Cloned);
    spec.executable = Some(program);
    let error = launch(spec.clone()).await.err().unwrap().to_string();
    assert!(error.starts_with("the browser did not start: "), "{error}");
    assert!(error.contains("no display"), "{error}");
    spec.executable = Some("/nowhere/chromium".into());
    let error = launch(spec).await.err().unwrap();
    assert!(matches!(error, BrowserError::NotFound { .. }), "{error}");
}

/// Not a test of its own: the process that [`a_browser_does_not_outlive_its_holder`] kills.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by another test"]
async fn holder() {
    let stage = Stage::with(ProfileMode::Fresh).await;
    println!("\nholds {}", stage.pid());
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_does_not_outlive_its_holder() {
    let folder = tempfile::tempdir().unwrap();
    let mut holder = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "cdp::launching::holder", "--ignored", "--nocapture"])
        .env("TMPDIR", folder.path())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let pid: u32 = loop {
        let line = lines.next_line().await.unwrap().expect("the holder ended");
        if let Some(pid) = line.strip_prefix("holds ") {
            break pid.parse().unwrap();
        }
    };
    assert!(group(pid).len() > 1);
    let since = Instant::now();
    kill(holder.id().unwrap());
    let lives = || group(pid).iter().any(|(_, state, _)| *state != 'Z');
    until("the browser's end", || !lives()).await;
    println!("holder killed: browser gone after {:?}", since.elapsed());
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    holder.wait().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn figures() {
    let folder = tempfile::tempdir().unwrap();
    let since = Instant::now();
    let browser = launch(spec(folder.path(), ProfileMode::Fresh)).await.unwrap();
    println!("launched after {:?}", since.elapsed());
    let since = Instant::now();
    let request = OpenPage { target: None, url: "about:blank".into() };
    let page = browser.open(request, sink().1).await.unwrap();
    println!("a blank page after {:?}", since.elapsed());
    page.evaluate("1", LONG).await.unwrap();
    let since = Instant::now();
    let request = OpenPage { target: None, url: "about:blank".into() };
    let _second = browser.open(request, sink().1).await.unwrap();
    println!("another blank page after {:?}", since.elapsed());
    let since = Instant::now();
    for _ in 0..200 {
        page.evaluate("1", LONG).await.unwrap();
    }
    let each = since.elapsed() / 200;
    println!("round trip {each:?}");
    assert!(each < Duration::from_millis(50), "{each:?}");
    browser.shut_down().await;
}
