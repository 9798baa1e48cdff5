//! What counts as an effect, told truly and in bounded time.
use std::time::Duration;

use strawmanus::practice::server::Practice;

use crate::support::shell::{Done, Shell, eventually};
use crate::support::transcript::Transcript;
use crate::verbs::practice;

/// A click answers after this on a busy machine; what it waits for on purpose is 0.25 s.
const SOON: Duration = Duration::from_secs(2);

fn page(practice: &Practice, name: &str) -> String {
    practice.url("test", &format!("/t/{name}"))
}

fn lines(done: &Done) -> Vec<String> {
    let lines = done.json["delta"].as_array().cloned().unwrap_or_default();
    lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_clock_is_no_effect() {
    let (practice, shell) = (practice(), Shell::new());
    shell.run(&["open", &page(&practice, "dead-button?still")]).good();
    let still = shell.run(&["click", "Do nothing"]).good();
    assert_eq!((still.word(), lines(&still)), ("no_effect", vec![]), "{still:#?}");
    assert!(still.took < SOON, "{still:#?}");
    // Just opened, the clock's beat has to be learnt first; later it is known at once.
    for url in [Some(page(&practice, "dead-button")), None, None] {
        if let Some(url) = url {
            shell.run(&["open", &url]).good();
        }
        let dead = shell.run(&["click", "Do nothing"]).good();
        assert_eq!(dead.word(), "no_effect", "{dead:#?}");
        assert!(dead.took < SOON, "{dead:#?}");
        assert!(
            lines(&dead).iter().all(|line| line.starts_with("background: paragraph")),
            "{dead:#?}"
        );
        assert_eq!(lines(&dead).len(), 1, "{dead:#?}");
    }
    // What an act sets going is its effect, although it goes on like a clock.
    let button = "<button onclick=\"let n = 0; setInterval(() => told.textContent = ++n, 90)\">\
                  Start watch</button><p id=told>0</p>";
    let script = format!("document.body.insertAdjacentHTML('beforeend', {button:?})");
    shell.run(&["eval", &script]).good();
    let started = shell.run(&["click", "Start watch"]).good();
    assert_eq!(started.word(), "changed", "{started:#?}");
    assert!(started.took < SOON, "{started:#?}");
}

#[test]
fn requests_count_beacons_and_other_sites_are_told() {
    let (practice, shell) = (practice(), Shell::new());
    let mut seen = Transcript::new(&shell);
    shell.run(&["open", &page(&practice, "post-only-button")]).good();
    let foreign = practice.url_at(1, "frames.localhost", "/t/post-only");
    let button = format!(
        "<button onclick=\"fetch('{foreign}', {{ method: 'POST', mode: 'no-cors' }})\">Abroad</button>"
    );
    shell
        .run(&["eval", &format!("document.body.insertAdjacentHTML('beforeend', {button:?})")])
        .good();
    for name in ["Like", "Only a beacon", "Only a fetch", "Abroad"] {
        seen.run(&["click", name]);
    }
    assert_eq!(practice.count("POST", "/t/post-only"), 2);
    assert_eq!(practice.count("POST", "/t/beacon"), 1);
    insta::assert_snapshot!(seen.text());
}

#[test]
fn each_kind_of_effect_is_told() {
    let (practice, shell) = (practice(), Shell::new());
    let consent = ["--auto-approve", "--allow", "test.localhost"];
    let mut seen = Transcript::new(&shell);
    let click = |seen: &mut Transcript<'_>, name: &str, word: &str| {
        let done = seen.run(&[&["click", name], &consent[..]].concat());
        assert_eq!(done.exit, 0, "{done:#?}");
        assert!(done.out.starts_with(&format!("{word}: ")), "{done:#?}");
        assert!(done.took < SOON, "{done:#?}");
    };
    shell.run(&["open", &page(&practice, "effects")]).good();
    for (name, word) in [
        ("Change text", "changed"),
        ("Change value", "changed"),
        ("Change title", "changed"),
        ("Push state", "navigated"),
        ("Change hash", "navigated"),
        ("Show toast", "changed"),
        ("Change text later", "changed"),
        ("Change far text", "changed"),
    ] {
        click(&mut seen, name, word);
    }
    seen.say("out of view");
    shell.run(&["open", &page(&practice, "below-fold")]).good();
    click(&mut seen, "Press in the box", "changed");
    click(&mut seen, "Press far down", "changed");
    seen.say("under a veil, and behind what is closed first");
    shell.run(&["open", &page(&practice, "covered")]).good();
    click(&mut seen, "Press through", "changed");
    click(&mut seen, "Close notice", "changed");
    click(&mut seen, "Press under", "changed");
    seen.say("a modal dialog of the page");
    shell.run(&["open", &page(&practice, "modal")]).good();
    click(&mut seen, "Open dialog", "changed");
    click(&mut seen, "Aisle", "changed");
    seen.say("a dialog of the browser");
    shell.run(&["open", &page(&practice, "alert")]).good();
    click(&mut seen, "Open alert", "dialog_open");
    shell.run(&["dialog", "accept"]).good();
    seen.say("a form, a link");
    shell.run(&["open", &page(&practice, "post-form")]).good();
    shell.run(&["fill", "role=textbox", "fern"]).good();
    click(&mut seen, "button", "navigated");
    seen.say("windows");
    shell.run(&["open", &page(&practice, "popup")]).good();
    click(&mut seen, "Open without opener", "new_tab");
    assert_eq!(shell.run(&["get", "url"]).good().data("value"), &page(&practice, "popup-child"));
    shell.run(&["tab", "close"]).good();
    click(&mut seen, "Open popup", "new_tab");
    shell.run(&["tab", "close"]).good();
    assert_eq!(shell.run(&["get", "url"]).good().data("value"), &page(&practice, "popup"));
    insta::assert_snapshot!(seen.text());
}

/// The two buttons change places again and again; only what was named may be pressed.
#[test]
fn what_moves_under_the_pointer_is_not_mistaken() {
    let (practice, shell) = (practice(), Shell::new());
    shell.run(&["open", &page(&practice, "swap")]).good();
    shell.run(&["eval", "setInterval(window.tick, 7)"]).good();
    let mut pressed = 0;
    for _ in 0..5 {
        let done = shell.run(&["click", "role=button[name=Keep]"]);
        match done.word() {
            "changed" | "no_effect" => pressed += 1,
            "unstable" | "blocked_by" => {}
            other => panic!("{other}: {done:#?}"),
        }
    }
    shell.run(&["eval", "for (let id = 0; id < 999; id++) clearInterval(id)"]).good();
    let done = shell.run(&["click", "role=button[name=Keep]"]).good();
    assert_eq!(done.word(), "changed", "{done:#?}");
    pressed += 1;
    let keeps = eventually(Duration::from_secs(5), || {
        let rows = practice.ledger();
        let of = |query: &str| rows.iter().filter(|row| row.query == query).count();
        assert_eq!(of("name=drop"), 0, "never what was not named");
        if of("name=keep") == pressed { Ok(()) } else { Err(of("name=keep")) }
    });
    assert!(keeps.is_ok(), "{keeps:?} of {pressed}");
}
