//! What the library says of an element before it is acted on.
use serde_json::{Value, json};
use strawmanus::perception::scripts::LIBRARY;
use strawmanus::ports::browser::ProfileMode;
use strawmanus::ports::page::Press;

use crate::cdp::stage::{LONG, Stage, Tab};

impl Tab {
    async fn show(&self, html: &str) {
        self.eval(&format!("document.body.innerHTML = {html:?}; 1")).await;
    }

    /// Focuses what the selector finds, and returns what is told of it.
    async fn probe(&self, selector: &str) -> Value {
        self.eval(&format!("document.querySelector({selector:?}).focus(); 1")).await;
        let raw = self.page.call("probe_focus", "{}", LONG).await.unwrap();
        let probe: Value = serde_json::from_str(&raw).unwrap();
        assert_eq!(probe["status"], "ok", "{selector}: {probe}");
        probe
    }
}

const FORM: &str = "<form action=/pay method=post>\
    <input name=who value=Ann><input type=password name=p><input name=cardnumber>\
    <input type=hidden name=cents value=100><input type=checkbox name=gift value=yes>\
    <select name=way><option>Slow</option><option>Fast</option></select><textarea name=note></textarea>\
    <p>Total <b id=total>10.00 €</b>, open for <i id=left>59</i> s</p><button>Go</button></form>\
    <input id=outside value=x>";

#[tokio::test(flavor = "multi_thread")]
async fn every_value_of_a_form_counts_and_nothing_outside() {
    let stage = Stage::with_library(ProfileMode::Fresh, LIBRARY).await;
    let tab = stage.open("/plain").await;
    tab.show(FORM).await;
    let digest = async || tab.probe("button").await["digest"].as_str().unwrap().to_owned();
    let first = digest().await;
    assert_eq!((first.len(), &digest().await), (64, &first));
    let mut before = first.clone();
    for change in [
        "[name=who]').value = 'Bob",
        "[name=p]').value = 'secret",
        "[name=cents]').value = '10000",
        "[name=gift]').checked = '1",
        "[name=way]').selectedIndex = '1",
        "[name=note]').value = 'now",
        "#total').textContent = '100.00 €",
    ] {
        tab.eval(&format!("document.querySelector('{change}'; 1")).await;
        let after = digest().await;
        assert_ne!(after, before, "{change}");
        before = after;
    }
    for other in ["#left').textContent = '58", "#outside').value = 'y"] {
        tab.eval(&format!("document.querySelector('{other}'; 1")).await;
        assert_eq!(digest().await, before, "{other}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_counts_in_a_way_that_nobody_can_try_out() {
    let stage = Stage::with_library(ProfileMode::Fresh, LIBRARY).await;
    let mut digests = Vec::new();
    for _ in 0..2 {
        let tab = stage.open("/plain").await;
        tab.show(FORM).await;
        let plain = tab.probe("button").await["digest"].clone();
        tab.eval("document.querySelector('[name=p]').value = 'hunter2'; 1").await;
        let probe = tab.probe("button").await;
        assert!(!probe.to_string().contains("hunter2"), "{probe}");
        assert_eq!(probe["payload"], "who: Ann; p: <secret>; way: Slow");
        assert_eq!(probe["form"]["secrets"], json!(true));
        digests.push((plain, probe["digest"].clone()));
    }
    assert_eq!(digests[0].0, digests[1].0);
    assert_ne!(digests[0].1, digests[1].1, "each document has its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_submits_by_its_handlers_is_told_and_cards_are_seen() {
    let stage = Stage::with_library(ProfileMode::Fresh, LIBRARY).await;
    let tab = stage.open("/plain").await;
    for (html, selector, submits) in [
        (
            "<form><select onchange='this.form.submit()'><option>a</select><input></form>",
            "select",
            true,
        ),
        ("<form><select oninput='fetch(1)'><option>a</select><input></form>", "select", true),
        ("<form><select><option>a</select><input type=hidden></form>", "select", true),
        ("<form><select><option>a</select><input></form>", "select", false),
        ("<select onchange='said.textContent = value'><option>a</select>", "select", false),
        ("<form><input type=checkbox onchange='form.requestSubmit()'></form>", "input", true),
        ("<form><input type=checkbox><button>Go</button></form>", "input", false),
        ("<form id=f></form><a href='#' onclick='f.submit()'>Go</a>", "a", true),
        ("<form id=f></form><a href='#' onclick='toggle()'>Go</a>", "a", false),
    ] {
        tab.show(html).await;
        assert_eq!(tab.probe(selector).await["submits"], json!(submits), "{html}");
    }
    for (html, card) in [
        (FORM, true),
        ("<form><input autocomplete=cc-number><button>Go</button></form>", true),
        ("<form><input name=discard placeholder='Business card'><button>Go</button></form>", false),
    ] {
        tab.show(html).await;
        assert_eq!(tab.probe("button").await["form"]["card"], json!(card), "{html}");
    }
    tab.show(FORM).await;
    assert_eq!(tab.probe("select").await["choices"], json!(["Slow", "Fast"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pointer_that_moves_presses_nothing() {
    let stage = Stage::with_library(ProfileMode::Fresh, LIBRARY).await;
    let tab = stage.open("/plain").await;
    tab.show("<div style='width:400px;height:400px' onmouseover='document.title = \"over\"' onmousedown='document.title = \"down\"'>x</div>").await;
    tab.page.hover(Press { x: 100.0, y: 100.0 }, LONG).await.unwrap();
    assert_eq!(tab.eval("document.title").await, "\"over\"");
}
