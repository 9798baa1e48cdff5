//! The daemon's end of the socket, by what a caller sees.
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use serde_json::json;
use strawmanus::config::span::Span;
use strawmanus::control::answers::Memory;
use strawmanus::control::protocol::{Ask, Line};
use strawmanus::control::server::Limits;
use strawmanus::control::verbs::Verb;

use crate::fake::{Daemon, Raw, build, eval, home, limits, request};

#[tokio::test]
async fn an_answer_comes_after_its_steps() {
    let (_root, home) = home();
    let _daemon = Daemon::start(&home, "1.0.0", limits()).await;
    let mut raw = Raw::connect(&home.socket()).await;
    raw.request(&eval("steps")).await;
    for n in 1..=3 {
        let step = Line::Progress { text: format!("step {n}"), json: json!({ "n": n }) };
        assert_eq!(raw.line().await, Some(step));
    }
    assert_eq!(raw.answer().await.text, "steps");
    raw.request(&eval("again")).await;
    assert_eq!(raw.answer().await.text, "again", "the connection serves more than one");
}

#[tokio::test]
async fn the_socket_is_private() {
    let (_root, home) = home();
    let _daemon = Daemon::start(&home, "1.0.0", limits()).await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.socket()), 0o600);
    assert_eq!(mode(home.folder()), 0o700);
}

#[tokio::test]
async fn a_line_that_cannot_be_used_is_refused_and_the_daemon_lives() {
    let (_root, home) = home();
    let daemon = Daemon::start(&home, "1.0.0", limits()).await;
    let foreign = json!({ "request": { "v": 99, "id": "x", "whatever": [1, 2] } });
    let no_verb = json!({ "request": { "v": 1, "id": "x", "verb": { "dance": {} } } });
    let mut stranger = eval("x");
    stranger.build = build("9.9.9");
    let lines = [
        ("bad JSON", "{\"request\": nonsense}\n".to_owned()),
        ("no ask", "{\"hello\":1}\n".to_owned()),
        ("too long", format!("{}\n", "x".repeat(5000))),
        ("foreign protocol", format!("{foreign}\n")),
        ("unknown verb", format!("{no_verb}\n")),
        ("foreign build", format!("{}\n", json!({ "request": stranger }))),
    ];
    let mut refusals = Vec::new();
    for (name, line) in lines {
        let mut raw = Raw::connect(&home.socket()).await;
        raw.write(&line).await;
        refusals.push(format!("{name}: {}", raw.refusal().await));
    }
    insta::assert_snapshot!(refusals.join("\n"));
    assert!(daemon.handler.done().is_empty(), "nothing was carried out");

    let mut cut_off = Raw::connect(&home.socket()).await;
    let line = json!({ "request": eval("half") }).to_string();
    cut_off.write(&line).await;
    drop(cut_off);
    let mut raw = Raw::connect(&home.socket()).await;
    raw.request(&eval("alive")).await;
    assert_eq!(raw.answer().await.text, "alive");
    assert_eq!(daemon.handler.done(), ["eval"], "half a line is not acted on");
}

#[tokio::test]
async fn a_verb_of_the_caller_is_not_for_the_daemon() {
    let (_root, home) = home();
    let daemon = Daemon::start(&home, "1.0.0", limits()).await;
    let mut raw = Raw::connect(&home.socket()).await;
    raw.request(&request(Verb::Daemon {})).await;
    assert_eq!(raw.answer().await.exit, 2);
    assert!(daemon.handler.done().is_empty());
}

#[tokio::test]
async fn work_past_its_deadline_is_dropped_and_said() {
    let (_root, home) = home();
    let _daemon = Daemon::start(&home, "1.0.0", limits()).await;
    let mut late = eval("hang");
    late.deadline = Some(Span(Duration::from_millis(30)));
    let mut raw = Raw::connect(&home.socket()).await;
    raw.request(&late).await;
    let answer = raw.answer().await;
    insta::assert_snapshot!(answer.envelope(), @r#"{"v":1,"ok":false,"outcome":"timed_out","error":{"kind":"timed_out","message":"`eval` took longer than its deadline","hint":"look at the page before you repeat it, or give it more with --timeout"}}"#);
    assert_eq!(answer.exit, 1);
}

#[tokio::test]
async fn a_panic_is_an_answer_and_no_end() {
    let (_root, home) = home();
    let _daemon = Daemon::start(&home, "1.0.0", limits()).await;
    let mut raw = Raw::connect(&home.socket()).await;
    raw.request(&eval("panic")).await;
    let answer = raw.answer().await;
    assert_eq!((answer.exit, answer.error.unwrap().kind.as_str()), (4, "internal"));
    raw.request(&eval("alive")).await;
    assert_eq!(raw.answer().await.text, "alive");
}

#[tokio::test]
async fn what_became_of_a_request_can_be_asked() {
    let (_root, home) = home();
    let daemon = Daemon::start(&home, "1.0.0", limits()).await;
    let gated = eval("gate");
    let mut lost = Raw::connect(&home.socket()).await;
    lost.request(&gated).await;
    while daemon.handler.done().is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    drop(lost);

    let mut raw = Raw::connect(&home.socket()).await;
    raw.ask(&Ask::Became(gated.id.clone())).await;
    daemon.handler.gate.add_permits(1);
    assert_eq!(raw.answer().await.text, "gate", "it went on, and the answer is waited for");
    raw.ask(&Ask::Became(gated.id.clone())).await;
    assert_eq!(raw.answer().await.text, "gate", "and kept");
    raw.request(&gated).await;
    assert_eq!(raw.answer().await.text, "gate");
    assert_eq!(daemon.handler.done(), ["eval"], "no id is carried out twice");
    raw.ask(&Ask::Became("never".to_owned())).await;
    assert_eq!(raw.line().await, Some(Line::Unknown("never".to_owned())));
}

#[tokio::test]
async fn only_the_newest_answers_are_kept() {
    let (_root, home) = home();
    let memory = Memory { count: 2, bytes: 1 << 20 };
    let _daemon = Daemon::start(&home, "1.0.0", Limits { memory, ..limits() }).await;
    let mut raw = Raw::connect(&home.socket()).await;
    let requests = [eval("1"), eval("2"), eval("3")];
    for request in &requests {
        raw.request(request).await;
        raw.answer().await;
    }
    // The last answer is read before it is booked.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut known = Vec::new();
    for request in &requests {
        raw.ask(&Ask::Became(request.id.clone())).await;
        known.push(matches!(raw.line().await, Some(Line::Answer(_))));
    }
    assert_eq!(known, [false, true, true]);
}

#[tokio::test]
async fn a_run_hears_that_its_caller_has_gone() {
    let (_root, home) = home();
    let daemon = Daemon::start(&home, "1.0.0", limits()).await;
    let mut run = request(Verb::Run { task: "wait".to_owned(), url: None });
    run.deadline = None;
    let mut raw = Raw::connect(&home.socket()).await;
    raw.request(&run).await;
    drop(raw);
    let stopped = daemon.handler.run_stopped.acquire();
    tokio::time::timeout(Duration::from_secs(5), stopped)
        .await
        .expect("it is told")
        .unwrap()
        .forget();
}

#[tokio::test]
async fn an_idle_daemon_ends_and_a_busy_one_does_not() {
    let (_root, home) = home();
    let idle = Duration::from_millis(60);
    let daemon = Daemon::start(&home, "1.0.0", Limits { idle, ..limits() }).await;
    daemon.handler.set_busy(Some("run r7"));
    tokio::time::sleep(idle * 4).await;
    let mut raw = Raw::connect(&home.socket()).await;
    raw.ask(&Ask::Shutdown(true)).await;
    assert_eq!(raw.refusal().await, json!({ "kind": "busy", "message": "run r7 is under way" }));
    daemon.handler.set_busy(None);
    let handler = daemon.handler.clone();
    daemon.ended().await;
    assert!(handler.was_shut_down.load(SeqCst));
    assert!(!home.socket().exists());
}

#[tokio::test]
async fn close_all_is_answered_before_the_daemon_ends() {
    let (_root, home) = home();
    let daemon = Daemon::start(&home, "1.0.0", limits()).await;
    let mut raw = Raw::connect(&home.socket()).await;
    raw.request(&request(Verb::Close { all: false })).await;
    raw.answer().await;
    raw.request(&request(Verb::Close { all: true })).await;
    assert_eq!(raw.answer().await.exit, 0);
    daemon.ended().await;
}
