//! A page that hangs, or shows a dialog, holds up nobody but itself.
use std::time::Duration;

use crate::support::kept::Kept;
use crate::support::shell::{Shell, now};
use crate::support::struck::{Stage, latencies};

/// Ten times what another tab may be delayed by at most.
const DELAYED: Duration = Duration::from_secs(1);
/// What needs no page answers at once, whatever a page does.
const AT_ONCE: Duration = Duration::from_secs(2);

#[test]
fn a_page_that_loops_while_it_loads_holds_up_only_itself() {
    let stage = Stage::new();
    let shell = &stage.shell;
    let mail = stage.tab("mail", "/");
    let before = slowest(&mut shell.keep(), &mail);
    let url = stage.practice.url("test", "/t/spin-now");
    let opened = shell.run(&["tab", "new", &url, "--timeout", "2s"]);
    assert_eq!((opened.exit, opened.word()), (1, "timed_out"), "{opened:?}");
    holds_up_only_itself(shell, &mail, before);
    let hung = current(shell);
    let asked = shell.run(&["eval", "1", "--timeout", "1s"]);
    assert_eq!((asked.exit, asked.word()), (1, "timed_out"), "{asked:?}");
    closes(shell, &hung);
    assert_eq!(current(shell), mail);
}

#[test]
fn a_button_that_loops_holds_up_only_its_page() {
    let stage = Stage::new();
    let shell = &stage.shell;
    let mail = stage.tab("mail", "/");
    let hung = stage.tab("test", "/t/spin");
    let before = slowest(&mut shell.keep(), &mail);
    let press = "role=button[name=\"Start spinning\"]";
    let pressed = shell.run(&["click", press, "--timeout", "2s"]);
    // The press has left, and nobody can say what it did.
    assert_eq!((pressed.exit, pressed.word()), (1, "in_doubt"), "{pressed:?}");
    holds_up_only_itself(shell, &mail, before);
    let asked = shell.run(&["eval", "1", "--timeout", "1s"]);
    assert_eq!((asked.exit, asked.word()), (1, "timed_out"), "{asked:?}");
    // The whole browser closes, too.
    let began = now();
    shell.run(&["close"]).good();
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(shell.tab(&hung).is_null() && shell.tab(&mail).is_null());
}

#[test]
fn an_open_alert_holds_up_only_its_page_until_it_is_answered() {
    let stage = Stage::new();
    let shell = &stage.shell;
    let mail = stage.tab("mail", "/");
    let before = slowest(&mut shell.keep(), &mail);
    let tab = stage.tab("test", "/t/alert");
    for round in 0..2 {
        let pressed = shell.run(&["click", "role=button[name=\"Open alert\"]"]).good();
        assert_eq!(pressed.word(), "dialog_open", "{pressed:?}");
        holds_up_only_itself(shell, &mail, before);
        let asked = shell.run(&["eval", "1"]);
        assert_eq!((asked.exit, asked.word()), (1, "blocked_by"), "{asked:?}");
        assert!(asked.took < AT_ONCE, "{asked:?}");
        if round == 0 {
            let answered = shell.run(&["dialog", "accept"]).good();
            assert_eq!(answered.data("dialog")["message"], "An alert from a button");
            shell.run(&["wait", "--text", "alert closed"]).good();
            let said = shell.run(&["eval", "document.getElementById('said').textContent"]).good();
            assert_eq!(said.data("value"), "alert closed");
        }
    }
    closes(shell, &tab);
}

#[test]
fn an_alert_while_loading_is_told_and_answered() {
    let stage = Stage::new();
    let shell = &stage.shell;
    let mail = stage.tab("mail", "/");
    let before = slowest(&mut shell.keep(), &mail);
    let opened = shell.run(&["tab", "new", &stage.practice.url("test", "/t/alert?onload")]);
    assert_eq!((opened.exit, opened.word()), (1, "blocked_by"), "{opened:?}");
    holds_up_only_itself(shell, &mail, before);
    shell.run(&["dialog", "accept"]).good();
    shell.run(&["wait", "--text", "alert closed"]).good();
    assert!(shell.run(&["observe"]).good().data("text").as_str().unwrap().contains("Open alert"));
}

/// The other tab is asked and acted on as before; what needs no page answers at once.
fn holds_up_only_itself(shell: &Shell, other: &str, before: Duration) {
    let slowest = slowest(&mut shell.keep(), other);
    assert!(slowest < before + DELAYED, "{slowest:?}, and before {before:?}");
    for words in [&["attach"][..], &["tab", "list"]] {
        let told = shell.run(words).good();
        assert!(told.took < AT_ONCE, "{words:?} took {:?}", told.took);
    }
}

fn slowest(kept: &mut Kept, tab: &str) -> Duration {
    latencies(kept, tab, 10).into_iter().max().unwrap()
}

fn closes(shell: &Shell, tab: &str) {
    let closed = shell.run(&["tab", "close", tab]).good();
    assert!(closed.took < Duration::from_secs(10), "{closed:?}");
    assert!(shell.tab(tab).is_null());
    let pages = shell.devtools().pages();
    assert!(!pages.iter().any(|(url, _)| url.contains("/t/")), "{pages:?}");
}

fn current(shell: &Shell) -> String {
    let list = shell.run(&["tab", "list"]).good();
    let rows = list.data("tabs").as_array().cloned().unwrap_or_default();
    let row = rows.into_iter().find(|row| row["active"] == true).unwrap();
    row["id"].to_string()
}
