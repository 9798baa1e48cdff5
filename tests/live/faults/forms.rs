//! What a tab comes back as: never by sending a form again, and never a popup.
use crate::support::processes::kill;
use crate::support::shell::{Shell, eventually};
use crate::support::struck::{Fault, LONG, NEVER, Stage, usable};

const POST: [&str; 5] =
    ["click", "role=button[name=\"Submit form\"]", "--auto-approve", "--allow", "test.localhost"];

#[test]
fn a_form_is_not_sent_again_when_its_page_comes_back() {
    let stage = Stage::new();
    let shell = &stage.shell;
    let tab = stage.tab("test", "/t/post-form");
    shell.run(&POST).good();
    assert_eq!(shell.run(&["get", "title"]).good().data("value"), "Posted");
    let mut victim = stage.victim(&tab);
    let struck = Fault::RendererKilled.strike_during(shell, &mut victim, Some(&NEVER));
    let (done, _) = struck.pending.unwrap();
    let says = done.json["error"]["message"].as_str().unwrap();
    assert_eq!(done.word(), "tab_restarted");
    assert!(says.contains("the page's form was not sent again"), "{says}");
    usable(&mut shell.keep(), &tab, &stage.practice.url("test", "/t/post-form"));
    // Back by navigation: the form itself, empty.
    assert_eq!(shell.run(&["get", "title"]).good().data("value"), "Post form");
    assert_eq!(stage.practice.count("POST", "/t/post-form"), 1);
    assert_eq!(stage.practice.count("GET", "/t/post-form"), 2);

    // And so when the browser itself dies.
    shell.run(&POST).good();
    kill(shell.browser("default"));
    shell.comes_to_restarts("browser of default", 1);
    usable(&mut shell.keep(), &tab, &stage.practice.url("test", "/t/post-form"));
    assert_eq!(shell.run(&["get", "title"]).good().data("value"), "Post form");
    assert_eq!(stage.practice.count("POST", "/t/post-form"), 2);
}

#[test]
fn a_popup_that_is_closed_is_gone_and_its_opener_is_current_again() {
    let stage = Stage::new();
    let shell = &stage.shell;
    let opener = stage.tab("test", "/t/popup");
    // Newer than the opener, so that it is not just the last one that becomes current.
    let other = stage.tab("mail", "/");
    shell.run(&["tab", "switch", &opener]).good();
    let pressed = shell.run(&["click", "role=button[name=\"Open popup\"]"]).good();
    assert_eq!(pressed.word(), "new_tab", "{pressed:?}");
    let popup = current(shell);
    assert!(popup != opener && popup != other);
    let mut victim = stage.victim(&popup);
    let struck = Fault::TargetClosed.strike_during(shell, &mut victim, Some(&NEVER));
    let (done, _) = struck.pending.unwrap();
    assert_eq!((done.exit, done.word()), (1, "target_gone"), "{done:?}");
    let back = eventually(LONG, || {
        let now = current(shell);
        if now == opener { Ok(()) } else { Err(now) }
    });
    back.unwrap_or_else(|now| panic!("current is {now}"));
    assert!(shell.tab(&popup).is_null());
    assert_eq!(shell.run(&["get", "title"]).good().data("value"), "Popup");
}

#[test]
fn tabs_that_share_a_process_are_started_again_together() {
    let stage = Stage::new();
    let shell = &stage.shell;
    let opener = stage.tab("test", "/t/popup");
    shell.run(&["click", "role=button[name=\"Open popup\"]"]).good();
    let popup = current(shell);
    assert_ne!(opener, popup);
    let mail = stage.tab("mail", "/");
    let mut victim = stage.victim(&popup);
    Fault::RendererKilled.strike_during(shell, &mut victim, None);
    for (tab, path) in [(&opener, "/t/popup"), (&popup, "/t/popup-child")] {
        shell.comes_to_restarts(&format!("tab t{tab}"), 1);
        usable(&mut shell.keep(), tab, &stage.practice.url("test", path));
    }
    let title = |tab: &str| shell.run(&["eval", "document.title", "--tab", tab]).good();
    assert_eq!(title(&opener).data("value"), "Popup");
    assert_eq!(title(&popup).data("value"), "Popup child");
    assert_eq!(shell.actor(&format!("tab t{mail}"))["restarts"], 0);
}

fn current(shell: &Shell) -> String {
    let list = shell.run(&["tab", "list"]).good();
    let rows = list.data("tabs").as_array().cloned().unwrap_or_default();
    let active: Vec<_> = rows.iter().filter(|row| row["active"] == true).collect();
    let [row] = &active[..] else { panic!("not one current tab: {rows:?}") };
    row["id"].to_string()
}
