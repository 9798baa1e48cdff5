use proptest::prelude::*;

use super::*;
use crate::domain::guard::Class;
use crate::domain::ids::ElementId;
use crate::domain::tool::{Index, Place};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn entries(events: impl IntoIterator<Item = Event>) -> Vec<Entry> {
    let entry = |(second, what)| Entry { v: VERSION, at: at(second), what };
    (0..).zip(events).map(entry).collect()
}

fn click(index: u32) -> ToolCall {
    let index = Some(Index::Number(ElementId(index)));
    ToolCall::Click(Place { index, ..Place::default() })
}

fn asked(step: u32) -> Event {
    Event::Asked { step, url: format!("http://a.localhost/{step}"), told: Told::default() }
}

fn intended(step: u32, call: ToolCall) -> Event {
    let what = call.what();
    Event::Intended { step, call, what }
}

fn came(step: u32, outcome: &str) -> Event {
    let (outcome, delta) = (outcome.into(), vec!["url: /next".into()]);
    Event::Came {
        step,
        outcome,
        delta,
        url: "http://a.localhost/next".into(),
        picture: None,
        spent: Spent::default(),
    }
}

fn answered(step: u32) -> Event {
    Event::Answered {
        step,
        raw: "{}".into(),
        call: Some(ToolCall::View {}),
        note: None,
        usage: Usage { input: 100, output: 7, cached: 40, written: 0 },
    }
}

#[test]
fn a_journal_folds_into_where_the_run_stands() {
    let judgement = Judgement { class: Class::Irreversible, why: "it sends".into() };
    let judged = |step, verdict| {
        let (what, url) = ("click 'Send'".into(), "http://a.localhost/".into());
        Event::Judged { step, what, url, judgement: judgement.clone(), verdict }
    };
    let journal = entries([
        Event::Began {
            run: RunId(7),
            task: "Ask".into(),
            model: "m".into(),
            url: None,
            expect: None,
        },
        asked(1),
        answered(1),
        intended(1, click(3)),
        judged(1, Verdict::Passed),
        came(1, "changed"),
        Event::Restarted { step: 1, what: "tab".into(), why: "killed".into() },
        Event::Restarted { step: 1, what: "tab".into(), why: "killed".into() },
        Event::Resumed { step: 1 },
        asked(2),
        answered(2),
        intended(2, click(4)),
        judged(2, Verdict::Held { id: HoldId(5) }),
    ]);
    let standing = Standing::of(&journal);
    assert_eq!((standing.task.as_str(), standing.model.as_str()), ("Ask", "m"));
    assert_eq!((standing.began, standing.last), (Some(at(0)), Some(at(12))));
    let usage = Usage { input: 200, output: 14, cached: 80, written: 0 };
    assert_eq!(standing.usage, usage);
    assert_eq!(standing.restarts, BTreeMap::from([("tab".into(), 2)]));
    assert_eq!(standing.resumed, 1);
    assert_eq!(standing.ended, None);
    let [first, second] = &standing.steps[..] else { panic!("{:?}", standing.steps) };
    assert_eq!(first.url, "http://a.localhost/next");
    assert_eq!(first.outcome.as_deref(), Some("changed"));
    assert_eq!(first.delta, ["url: /next"]);
    assert_eq!((second.began, second.what.as_str()), (Some(at(9)), "click [4]"));
    assert!(!first.in_doubt() && second.in_doubt());
    let held: Vec<_> = standing.held().map(|(step, _)| step.number).collect();
    assert_eq!(held, [2]);
}

#[test]
fn an_act_is_in_doubt_until_somebody_looked() {
    let doubts = |events: Vec<Event>| {
        let standing = Standing::of(&entries(events));
        standing.in_doubt().map(|step| step.number).collect::<Vec<_>>()
    };
    let act = || vec![asked(1), answered(1), intended(1, click(3))];
    assert_eq!(doubts(act()), [1]);
    assert_eq!(doubts([act(), vec![came(1, "in_doubt")]].concat()), [1]);
    assert_eq!(doubts([act(), vec![came(1, "changed")]].concat()), [0; 0]);
    assert_eq!(doubts([act(), vec![came(1, "in_doubt"), asked(2)]].concat()), [0; 0]);
    // What touches nothing leaves no doubt.
    assert_eq!(doubts(vec![asked(1), intended(1, ToolCall::View {})]), [0; 0]);
    let finish = ToolCall::Finish { answer: "a".into(), incomplete_reason: None, autonomy: None };
    assert_eq!(doubts(vec![asked(1), intended(1, finish)]), [0; 0]);
}

#[test]
fn entries_of_a_newer_version_are_refused() {
    let json = serde_json::to_string(&entries([Event::Resumed { step: 2 }])[0]).unwrap();
    assert_eq!(json, r#"{"v":1,"at":"2023-11-14T22:13:20Z","event":"resumed","step":2}"#);
    assert!(Entry::parse(&json).is_ok());
    let newer = r#"{"v":2,"when":0,"event":"dreamt"}"#;
    let error = Entry::parse(newer).unwrap_err();
    assert_eq!(error, BadEntry::Newer { found: 2 });
    assert_eq!(
        error.to_string(),
        "it was written by a newer version (format 2, this one reads up to 1); update strawmanus"
    );
    for odd in ["", "{}", r#"{"v":1}"#, r#"{"v":1,"at":"2023-11-14T22:13:20Z","event":"dreamt"}"#] {
        assert!(matches!(Entry::parse(odd), Err(BadEntry::Unreadable(_))), "{odd}");
    }
}

fn call() -> impl Strategy<Value = ToolCall> {
    let index = prop_oneof![
        any::<u32>().prop_map(|number| Index::Number(ElementId(number))),
        (".+", ".*").prop_map(|(role, name)| Index::Named { role, name }),
    ];
    let place = prop_oneof![
        index.prop_map(|index| Place { index: Some(index), ..Place::default() }),
        (0_u32..20_000, 0_u32..20_000).prop_map(|(x, y)| Place {
            index: None,
            coordinate_x: Some(f64::from(x) / 4.0),
            coordinate_y: Some(f64::from(y) / 4.0),
        }),
    ]
    .boxed();
    let input = (place.clone(), ".*", any::<bool>())
        .prop_map(|(place, text, press_enter)| ToolCall::Input { place, text, press_enter });
    let finish = (".*", prop::option::of(".*")).prop_map(|(answer, incomplete_reason)| {
        ToolCall::Finish { answer, incomplete_reason, autonomy: Some(3) }
    });
    prop_oneof![
        Just(ToolCall::View {}),
        Just(ToolCall::Navigate { url: "http://a.localhost/?q=é".into() }),
        Just(ToolCall::PressKey { key: "Control+Enter".into() }),
        any::<bool>().prop_map(|to_top| ToolCall::ScrollUp { to_top }),
        any::<bool>().prop_map(|to_bottom| ToolCall::ScrollDown { to_bottom }),
        place.prop_map(ToolCall::Click),
        input,
        finish,
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let class = prop_oneof![Just(Class::Read), Just(Class::SoftWrite), Just(Class::Irreversible)];
    let verdict = prop_oneof![
        Just(Verdict::Passed),
        Just(Verdict::Allowed),
        any::<u32>().prop_map(|id| Verdict::Held { id: HoldId(id) }),
        any::<u32>().prop_map(|id| Verdict::Approved { id: HoldId(id) }),
    ];
    let status = prop_oneof![
        Just(Status::Complete),
        Just(Status::Partial),
        Just(Status::Blocked),
        Just(Status::Failed),
    ];
    prop_oneof![
        (any::<u32>(), ".*", prop::option::of(".*")).prop_map(|(run, task, url)| {
            Event::Began { run: RunId(run), task, model: "m".into(), url, expect: Some(3) }
        }),
        (any::<u32>(), ".*", prop::option::of(".*")).prop_map(|(step, url, page)| {
            let told = Told { nonce: "1".into(), page, ..Told::default() };
            Event::Asked { step, url, told }
        }),
        (any::<u32>(), ".*", prop::option::of(call()), any::<u64>(), any::<u64>()).prop_map(
            |(step, raw, call, input, output)| {
                let usage = Usage { input, output, cached: input / 2, written: 3 };
                let note = call.is_none().then(|| "no call".to_owned());
                Event::Answered { step, raw, call, note, usage }
            }
        ),
        (any::<u32>(), ".*", any::<u64>()).prop_map(|(step, why, input)| {
            Event::Unanswered { step, why, usage: Usage { input, ..Usage::default() } }
        }),
        any::<u16>().prop_map(|before| Event::Folded { before: before.into() }),
        (any::<u32>(), ".*", any::<u32>()).prop_map(|(step, what, hold)| {
            let (why, url) = (what.clone(), "u".into());
            Event::Waiting { step, need: Need::Approval { hold: HoldId(hold), what, why, url } }
        }),
        (any::<u32>(), ".*").prop_map(|(step, how)| Event::Met { step, how }),
        (any::<u32>(), ".*").prop_map(|(step, text)| Event::Notified { step, text }),
        (any::<u32>(), ".*").prop_map(|(step, claim)| {
            let source = Source { url: "u".into(), title: claim.clone(), at: at(9) };
            let (entity, attribute, value) = ("e".into(), "a".into(), "v".into());
            let (unit, sources) = (None, vec![source]);
            Event::Recorded { step, fact: Fact { claim, entity, attribute, value, unit, sources } }
        }),
        (any::<u32>(), call()).prop_map(|(step, call)| intended(step, call)),
        (any::<u32>(), ".*", class, verdict).prop_map(|(step, what, class, verdict)| {
            let judgement = Judgement { class, why: what.clone() };
            Event::Judged { step, what, url: String::new(), judgement, verdict }
        }),
        (any::<u32>(), ".*", prop::collection::vec(".*", 0..3)).prop_map(
            |(step, outcome, delta)| Event::Came {
                step,
                outcome,
                delta,
                url: "u".into(),
                picture: None,
                spent: Spent { model_us: step.into(), page_us: 2, page_calls_us: 1 },
            }
        ),
        (any::<u32>(), ".*")
            .prop_map(|(step, what)| { Event::Restarted { step, what, why: "killed".into() } }),
        any::<u32>().prop_map(|step| Event::Resumed { step }),
        (status, ".*", prop::option::of(".*")).prop_map(|(status, why, answer)| Event::Ended {
            status,
            why,
            answer
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn entries_come_back_as_they_were_written(what in event(), second in 0_i64..1_000_000_000) {
        let entry = Entry { v: VERSION, at: at(second), what };
        let json = serde_json::to_string(&entry).unwrap();
        prop_assert_eq!(Entry::parse(&json), Ok(entry));
    }
}
