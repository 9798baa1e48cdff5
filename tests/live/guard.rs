//! What is held, by whatever way it comes; and what a person makes of it. The site's own ledger says
//! what was really sent.
use std::fs;

use serde_json::json;
use strawmanus::practice::server::Practice;

use crate::support::shell::{Done, Shell};
use crate::support::transcript::Transcript;
use crate::verbs::{files_with, practice};

const SENT: (&str, &str) = ("POST", "/t/post-form");

struct Site {
    practice: Practice,
    shell: Shell,
}

impl Site {
    /// A browser at the page with every way to send one form.
    fn new() -> Self {
        let site = Self { practice: practice(), shell: Shell::new() };
        site.reopen();
        site
    }

    fn reopen(&self) {
        self.shell.run(&["open", &self.practice.url("test", "/t/ways")]).good();
    }

    fn sent(&self) -> usize {
        self.practice.count(SENT.0, SENT.1)
    }

    fn held(&self, words: &[&str]) -> String {
        let done = self.shell.run(words);
        assert_eq!((done.exit, done.word()), (3, "held"), "{words:?}: {done:#?}");
        assert_eq!(self.sent(), 0, "{words:?}");
        done.data("hold")["id"].as_str().unwrap().to_owned()
    }

    fn refused(&self, words: &[&str], why: &str) -> Done {
        let done = self.shell.run(words);
        assert_eq!(done.exit, 1, "{words:?}: {done:#?}");
        let message = done.json["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(why), "{words:?}: {message}");
        done
    }

    fn focus(&self, selector: &str) {
        let script = format!("document.querySelector({selector:?}).focus()");
        self.shell.run(&["eval", &script]).good();
    }
}

#[test]
fn a_held_act_is_approved_and_done_once() {
    let site = Site::new();
    let mut seen = Transcript::new(&site.shell);
    assert_eq!(seen.run(&["click", "Send"]).exit, 3);
    assert_eq!(site.sent(), 0);
    seen.run(&["approve"]);
    seen.run(&["approve", "h1"]);
    assert_eq!(site.sent(), 1);
    seen.run(&["approve", "h1"]);
    seen.run(&["approve", "h9"]);
    seen.run(&["approve"]);
    site.reopen();
    seen.run(&["fill", "label=Text", "good bye"]);
    seen.run(&["press", "Control+Enter"]);
    seen.run(&["deny", "h2"]);
    seen.run(&["approve", "h2"]);
    assert_eq!(site.sent(), 1);
    insta::assert_snapshot!(seen.text());
    let attached = site.shell.run(&["attach"]).good();
    assert_eq!(attached.data("holds"), &json!([]));
}

#[test]
fn what_changed_since_the_hold_is_not_sent() {
    let site = Site::new();
    for (script, why) in [
        ("document.querySelector('[name=word]').value = 'yew'", "values of the form changed"),
        ("document.querySelector('#sends button').textContent = 'Send all'", "called otherwise"),
        ("document.forms[0].setAttribute('action', '/t/beacon')", "its form goes elsewhere"),
        (
            "document.querySelector('#sends').id = 'other'; document.querySelector('[name=folder]').selectedIndex = 2",
            "values of the form changed",
        ),
    ] {
        site.reopen();
        // By its number, which goes on to mean the same button.
        let send = site.shell.number_of("button", "Send");
        let id = site.held(&["click", &send]);
        site.shell.script(script);
        site.refused(&["approve", &id], why);
        assert_eq!(site.sent(), 0, "{script}");
    }
    // As it was, it fits.
    site.reopen();
    let id = site.held(&["click", "Send"]);
    site.shell.run(&["fill", "label=Word", "yew"]).good();
    site.refused(&["approve", &id], "values of the form changed");
    site.shell.run(&["fill", "label=Word", "fern"]).good();
    site.shell.run(&["approve", &id]).good();
    assert_eq!(site.sent(), 1);
}

#[test]
fn every_way_to_send_is_held_and_its_twins_pass() {
    let site = Site::new();
    let shell = &site.shell;
    site.held(&["click", "Send"]);
    site.held(&["fill", "label=Word", "yew", "--press-enter"]);
    assert_eq!(shell.run(&["get", "value", "label=Word"]).good().data("value"), "fern");
    site.held(&["fill", "label=Move to", "Archive"]);
    site.held(&["fill", "label=Move to", "Delete"]);
    for (focused, keys) in [
        ("[name=word]", &["Enter"] as &[&str]),
        ("[name=text]", &["Control+Enter"]),
        ("#sends button", &["Enter", "Space"]),
        ("[name=folder]", &["ArrowDown"]),
    ] {
        for key in keys {
            site.focus(focused);
            site.held(&["press", key]);
        }
    }
    for script in [
        "document.forms[0].submit()",
        "document.querySelector('#sends button').click()",
        "fetch('/t/post-form', { method: 'POST' })",
    ] {
        site.held(&["eval", script]);
    }
    for script in ["document.forms[0].elements.length", "document.title"] {
        shell.run(&["eval", script]).good();
    }
    for twin in [
        &["click", "Apply filters"] as &[&str],
        &["fill", "label=Colour", "Green"],
        &["fill", "label=Note", "send it", "--press-enter"],
        &["fill", "label=Find", "lamp", "--press-enter"],
        &["fill", "label=Sort by", "Post date"],
    ] {
        shell.run(twin).good();
        site.reopen();
    }
    assert_eq!(site.sent(), 0);
}

#[test]
fn coordinates_are_judged_by_what_they_hit() {
    let site = Site::new();
    let bounds = site.shell.run(&["get", "box", "role=button[name=\"Send\"]"]).good();
    let middle = |at: usize, side: usize| {
        bounds.data("value")[at].as_f64().unwrap()
            + bounds.data("value")[side].as_f64().unwrap() / 2.0
    };
    let (x, y) = (middle(0, 2), middle(1, 3));
    let calls = [
        json!({ "tool": "browser_navigate", "args": { "url": site.practice.url("test", "/t/ways") } }),
        json!({ "tool": "browser_click", "args": { "coordinate_x": x, "coordinate_y": y } }),
        json!({ "tool": "finish", "args": { "answer": "held" } }),
    ];
    let text: String = calls.iter().map(|call| format!("{call}\n")).collect();
    fs::write(site.shell.folder().join("at.jsonl"), text).unwrap();
    let done = site.shell.run(&["run", "Send it", "--model", "script:at.jsonl"]);
    assert_eq!((done.exit, site.sent()), (3, 0), "{done:#?}");
    let what = done.data("held")[0]["what"].as_str().unwrap().to_owned();
    assert!(what.starts_with("click button \"Send\" at"), "{what}");
}

#[test]
fn a_question_is_judged_by_its_words() {
    let site = Site::new();
    let shell = &site.shell;
    let said = || shell.run(&["get", "text", "#said"]).good().data("value").clone();
    assert_eq!(shell.run(&["click", "Clear"]).word(), "dialog_open");
    let id = site.held(&["dialog", "accept"]);
    shell.run(&["dialog", "dismiss"]).good();
    assert_eq!(said(), "answered false");
    site.refused(&["approve", &id], "no dialog is open");
    shell.run(&["click", "Clear"]).good();
    shell.run(&["approve", &id]).good();
    assert_eq!(said(), "answered true");
    shell.run(&["click", "Show"]).good();
    shell.run(&["dialog", "accept"]).good();
    assert_eq!(said(), "answered true");
}

#[test]
fn a_secret_is_kept_nowhere_and_typed_by_nobody_else() {
    let site = Site::new();
    let shell = &site.shell;
    shell.run(&["open", &site.practice.url("test", "/t/fields")]).good();
    let secret = "quince-and-medlar";
    let id = site.held(&["fill", "label=Password", secret, "--press-enter"]);
    let done = site.refused(&["approve", &id], "holds a secret, which is not kept");
    assert!(!done.out.contains(secret), "{done:#?}");
    let listed = shell.run(&["approve"]).good();
    assert!(listed.data("holds")[0]["payload"].as_str().unwrap().contains("Password: <secret>"));
    shell.run(&["close", "--all"]).good();
    assert_eq!(files_with(&shell.home(), secret.as_bytes()), Vec::<String>::new());
}

#[test]
fn an_approval_goes_with_its_tab() {
    let site = Site::new();
    let id = site.held(&["click", "Send"]);
    site.shell.run(&["tab", "new"]).good();
    site.shell.run(&["tab", "close", "1"]).good();
    let done = site.refused(&["approve", &id], "its tab t1 is closed");
    assert_eq!(done.json["error"]["kind"], "target_gone");
    assert_eq!(site.sent(), 0);
}

#[test]
fn the_users_rules_count_from_the_moment_they_are_written() {
    let site = Site::new();
    let shell = &site.shell;
    let policy = shell.home().join("policy.toml");
    let write = |text: &str| fs::write(&policy, text).unwrap();
    shell.run(&["click", "Apply filters"]).good();
    write("confirm = [\"click@test.localhost\"]");
    let id = site.held(&["click", "Apply filters", "--auto-approve", "--allow", "test.localhost"]);
    shell.run(&["approve", &id]).good();
    write("deny = [\"click@*.localhost\", \"navigate@news.localhost\"]");
    site.refused(&["click", "Apply filters"], "policy.toml denies `click@*.localhost`");
    site.refused(&["open", &site.practice.url("news", "/")], "denies `navigate@news.localhost`");
    shell.run(&["open", &site.practice.url("test", "/t/ways")]).good();
    write("deny = [\n  \"clik\",\n]");
    site.refused(&["click", "Apply filters"], "policy.toml, line 2: `clik` is nothing");
    shell.run(&["observe"]).good();
    fs::remove_file(&policy).unwrap();
    shell.run(&["click", "Apply filters"]).good();
    let sent = ["click", "Send", "--auto-approve", "--allow", "test.localhost"];
    shell.run(&sent).good();
    assert_eq!(site.sent(), 1);
}
