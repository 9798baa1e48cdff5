//! A page's process, a page or the whole browser dies: under an idle tab, and under a command.
use std::time::Duration;

use serde_json::json;

use crate::support::shell::{eventually, now};
use crate::support::struck::{Fault, Hammer, LONG, NEVER, Stage, usable};

const WAIT: [&str; 5] = ["wait", "--text", "what never comes", "--timeout", "60s"];

/// Ten times what a command under way may take to be answered.
const ANSWERED: Duration = Duration::from_secs(5);

#[test]
fn a_tab_whose_process_is_killed_is_answered_for_and_comes_back() {
    comes_back(Fault::RendererKilled, Duration::from_secs(6));
}

#[test]
fn a_tab_whose_page_is_crashed_is_answered_for_and_comes_back() {
    comes_back(Fault::PageCrashed, Duration::from_secs(6));
}

#[test]
fn all_tabs_of_a_killed_browser_are_answered_for_and_come_back() {
    comes_back(Fault::BrowserKilled, Duration::from_secs(20));
}

/// Idle, then during a script, then during a wait: the tab is usable again after `usable_after`, at
/// its URL; what was under way was answered; tabs elsewhere lost no call.
fn comes_back(fault: Fault, usable_after: Duration) {
    let stage = Stage::new();
    let shell = &stage.shell;
    let (tab, mail, news) =
        (stage.tab("shop", "/"), stage.tab("mail", "/"), stage.tab("news", "/"));
    let all = [&tab, &mail, &news];
    let urls = ["shop", "mail", "news"].map(|site| stage.practice.url(site, "/"));
    let mut kept = shell.keep();
    for (restarts, command) in [None, Some(&NEVER[..]), Some(&WAIT[..])].into_iter().enumerate() {
        let mut victim = stage.victim(&tab);
        let hammer = (fault != Fault::BrowserKilled).then(|| Hammer::on(shell, &mail));
        let struck = fault.strike_during(shell, &mut victim, command);
        if let Some((done, answered)) = struck.pending {
            assert_eq!((done.exit, done.word()), (1, fault.word()), "{done:?}");
            assert!(answered < ANSWERED, "{command:?} was answered after {answered:?}");
        }
        // An idle tab answers until the browser says what happened.
        shell.comes_to_restarts(&format!("tab t{tab}"), restarts + 1);
        for (tab, url) in all.into_iter().zip(&urls) {
            let after = usable(&mut kept, tab, url) - struck.at;
            assert!(after < usable_after, "tab {tab} was usable after {after:?}");
        }
        if let Some(hammered) = hammer.map(Hammer::stop) {
            assert!(hammered.failed.is_empty(), "{:?}", hammered.failed);
            assert!(!hammered.took.is_empty());
        }
        assert_eq!(
            all.map(|tab| shell.tab(tab)["url"].clone()),
            urls.each_ref().map(|url| json!(url))
        );
    }
    assert!(stage.practice.ledger().iter().all(|row| row.method == "GET"));
}

#[test]
fn a_tab_that_somebody_closes_is_gone_and_leaves_the_list() {
    let stage = Stage::new();
    let shell = &stage.shell;
    let mail = stage.tab("mail", "/");
    for command in [None, Some(&NEVER[..]), Some(&WAIT[..])] {
        let mut victim = stage.victim(&stage.tab("shop", "/"));
        let hammer = Hammer::on(shell, &mail);
        let struck = Fault::TargetClosed.strike_during(shell, &mut victim, command);
        if let Some((done, answered)) = struck.pending {
            assert_eq!((done.exit, done.word()), (1, "target_gone"), "{done:?}");
            assert!(answered < ANSWERED, "{command:?} was answered after {answered:?}");
        }
        let gone = eventually(LONG, || {
            let row = shell.tab(&victim.tab);
            if row.is_null() { Ok(()) } else { Err(row) }
        });
        gone.unwrap_or_else(|row| panic!("still there: {row}"));
        let hammered = hammer.stop();
        assert!(hammered.failed.is_empty(), "{:?}", hammered.failed);
        assert!(!shell.devtools().pages().iter().any(|(url, _)| url.contains("//shop.")));
        // Nobody sits in its place any more.
        assert!(shell.actor(&format!("tab t{}", victim.tab)).is_null());
        assert!(shell.tab(&mail)["active"].as_bool().unwrap());
    }
}

#[test]
fn a_tab_whose_site_no_longer_answers_comes_back_and_takes_nobody_along() {
    let stage = Stage::new();
    let shell = &stage.shell;
    let mail = stage.tab("mail", "/");
    stage.practice.release("now-and-then");
    let tab = stage.tab("shop", "/t/hold-document?name=now-and-then");
    stage.practice.shut("now-and-then");
    let mut victim = stage.victim(&tab);
    let hammer = Hammer::on(shell, &mail);
    let at = now();
    Fault::RendererKilled.strike(&mut victim);
    shell.comes_to_restarts(&format!("tab t{tab}"), 1);
    let after = usable(&mut shell.keep(), &tab, "about:blank") - at;
    assert!(after < Duration::from_secs(20), "usable after {after:?}");
    let hammered = hammer.stop();
    assert!(hammered.failed.is_empty(), "{:?}", hammered.failed);
    shell.run(&["open", &stage.practice.url("shop", "/")]).good();
}

#[test]
fn a_tab_whose_navigation_timed_out_can_be_looked_at() {
    let stage = Stage::new();
    let shell = &stage.shell;
    stage.tab("shop", "/");
    let title = shell.run(&["eval", "document.title"]).good();
    for site in ["shop", "mail"] {
        let silent = stage.practice.url(site, "/t/hold-document?name=never");
        let opened = shell.run(&["open", &silent, "--timeout", "1s"]);
        assert_eq!((opened.exit, opened.word()), (1, "timed_out"), "{opened:?}");
        let seen = shell.run(&["eval", "document.title"]).good();
        assert_eq!(seen.data("value"), title.data("value"));
        assert_eq!(
            shell.run(&["get", "url"]).good().data("value"),
            &*stage.practice.url("shop", "/")
        );
    }
}
