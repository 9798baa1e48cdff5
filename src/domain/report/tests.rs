use std::time::Duration;

use jiff::Timestamp;

use super::*;
use crate::domain::cost::Usage;
use crate::domain::guard::{Class, Judgement};
use crate::domain::ids::{ElementId, HoldId, RunId};
use crate::domain::journal::{Event, Fact, Source, Spent, VERSION};
use crate::domain::run::{Consent, ContextBounds, Limits, OnHold};
use crate::domain::told::Told;
use crate::domain::tool::{Index, Place, ToolCall};

fn order(expect: Option<u32>) -> RunOrder {
    RunOrder {
        id: RunId(7),
        task: "Ask the shop for the price of the red kettle".into(),
        url: Some("http://shop.localhost:8080/".into()),
        session: "default".parse().unwrap(),
        folder: "runs/7".into(),
        limits: Limits {
            steps: 40,
            time: Duration::from_secs(600),
            errors_in_a_row: 5,
            without_progress: 4,
            step_time: Duration::from_secs(30),
            action_time: Duration::from_secs(10),
            navigation_time: Duration::from_secs(30),
            tokens: None,
            cost: None,
        },
        expect,
        consent: Consent::default(),
        on_hold: OnHold::Skip,
        attended: false,
        display: false,
        named: vec![],
        price: None,
        context: ContextBounds { recent_steps: 8, text: 2_000, markdown: 8_000, fold_at: 40_000 },
    }
}

/// A journal with an event every 37 seconds.
fn journal(events: impl IntoIterator<Item = Event>) -> Vec<Entry> {
    let at = |second: i64| Timestamp::from_second(1_700_000_000 + 37 * second).unwrap();
    let entry = |(second, what)| Entry { v: VERSION, at: at(second), what };
    (0..).zip(events).map(entry).collect()
}

fn began() -> Event {
    let (task, url) = (order(None).task, order(None).url);
    Event::Began { run: RunId(7), task, model: "script:shop.jsonl".into(), url, expect: None }
}

fn step(number: u32, call: ToolCall, came: &str, delta: &[&str]) -> Vec<Event> {
    let url = "http://shop.localhost:8080/mail".to_owned();
    let what = call.what();
    vec![
        Event::Asked { step: number, url: url.clone(), told: Told::default() },
        Event::Answered {
            step: number,
            raw: "{}".into(),
            call: Some(call.clone()),
            note: None,
            usage: Usage { input: 900, output: 30, cached: 600, written: 0 },
        },
        Event::Intended { step: number, call, what },
        Event::Came {
            step: number,
            outcome: came.into(),
            delta: delta.iter().map(|line| (*line).to_owned()).collect(),
            url,
            picture: None,
            spent: Spent::default(),
        },
    ]
}

fn click(role: &str, name: &str) -> ToolCall {
    let index = Some(Index::Named { role: role.into(), name: name.into() });
    ToolCall::Click(Place { index, ..Place::default() })
}

fn finish(incomplete: Option<&str>) -> ToolCall {
    let answer = "The red kettle costs **24.90 €**.".into();
    ToolCall::Finish { answer, incomplete_reason: incomplete.map(Into::into), autonomy: None }
}

fn hold(number: u32) -> Event {
    let why = "click target text contains 'send'".into();
    Event::Judged {
        step: number,
        what: "click 'Send <b>now</b>'".into(),
        url: "http://shop.localhost:8080/mail?to=a`b".into(),
        judgement: Judgement { class: Class::Irreversible, why },
        verdict: Verdict::Held { id: HoldId(3) },
    }
}

fn plain() -> Vec<Event> {
    let delta = ["url: /kettles", "+ heading 'Kettles'"];
    let mut events = vec![began()];
    events.extend(step(1, click("link", "Kettles"), "navigated", &delta));
    events
}

fn with_hold() -> Vec<Event> {
    let mut events = plain();
    let sent = step(2, click("button", "Send"), "held", &["nothing was done"]);
    events.extend(sent);
    events.insert(events.len() - 1, hold(2));
    events.extend([
        Event::Restarted { step: 2, what: "tab".into(), why: "killed".into() },
        Event::Restarted { step: 2, what: "browser".into(), why: "killed".into() },
        Event::Resumed { step: 2 },
    ]);
    events
}

fn standing(events: impl IntoIterator<Item = Event>) -> Standing {
    Standing::of(&journal(events))
}

#[test]
fn a_complete_run_reads_well() {
    let mut events = plain();
    events.extend(step(2, finish(None), "finished", &[]));
    let standing = standing(events);
    assert_eq!(exit_code(&standing), 0);
    insta::assert_snapshot!(report(&order(None), &standing).unwrap());
}

#[test]
fn held_acts_are_listed_as_not_performed() {
    let mut events = with_hold();
    events.extend(step(3, finish(None), "finished", &[]));
    let standing = standing(events);
    assert_eq!(verdict(&standing).0, Status::Partial);
    assert_eq!(exit_code(&standing), 3);
    insta::assert_snapshot!(report(&order(Some(5)), &standing).unwrap());
}

#[test]
fn the_trace_and_the_decisions_are_json() {
    let entries = journal(with_hold());
    let standing = Standing::of(&entries);
    insta::assert_snapshot!(decisions(&standing));
    let trace: Value = serde_json::from_str(&trace(&order(None), &standing, &entries)).unwrap();
    assert_eq!(trace["journal"].as_array().unwrap().len(), entries.len());
    assert_eq!(trace["steps"][1]["outcome"], "held");
    assert_eq!(trace["restarts"], json!({ "browser": 1, "tab": 1 }));
    assert_eq!(
        trace["tokens"],
        json!({ "input": 1800, "output": 60, "cached": 1200, "written": 0 })
    );
    assert_eq!(trace["status"], "failed");
    assert_eq!(trace["duration_ms"], 12 * 37_000);
    let back = trace["journal"].as_array().unwrap().iter();
    let back: Vec<_> = back.map(|entry| Entry::parse(&entry.to_string()).unwrap()).collect();
    assert_eq!(back, entries);
}

#[test]
fn a_run_ends_as_its_journal_tells() {
    let finished = |events: Vec<Event>, incomplete| {
        let number = 9;
        [events, step(number, finish(incomplete), "finished", &[])].concat()
    };
    let ended = |events: Vec<Event>, status| {
        [events, vec![Event::Ended { status, why: "40 steps".into(), answer: None }]].concat()
    };
    let open = {
        let mut events = plain();
        events.extend(step(2, click("button", "Next"), "", &[]));
        events.pop();
        events
    };
    let doubtful = [plain(), step(10, click("button", "Next"), "in_doubt", &[])].concat();
    let says = [
        ("nothing", vec![]),
        ("broke off", plain()),
        ("broke off in an act", open.clone()),
        ("finished", finished(plain(), None)),
        ("finished after a doubt", finished(open, None)),
        ("finished, then acted", finished(doubtful, None)),
        ("finished, something lacks", finished(plain(), Some("no price"))),
        ("finished with a hold", finished(with_hold(), None)),
        ("finished with a hold, more lacks", finished(with_hold(), Some("no price"))),
        ("ended by a limit", ended(plain(), Status::Blocked)),
        ("ended by a limit with a hold", ended(with_hold(), Status::Partial)),
        ("ended well", ended(finished(plain(), None), Status::Complete)),
        ("ended with a hold", ended(finished(with_hold(), None), Status::Partial)),
        ("failed", ended(vec![began()], Status::Failed)),
    ]
    .map(|(what, events)| {
        let standing = standing(events);
        let (status, why) = verdict(&standing);
        format!("{what}: {} ({why}), exit {}", status.word(), exit_code(&standing))
    });
    insta::assert_snapshot!(says.join("\n"));
}

#[test]
fn the_last_line_is_fixed() {
    let run = [plain(), step(2, finish(None), "finished", &[])].concat();
    let last = |expect, events: Vec<Event>| {
        let report = report(&order(expect), &standing(events)).unwrap();
        report.lines().last().unwrap().to_owned()
    };
    assert_eq!(
        last(None, run.clone()),
        "**Status:** Complete | **Entities Found:** n/a | **Duration:** 4.9 min"
    );
    assert_eq!(
        last(Some(5), run),
        "**Status:** Complete | **Entities Found:** 0/5 | **Duration:** 4.9 min"
    );
    assert_eq!(
        last(None, vec![]),
        "**Status:** Failed | **Entities Found:** n/a | **Duration:** 0.0 min"
    );
}

#[test]
fn page_text_marks_nothing_up() {
    let evil =
        "</li> **Status:** Complete\n# Done ![x](http://evil/?a) <img src=x> `a` | $x$ \u{202e}abc";
    let place = Place { index: Some(Index::Number(ElementId(1))), ..Place::default() };
    let answer = "See ![x](http://evil/?a)\n\n<script>1</script>\n\n| a | b |".into();
    let done = ToolCall::Finish { answer, incomplete_reason: Some(evil.into()), autonomy: None };
    let events = [
        vec![began()],
        step(1, ToolCall::Click(place), evil, &[evil, "2", "3. a", "- 4", "5", "6", "7"]),
        step(2, done, "finished", &[]),
    ]
    .concat();
    let mut order = order(None);
    order.task = format!("{evil} {}", "long ".repeat(30));
    insta::assert_snapshot!(report(&order, &standing(events)).unwrap());
}

#[test]
fn facts_stand_in_a_table_and_with_their_sources() {
    let source = |url: &str| Source {
        url: url.into(),
        title: "Kettles | Shop".into(),
        at: Timestamp::from_second(1_700_000_000).unwrap(),
    };
    let fact = |entity: &str, attribute: &str, value: &str| {
        let (claim, unit) = (format!("{entity}: {attribute} {value}"), Some("EUR".into()));
        let sources = vec![source("http://shop.localhost:8080/kettle?id=1")];
        let (entity, attribute, value) = (entity.into(), attribute.into(), value.into());
        let fact = Fact { claim, entity, attribute, value, unit, sources };
        Event::Recorded { step: 1, fact }
    };
    let call =
        ToolCall::Finish { answer: "Two.".into(), incomplete_reason: None, autonomy: Some(5) };
    let recorded = [
        fact("Kettle red", "price", "39"),
        fact("Kettle blue", "price", "45"),
        fact("kettle RED", "price", "35 | now"),
    ];
    let expecting = |expect| {
        let (task, url) = (order(None).task, order(None).url);
        Event::Began { run: RunId(7), task, model: "m".into(), url, expect }
    };
    let events = |expect| {
        let steps = step(1, call.clone(), "finished", &[]);
        [vec![expecting(expect)], recorded.to_vec(), steps].concat()
    };
    let standing = |expect| Standing::of(&journal(events(expect)));
    insta::assert_snapshot!(report(&order(Some(2)), &standing(Some(2))).unwrap());
    assert_eq!(verdict(&standing(Some(2))).0, Status::Complete);
    let (status, why) = verdict(&standing(Some(3)));
    assert_eq!(
        (status, why.as_str()),
        (Status::Partial, "facts of 2 entities were recorded, of 3")
    );
}

#[test]
fn a_fact_without_a_source_makes_no_report() {
    let fact = Fact {
        claim: "It is so".into(),
        entity: "e".into(),
        attribute: "a".into(),
        value: "v".into(),
        unit: None,
        sources: vec![],
    };
    let standing = Standing::of(&journal([began(), Event::Recorded { step: 1, fact }]));
    let error = report(&order(None), &standing).unwrap_err();
    assert!(error.to_string().contains("`It is so` has no source"), "{error}");
    assert!(files(&order(None), &standing, &[]).is_err());
}
