//! What counts as an effect, told truly and in bounded time.
use std::time::Duration;

use strawmanus::practice::server::Practice;

use crate::support::shell::{Done, Shell};
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
    shell.script(&script);
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
    shell.script(&format!("document.body.insertAdjacentHTML('beforeend', {button:?})"));
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
    shell.run(&["open", &page(&practice, "popup")]).good();
    for (name, child) in [("Open without opener", "has no opener"), ("Open popup", "has an opener")]
    {
        let opened = shell.run(&["click", name]).good();
        assert_eq!(opened.word(), "new_tab", "{opened:#?}");
        assert!(lines(&opened)[0].ends_with("/t/popup-child"), "{opened:#?}");
        shell.run(&["wait", "--text", child]).good();
        shell.run(&["tab", "close"]).good();
        assert_eq!(shell.run(&["get", "url"]).good().data("value"), &page(&practice, "popup"));
    }
    insta::assert_snapshot!(seen.text());
}

/// What was a clock's line a moment ago may be what a press changes, and at no time of the clock's.
#[test]
fn a_press_between_two_beats_is_an_effect() {
    let (practice, shell) = (practice(), Shell::new());
    shell.run(&["open", &page(&practice, "blank")]).good();
    let button = "<button onclick=\"told.textContent = 'pressed'\">Press</button><p id=told>0</p>";
    let script = format!(
        "document.body.insertAdjacentHTML('beforeend', {button:?}); let n = 0;\
         setInterval(() => told.textContent = ++n, 800)"
    );
    shell.script(&script);
    shell.run(&["wait", "--text", "4"]).good();
    // The wait ended within 50 ms of a beat, and the press comes long before the next.
    let pressed = shell.run(&["click", "Press"]).good();
    assert_eq!((pressed.word(), lines(&pressed)[0].as_str()), ("changed", "appeared: pressed"));
}

/// Two buttons exchange places; a number still means the one it was given to.
/// What an act writes and the page takes back a while later, at a steady pace, is no clock.
#[test]
fn what_is_taken_back_between_two_acts_is_an_effect_each_time() {
    let (practice, shell) = (practice(), Shell::new());
    shell.run(&["open", &page(&practice, "dead-button?still")]).good();
    let button = "<button onclick=\"told.textContent = 'added'; clearTimeout(window.t); \
                  window.t = setTimeout(() => told.textContent = 'taken back', 700)\">Add</button>\
                  <p id=told>nothing</p>";
    shell.script(&format!("document.body.insertAdjacentHTML('beforeend', {button:?})"));
    for round in 0..8 {
        let added = shell.run(&["click", "Add"]).good();
        assert!(lines(&added).contains(&"appeared: added".into()), "round {round}: {added:#?}");
        shell.run(&["wait", "--text", "taken back"]).good();
    }
}

#[test]
fn what_changed_places_is_not_mistaken() {
    let (practice, shell) = (practice(), Shell::new());
    shell.run(&["open", &page(&practice, "swap")]).good();
    let (keep, drop) = (shell.number_of("button", "Keep"), shell.number_of("button", "Drop"));
    for (number, name) in [(&keep, "keep"), (&drop, "drop"), (&keep, "keep")] {
        shell.run(&["eval", "window.tick()"]).good();
        let done = shell.run(&["click", number]).good();
        assert_eq!(done.word(), "changed", "{done:#?}");
        let last = practice.ledger().into_iter().rfind(|row| row.path == "/t/swap-press").unwrap();
        assert_eq!(last.query, format!("name={name}"));
    }
    // One that never stands still is not pressed, unless the machine is too busy to draw it moving.
    let moving = "const style = document.createElement('style');\
        style.textContent = '@keyframes go { from { margin-left: 0 } to { margin-left: 900px } } \
        #pair button { animation: go 1.1s linear infinite }'; document.head.append(style)";
    shell.script(moving);
    let words = [(); 2].map(|()| shell.run(&["click", &keep]).word().to_owned());
    assert!(words.iter().any(|word| word == "unstable"), "{words:?}");
    let rows = practice.ledger();
    assert_eq!(rows.iter().filter(|row| row.query == "name=drop").count(), 1, "never another");
}
