//! What is wrong with a command, its settings or the world: the right exit code, and words that help.
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use strawmanus::practice::raw::Raw;
use strawmanus::practice::server::{Options, Practice};

use crate::support::shell::{Done, Shell, eventually, pause};
use crate::support::tls::Tls;
use crate::support::transcript::Transcript;

mod daemon;

fn practice() -> Practice {
    Practice::start(Options { ports: 2 }).unwrap()
}

#[test]
fn lines_and_settings_that_cannot_be_used_are_explained() {
    let shell = Shell::new();
    let file = |name: &str, text: &str| fs::write(shell.folder().join(name), text).unwrap();
    file("bad.jsonl", "{\"tool\":\"browser_view\"}\n\n{\"tool\":\"browser_fly\"}\n");
    file("none.jsonl", "# nothing\n");
    file("empty.jsonl", "");
    let mut seen = Transcript::new(&shell);
    let lines: [&[&str]; 29] = [
        &["fly"],
        &["clik", "e1"],
        &["click", "--hard", "e1"],
        &["click"],
        &["open", "http://"],
        &["open", "two words"],
        &["open", "javascript:alert(1)"],
        &["click", ""],
        &["click", "text="],
        &["click", "role=button[title=x]"],
        &["click", "Delete \"Acme"],
        &["click", "e99999999999"],
        &["click", "e1", "--in", "Acme"],
        &["press", "Entr"],
        &["press", "Hyper+a"],
        &["get", "attr", "e1"],
        &["get", "title", "e1"],
        &["run", " "],
        &["run", "x", "--model", "script:nosuch.jsonl"],
        &["run", "x", "--model", "script:bad.jsonl"],
        &["run", "x", "--model", "script:none.jsonl"],
        &["run", "x", "--model", "script:empty.jsonl"],
        &["run", "x", "--max-steps", "0"],
        &["run", "x", "--max-cost", "nothing"],
        &["run", "x", "--max-cost", "0.5", "--model", "nobody-knows"],
        &["run", "x"],
        &["logs", "r99"],
        &["stop", "r99"],
        &["observe", "--timeout", "soon"],
    ];
    for line in lines {
        seen.run(line);
    }
    insta::assert_snapshot!(seen.text());
    let told = shell.run(&["fly"]);
    assert_eq!((told.exit, told.word()), (2, "usage"), "{told:#?}");
    assert_eq!(shell.run(&["run", "x"]).word(), "model");
    assert_eq!(shell.run(&["logs", "r99"]).word(), "not_found");
    assert!(shell.run(&["tab", "list"]).data("tabs").as_array().unwrap().is_empty(), "no browser");
    let attach = shell.run(&["observe", "--profile", "attach", "--session", "mine"]);
    assert!([2, 4].contains(&attach.exit), "{attach:#?}");
    assert!(attach.out.contains("--remote-debugging-port"), "{attach:#?}");
}

#[test]
fn settings_that_cannot_be_used_are_explained() {
    let mut texts = Vec::new();
    for (key, value) in [
        ("STRAWMANUS_LIMITS__STEPZ", "4"),
        ("STRAWMANUS_LIMITS__STEPS", "four"),
        ("STRAWMANUS_BROWSER__PROFILE", "borrowed"),
    ] {
        let shell = Shell::new().with(key, value);
        let mut seen = Transcript::new(&shell);
        assert_eq!(seen.run(&["observe"]).exit, 2);
        texts.push(seen.text());
    }
    let shell = Shell::new();
    fs::write(shell.home().join("config.toml"), "[limits]\nstep = \"30s\"\nactoin = \"5s\"\n")
        .unwrap();
    let mut seen = Transcript::new(&shell);
    let told = seen.run(&["observe"]);
    assert_eq!((told.exit, shell.run(&["observe"]).word()), (2, "config"));
    texts.push(seen.text());
    fs::remove_file(shell.home().join("config.toml")).unwrap();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn a_browser_that_is_not_there_or_does_not_start_is_named() {
    let (practice, shell) = (practice(), Shell::new());
    let url = practice.url("test", "/t/blank");
    let broken = shell.folder().join("broken");
    fs::write(&broken, "#!/bin/sh\necho 'no display to be opened' >&2\nexit 3\n").unwrap();
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).unwrap();
    let mut seen = Transcript::new(&shell);
    let mut told = |name: &str, key: &str, value: &str| {
        let done = shell.plain_with(&[(key, value)], &["open", &url]);
        seen.note(&[name], &done);
        assert_eq!(done.exit, 4, "{name}: {done:#?}");
    };
    told("missing", "STRAWMANUS_BROWSER__EXECUTABLE", "/nosuch/chromium");
    told("broken", "STRAWMANUS_BROWSER__EXECUTABLE", broken.to_str().unwrap());
    let done = seen.run(&["open", &url, "--cdp", "localhost:1", "--session", "far"]);
    assert_eq!(done.exit, 4, "{done:#?}");
    // What never ran is not in the way of what does.
    seen.run(&["open", &url]);
    seen.run(&["open", &url, "--session", "far"]);
    insta::assert_snapshot!(seen.text());
}

/// The daemon has no screen of its own: a browser's window is shown where the caller's is.
#[test]
fn a_browser_is_shown_where_its_caller_sees_windows() {
    let (practice, shell) = (practice(), Shell::new());
    let url = practice.url("test", "/t/blank");
    // The daemon is there before, begun by a caller without a screen.
    shell.run(&["open", &url]).good();
    let (program, seen) = (shell.folder().join("looks"), shell.folder().join("seen"));
    fs::write(&program, format!("#!/bin/sh\necho \"$DISPLAY\" > {}\nexit 3\n", seen.display()))
        .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let executable = ("STRAWMANUS_BROWSER__EXECUTABLE", program.to_str().unwrap());
    let words = ["open", &url, "--headed", "--session", "seen"];
    let done = shell.plain_with(&[executable, ("DISPLAY", ":77")], &words);
    assert_eq!(done.exit, 4, "{done:#?}");
    assert_eq!(fs::read_to_string(&seen).unwrap(), ":77\n");
}

#[test]
fn a_profile_is_not_shared_with_a_living_browser() {
    let (practice, shell) = (practice(), Shell::new());
    let url = practice.url("test", "/t/blank");
    shell.run(&["runs"]).good();
    let profile = shell.home().join("profiles/default/profile");
    fs::create_dir_all(&profile).unwrap();
    let mut other = Command::new("/usr/bin/chromium")
        .args(["--headless=new", "--no-sandbox", "--remote-debugging-port=0", "about:blank"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lock = profile.join("SingletonLock");
    let held = eventually(Duration::from_secs(20), || fs::read_link(&lock)).unwrap();
    let pid = held.to_str().unwrap().rsplit('-').next().unwrap().to_owned();
    let mut seen = Transcript::new(&shell);
    let refused = seen.run(&["open", &url]);
    assert_eq!(refused.exit, 4, "{refused:#?}");
    assert!(refused.err.contains(&format!("process {pid}")), "{refused:#?}");
    // Another profile, and the same one once its browser is dead, lock and all.
    seen.run(&["open", &url, "--profile", "fresh", "--session", "other"]);
    other.kill().unwrap();
    other.wait().unwrap();
    pause(Duration::from_millis(100));
    assert!(fs::read_link(&lock).is_ok(), "a killed browser leaves its lock");
    seen.run(&["open", &url]);
    seen.run(&["observe", "--profile", "fresh"]);
    insta::assert_snapshot!(seen.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_do_not_come_say_why() {
    let (practice, shell) = (practice(), Shell::new());
    let tls = Tls::start().await;
    let refused = format!("127.0.0.1:{}", practice.refused_port());
    let empty = format!("127.0.0.1:{}", practice.raw_port(Raw::EmptyReply));
    let mut seen = Transcript::new(&shell);
    let table = [
        (refused, "connection_refused", None),
        ("nosuch.invalid".into(), "dns_failed", None),
        (tls.url(), "tls_failed", None),
        (empty, "empty_reply", None),
        (practice.url("test", "/t/status/404"), "http_error", Some(404)),
        (practice.url("test", "/t/status/500"), "http_error", Some(500)),
    ];
    for (url, kind, status) in &table {
        let told = shell.run(&["open", url]);
        assert_eq!((told.exit, told.kind()), (1, *kind), "{told:#?}");
        assert_eq!(told.data("status").as_u64(), *status, "{told:#?}");
        seen.run(&["open", url]);
    }
    // The tab is as good as before.
    seen.run(&["open", &practice.url("test", "/t/blank")]);
    seen.run(&["open", &table[0].0, "--timeout", "10s"]);
    let silent = format!("127.0.0.1:{}", practice.raw_port(Raw::Silent));
    let slow = seen.run(&["open", &silent, "--timeout", "500ms"]);
    assert_eq!(slow.exit, 1);
    assert!(slow.took < Duration::from_secs(3), "{:?}", slow.took);
    insta::assert_snapshot!(seen.text());
}

#[test]
fn elements_that_cannot_be_acted_on_say_why() {
    let (practice, shell) = (practice(), Shell::new());
    let page = |name: &str| practice.url("test", &format!("/t/{name}"));
    let mut seen = Transcript::new(&shell);
    shell.run(&["open", &page("fields")]).good();
    let number = shell.number_of("textbox", "Text");
    let check = |done: &Done| assert_eq!(done.exit, 1, "{done:#?}");
    for line in [
        &["click", "Nowhere to be seen"] as &[&str],
        &["click", "#nosuch"],
        &["click", "css=:::"],
        &["click", "e9999"],
        &["click", "textbox"],
        &["fill", "label=Disabled", "x"],
        &["fill", "label=Read only", "x"],
        &["fill", "role=checkbox", "x"],
        &["fill", "Submit fields", "x"],
        &["fill", "label=Date", "31.1.2026"],
        &["fill", "label=Choice", "Oak"],
        &["click", "Disabled button"],
        &["dialog", "accept"],
        &["tab", "switch", "t99"],
        &["tab", "close", "99"],
        &["observe", "--tab", "t99"],
        &["eval", "nosuch.thing"],
        &["eval", "throw new Error('boo\\nhoo')"],
        &["eval", "Promise.reject(new Error('no'))"],
        &["eval", "("],
        &["wait", "--text", "never said", "--timeout", "300ms"],
    ] {
        check(&seen.run(line));
    }
    seen.say("several fit");
    let rows = "data:text/html,<table><tr><td>Acme<td><button>Edit</button>\
                <tr><td>Bolt<td><button>Edit</button></table>";
    shell.run(&["open", rows]).good();
    check(&seen.run(&["click", "Edit"]));
    seen.say("a number of the page before");
    shell.run(&["open", &page("covered")]).good();
    check(&seen.run(&["click", &number]));
    assert_eq!(shell.run(&["click", &number]).word(), "stale");
    seen.say("covered");
    let covered = seen.run(&["click", "Press under"]);
    check(&covered);
    assert!(covered.took < Duration::from_secs(4), "{:?}", covered.took);
    let hidden = seen.hiding(&number, "NUMBER");
    insta::assert_snapshot!(hidden.text().replace(&number, "NUMBER"));
}

#[test]
fn homes_of_any_name_serve_and_what_is_no_folder_does_not() {
    let practice = practice();
    let url = practice.url("test", "/t/blank");
    let long = format!("{}/home", vec!["a rather long name".to_owned(); 9].join("/"));
    for name in ["with blanks", "mit Ümläuten und 한글", "quote'd \"and\" $HOME", &long] {
        let shell = Shell::in_folder(name);
        let opened = shell.run(&["open", &url]).good();
        assert_eq!(opened.data("title"), "Blank", "{name}");
        let doctor = shell.run(&["doctor"]).good();
        assert!(doctor.out.contains("\"check\":\"home\",\"state\":\"ok\""), "{doctor:#?}");
    }
    let shell = Shell::new();
    let file = shell.folder().join("file");
    fs::write(&file, "no folder").unwrap();
    let mut seen = Transcript::new(&shell);
    let too_long = format!("{}/{}", shell.folder().display(), "x".repeat(300));
    for (name, home) in [
        ("a file", file.display().to_string()),
        ("below a file", file.join("deeper").display().to_string()),
        ("a name too long", too_long),
        ("not to be written", "/proc/strawmanus".to_owned()),
    ] {
        let done = shell.plain_with(&[("STRAWMANUS_HOME", &home)], &["runs"]);
        assert_eq!(done.exit, 4, "{name}: {done:#?}");
        seen.note(&[name], &done);
    }
    insta::assert_snapshot!(seen.text().replace(&"x".repeat(300), "XXX"));
}
