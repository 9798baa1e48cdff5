//! The built program itself: what it prints where, and its exit codes.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn strawmanus(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strawmanus"));
    command.args(words).env_clear().env("STRAWMANUS_HOME", home).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn output(home: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = strawmanus(home, words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn the_program_prints_where_it_should_and_starts_nothing_for_nothing() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().join("home");
    let (code, out, err) = output(&home, &["--help"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("Verbs:"));
    let (code, out, err) = output(&home, &["clck", "--json"]);
    assert_eq!((code, err.as_str()), (Some(2), ""));
    assert!(out.starts_with("{\"v\":1,\"ok\":false,\"error\":{\"kind\":\"usage\""), "{out}");
    let (code, out, err) = output(&home, &["clck"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.starts_with("error: ") && !err.contains('\x1b'), "{err}");
    let (code, out, err) = output(&home, &["config", "show"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("limits.steps = 40\n"));
    assert!(!home.exists(), "none of this needs a home folder");
}

#[test]
fn settings_that_cannot_be_used_are_exit_code_two() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("config.toml"), "[limits]\nstepz = 3").unwrap();
    let (code, out, _) = output(root.path(), &["runs", "--json"]);
    assert_eq!(code, Some(2));
    let place = root.path().canonicalize().unwrap().display().to_string();
    insta::assert_snapshot!(out.replace(&place, "[home]"));
}

#[test]
fn settings_are_shown_with_their_origin_and_without_secrets() {
    let root = tempfile::tempdir().unwrap();
    let words = ["config", "show", "--origin", "--model", "claude-x"];
    let mut command = strawmanus(root.path(), &words);
    command.env("ANTHROPIC_API_KEY", "sk-very-secret");
    command.env("STRAWMANUS_MODEL__BASE_URL", "http://me:very-secret@localhost:1/v1");
    let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(!out.contains("very-secret"), "{out}");
    insta::assert_snapshot!(out);
    let json = String::from_utf8(command.arg("--json").output().unwrap().stdout).unwrap();
    assert!(!json.contains("very-secret") && json.contains("\"origin\":\"environment\""), "{json}");
}

#[test]
fn a_home_that_cannot_be_is_exit_code_four() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    std::fs::write(&file, "no folder").unwrap();
    let (code, _, err) = output(&file, &["runs"]);
    assert_eq!(code, Some(4), "{err}");
    assert!(err.contains("cannot be used") && err.contains("STRAWMANUS_HOME"), "{err}");
}

#[test]
fn nobody_reading_is_no_error() {
    let root = tempfile::tempdir().unwrap();
    let mut child = strawmanus(root.path(), &["--help"]).spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}
