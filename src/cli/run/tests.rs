use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::run::face::{Deed, Face, Heard, Tail};
use crate::control::answer::{Answer, Failure};
use crate::control::verbs::Verb;
use crate::domain::ids::{HoldId, RunId};

const NOW: Duration = Duration::from_secs(5);

fn entry(event: Value) -> Value {
    let mut entry = json!({ "v": 1, "at": "2026-11-30T12:00:00Z" });
    entry.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
    entry
}

fn began(attended: bool) -> Face {
    let mut face = Face::new(attended);
    let json = entry(json!({ "event": "began", "run": 7, "task": "t", "model": "m", "url": null }));
    assert_eq!(face.update(Heard::Step("run r7", &json), NOW).len(), 1);
    face
}

fn waiting(need: Value) -> Value {
    let mut json = entry(json!({ "event": "waiting", "step": 2, "need": need }));
    json["payload"] = json!("to: ana@example.com\ntext: hello");
    json
}

fn approval() -> Value {
    waiting(json!({ "need": "approval", "hold": 3, "what": "click 'Send'\x1b[2J",
        "why": "the button says `Send`", "url": "http://mail.localhost/" }))
}

/// What a person reads, and is asked.
fn asked(need: &Value) -> String {
    let mut face = began(true);
    let deeds = face.update(Heard::Step("", need), NOW);
    let [Deed::Say(block), Deed::Listen] = &deeds[..] else { panic!("{deeds:?}") };
    let Tail::Prompt(prompt) = face.tail() else { panic!("{:?}", face.tail()) };
    format!("{block}\n{prompt}")
}

fn replies(need: &Value, heard: Heard<'_>) -> Vec<Deed> {
    let mut face = began(true);
    face.update(Heard::Step("", need), NOW);
    let deeds = face.update(heard, NOW);
    assert!(!matches!(face.tail(), Tail::Prompt(_)), "it is answered");
    deeds
}

fn reply(text: &str) -> Vec<Deed> {
    vec![Deed::Send(Verb::Reply { id: RunId(7), text: text.into() })]
}

#[test]
fn questions_read_well() {
    let question = json!({ "need": "answer", "question": "Which colour?\nRed or blue?" });
    let takeover = json!({ "need": "takeover", "reason": "a captcha", "suggestion": "Solve it" });
    let all = [approval(), waiting(question), waiting(takeover)];
    insta::assert_snapshot!(all.each_ref().map(asked).join("\n\n"));
}

#[test]
fn only_a_yes_approves() {
    let approve = vec![Deed::Send(Verb::Approve { id: Some(HoldId(3)) })];
    for yes in ["y\n", "Y", " yes \n", "YES"] {
        assert_eq!(replies(&approval(), Heard::Typed(yes.into())), approve, "{yes:?}");
    }
    let deny = vec![Deed::Send(Verb::Deny { id: HoldId(3) })];
    for no in ["", "\n", "n", "no", "yy", "yes please", "ye", "j", "approve"] {
        assert_eq!(replies(&approval(), Heard::Typed(no.into())), deny, "{no:?}");
    }
    assert_eq!(replies(&approval(), Heard::EndOfInput), deny);
}

#[test]
fn an_answer_is_passed_on_and_a_takeover_ended() {
    let question = waiting(json!({ "need": "answer", "question": "Which?" }));
    assert_eq!(replies(&question, Heard::Typed("the blue one\n".into())), reply("the blue one"));
    let takeover = waiting(json!({ "need": "takeover", "reason": "log in", "suggestion": null }));
    assert_eq!(replies(&takeover, Heard::Typed("whatever\n".into())), reply(""));
}

#[test]
fn what_is_typed_unasked_or_too_late_is_no_answer() {
    let mut face = began(true);
    assert_eq!(face.update(Heard::Typed("y".into()), NOW), []);
    face.update(Heard::Step("", &approval()), NOW);
    let met = entry(json!({ "event": "met", "step": 2, "how": "h3 was denied" }));
    face.update(Heard::Step("     … h3 was denied", &met), NOW);
    assert_eq!(face.tail(), Tail::Nothing, "somebody else decided");
    assert_eq!(face.update(Heard::Typed("y".into()), NOW), []);
}

#[test]
fn steps_that_come_while_a_question_is_open_leave_it_open() {
    let mut face = began(true);
    face.update(Heard::Step("", &approval()), NOW);
    let deeds = face.update(Heard::Step("     ↻ tab was started again", &json!({})), NOW);
    assert!(matches!(&deeds[..], [Deed::Step(_)]), "{deeds:?}");
    assert!(matches!(face.tail(), Tail::Prompt(_)));
}

#[test]
fn nobody_is_asked_where_nobody_sits() {
    let mut face = began(false);
    let deeds = face.update(Heard::Step("     … waits", &approval()), NOW);
    assert!(matches!(&deeds[..], [Deed::Step(line)] if line.what.contains("waits")), "{deeds:?}");
    assert_eq!(face.tail(), Tail::Nothing);
}

#[test]
fn the_first_interrupt_stops_and_the_second_leaves() {
    let mut face = began(true);
    let deeds = face.update(Heard::Interrupt, NOW);
    let [Deed::Say(said), Deed::Send(Verb::Stop { id: RunId(7) })] = &deeds[..] else {
        panic!("{deeds:?}")
    };
    assert!(said.contains("stopping r7") && said.contains("Ctrl-C again"), "{said}");
    assert_eq!(face.update(Heard::Step("", &approval()), NOW).len(), 1, "nothing is asked now");
    let deeds = face.update(Heard::Interrupt, NOW);
    let [Deed::Leave(answer)] = &deeds[..] else { panic!("{deeds:?}") };
    assert_eq!(answer.exit, 130);
    assert!(answer.error.as_ref().unwrap().message.contains("r7"));
}

#[test]
fn an_interrupt_at_a_question_is_a_no() {
    let mut face = began(true);
    face.update(Heard::Step("", &approval()), NOW);
    let deeds = face.update(Heard::Interrupt, NOW);
    assert_eq!(deeds[0], Deed::Send(Verb::Deny { id: HoldId(3) }));
    assert_eq!(deeds[2], Deed::Send(Verb::Stop { id: RunId(7) }));
    assert_eq!(face.update(Heard::Typed("y".into()), NOW), []);
}

#[test]
fn an_interrupt_before_the_run_began_leaves() {
    let deeds = Face::new(true).update(Heard::Interrupt, NOW);
    assert!(matches!(&deeds[..], [Deed::Leave(answer)] if answer.exit == 130), "{deeds:?}");
}

#[test]
fn who_waits_long_for_a_stop_is_told_once_what_to_do() {
    let mut face = began(true);
    assert_eq!(face.update(Heard::Tick, NOW * 100), []);
    face.update(Heard::Interrupt, NOW);
    assert_eq!(face.update(Heard::Tick, NOW + Duration::from_secs(9)), []);
    let deeds = face.update(Heard::Tick, NOW + Duration::from_secs(10));
    assert!(matches!(&deeds[..], [Deed::Say(said)] if said.contains("attach")), "{deeds:?}");
    assert_eq!(face.update(Heard::Tick, NOW * 100), []);
}

#[test]
fn a_decision_that_did_not_count_is_said() {
    let failure = Failure::new("refused", "h3 is expired").hint("ask again");
    let deeds = began(true).update(Heard::Told(Box::new(Answer::failed(1, failure))), NOW);
    assert_eq!(deeds, [Deed::Say("✗ h3 is expired; ask again".into())]);
    assert_eq!(began(true).update(Heard::Told(Box::default()), NOW), []);
}
