use strawmanus::domain::action::Action;
use strawmanus::domain::guard::ticket::Bond;
use strawmanus::domain::guard::{Case, Class};
use strawmanus::domain::ids::{HoldId, RunId, TabId};
use strawmanus::domain::outcome::OutcomeKind;
use strawmanus::domain::run::Consent;
use strawmanus::messages::guard::{Decision, GuardError, GuardMsg, Hold, Question, Ruling};
use strawmanus::messages::session::Owner;
use strawmanus::messages::supervisor::Seat;
use strawmanus::messages::tab::{Order, TabError, TabMsg};
use strawmanus::ports::store::Table;

use crate::support::house::{
    GUARD, House, MINUTE, SECOND, act, answer_dialog, click, describe, evaluate,
    name as name_of_session, named, navigate, quiet,
};
use crate::support::memory::Memory;
use crate::support::web::{At, Fault, Web};

const HERE: &str = "http://shop.test/";

async fn judge(house: &House, name: &str, consent: Consent) -> Result<Ruling, GuardError> {
    judge_at(house, (name, HERE), consent).await
}

async fn judge_at(
    house: &House,
    (name, url): (&str, &str),
    consent: Consent,
) -> Result<Ruling, GuardError> {
    let case = Case {
        deed: "click".into(),
        url: url.into(),
        tag: "button".into(),
        role: "button".into(),
        name: name.into(),
        ..Case::default()
    };
    let bond = Bond {
        session: name_of_session(),
        tab: TabId(1),
        what: format!("click '{name}'"),
        action: Some(click(name)),
        case,
        place: String::new(),
        digest: String::new(),
    };
    let (payload, run, ticket) = (String::new(), Some(RunId(7)), None);
    let question = Box::new(Question { bond, payload, consent, run, ticket });
    let judge = |reply| GuardMsg::Judge { question, reply };
    house.world.doors.guard.find(&()).unwrap().ask(judge, MINUTE).await.unwrap()
}

async fn holds(house: &House) -> Vec<Hold> {
    let list = |reply| GuardMsg::ListHolds { reply };
    house.world.doors.guard.find(&()).unwrap().ask(list, MINUTE).await.unwrap().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_hold_is_stored_before_it_is_answered_and_numbers_go_on() {
    let house = House::build(&Web::default()).await;
    let decision = |ruling: Result<Ruling, GuardError>| ruling.unwrap().decision;
    let send = || judge(&house, "Send", Consent::default());
    assert_eq!(decision(send().await), Decision::Hold(HoldId(1)));
    assert_eq!(house.memory.rows(Table::Holds), 1);
    house.cell(GUARD).kill();
    quiet().await;
    assert_eq!(decision(send().await), Decision::Hold(HoldId(2)));
    let [first, second] = &holds(&house).await[..] else { panic!("two are held") };
    assert_eq!((first.id, second.id), (HoldId(1), HoldId(2)));
    assert_eq!((first.what.as_str(), first.url.as_str()), ("click 'Send'", HERE));
    assert_eq!(
        (first.why.as_str(), first.run),
        ("click target text contains 'send'", Some(RunId(7)))
    );
    assert_eq!(house.card(&Seat::Guard).doing, "1 judged, 1 held", "this incarnation");

    drop(house.root.stop_and_wait(None, None).await);
    let next = House::over(&Web::default(), house.memory.clone()).await;
    let ruling = judge(&next, "Send", Consent::default()).await;
    assert_eq!(decision(ruling), Decision::Hold(HoldId(3)), "nor does a new house begin anew");
}

#[tokio::test(start_paused = true)]
async fn what_is_harmless_or_allowed_passes() {
    let house = House::build(&Web::default()).await;
    let on = |hosts: &[&str]| Consent {
        auto_approve: true,
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
    };
    let ruling = judge(&house, "Add to cart", Consent::default()).await.unwrap();
    assert_eq!((ruling.decision, ruling.judgement.class), (Decision::Pass, Class::SoftWrite));
    let ruling = judge(&house, "Send", on(&["shop.test"])).await.unwrap();
    assert_eq!((ruling.decision, ruling.judgement.class), (Decision::Allow, Class::Irreversible));
    for hosts in [&["other.test"][..], &[]] {
        let ruling = judge(&house, "Send", on(hosts)).await.unwrap();
        assert!(matches!(ruling.decision, Decision::Hold(_)), "{hosts:?}");
    }
    assert_eq!(house.memory.rows(Table::Holds), 2, "only what is held is stored");
}

#[tokio::test(start_paused = true)]
async fn a_hold_that_cannot_be_stored_is_no_ruling() {
    let memory = Memory::default().without(Table::Holds);
    let house = House::over(&Web::default(), memory).await;
    let error = judge(&house, "Send", Consent::default()).await.unwrap_err();
    assert!(error.to_string().starts_with("the holds cannot be reached: the disk"), "{error}");
    let id = house.new_tab(HERE).await;
    let refused = act(&house.tab(id), click("Send")).await.unwrap().unwrap_err();
    assert_eq!(refused.kind(), OutcomeKind::Refused);
    assert!(!house.web.log().iter().any(|line| line.starts_with("POST")));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_posted_for_what_is_held() {
    let house = House::build(&Web::default()).await;
    let id = house.try_new_tab(HERE, Owner::Run(RunId(7))).await.unwrap();
    let tab = house.tab(id);
    act(&tab, click("Add to cart")).await.unwrap().unwrap();
    let error = act(&tab, click("Send")).await.unwrap().unwrap_err();
    let TabError::Held { id, what, url, judgement } = error else { panic!("{error:?}") };
    assert_eq!((id, what.as_str(), url.as_str()), (HoldId(1), "click button \"Send\"", HERE));
    assert_eq!(judgement.class, Class::Irreversible);
    assert_eq!(holds(&house).await[0].run, Some(RunId(7)));
    // The last control but four, by where it stands.
    let at = Action::ClickAt { x: 50.0, y: 170.0 };
    assert_eq!(act(&tab, at).await.unwrap().unwrap_err().kind(), OutcomeKind::Held);
    assert_eq!(house.web.log(), ["open T1 http://shop.test/", "POST Add to cart"]);

    let consent = Consent { auto_approve: true, hosts: vec!["shop.test".into()] };
    let order = Box::new(Order::new(click("Send"), consent));
    let send = |reply| TabMsg::Act { order, patience: 10 * SECOND, reply };
    assert!(tab.ask(send, MINUTE).await.unwrap().unwrap().allowed);
    assert_eq!(house.web.log(), ["POST Send"]);
}

#[tokio::test(start_paused = true)]
async fn a_field_that_enter_would_send_is_held_before_it_is_typed_into() {
    let house = House::build(&Web::default().with(At::Call("probe"), 1..=99, Fault::Compose)).await;
    let tab = house.tab(house.new_tab(HERE).await);
    let (target, text) = (named("textbox", "To"), "Ann".to_owned());
    let error = act(&tab, Action::Fill { target, text, press_enter: true }).await;
    assert_eq!(error.unwrap().unwrap_err().kind(), OutcomeKind::Held);
    assert_eq!(house.web.log(), ["open T1 http://shop.test/"]);
}

#[tokio::test(start_paused = true)]
async fn without_a_ruling_nothing_is_done() {
    // Dead for good, silent, and dying of it.
    for trouble in ["stopped", "silent", "killed"] {
        let memory = Memory::default();
        let memory = if trouble == "stopped" { memory } else { memory.silent(Table::Holds) };
        let house = House::over(&Web::default(), memory).await;
        let tab = house.tab(house.new_tab(HERE).await);
        describe(&tab).await;
        if trouble == "stopped" {
            house.cell(GUARD).stop_and_wait(None, None).await.unwrap();
            quiet().await;
        }
        let (asking, began) = (tab.clone(), tokio::time::Instant::now());
        let asked = tokio::spawn(async move { act(&asking, click("Send")).await });
        if trouble == "killed" {
            tokio::time::sleep(SECOND).await;
            house.cell(GUARD).kill();
        }
        let error = asked.await.unwrap().unwrap().unwrap_err();
        assert_eq!(error.kind(), OutcomeKind::Refused, "{trouble}: {error}");
        assert!(error.to_string().ends_with("nothing was done"), "{trouble}: {error}");
        assert!(began.elapsed() <= 11 * SECOND, "{trouble}");
        assert_eq!(house.web.log(), ["open T1 http://shop.test/"], "{trouble}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_control_that_changes_between_the_ruling_and_the_press_is_not_pressed() {
    let at = Action::ClickAt { x: 50.0, y: 130.0 };
    let enter = || "Enter".parse().unwrap();
    let fill = Action::Fill { target: named("textbox", "To"), text: "A".into(), press_enter: true };
    for (action, look, nth) in [
        (click("Add to cart"), "probe", 3),
        (at, "probe_point", 2),
        (Action::Press { chord: enter() }, "probe_focus", 2),
        (fill, "probe", 3),
    ] {
        for fault in [Fault::Rename, Fault::Reword] {
            let web = Web::default().with(At::Call("probe_focus"), 1..=1, Fault::Focus);
            let web = web.with(At::Call(look), nth..=nth, fault);
            let house = House::build(&web).await;
            let tab = house.tab(house.new_tab(HERE).await);
            let answer = act(&tab, action.clone()).await.unwrap();
            let kind = answer.as_ref().map_err(TabError::kind).map(|_| ());
            assert_eq!(kind, Err(OutcomeKind::Unstable), "{action:?} {fault:?}: {answer:?}");
            assert_eq!(web.log(), ["open T1 http://shop.test/"], "{action:?} {fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_users_rules_are_read_anew_for_every_act() {
    let house = House::build(&Web::default()).await;
    let tab = house.tab(house.new_tab(HERE).await);
    let press = || act(&tab, click("Add to cart"));
    press().await.unwrap().unwrap();
    house.memory.rule("confirm = ['click@shop.test']");
    assert_eq!(press().await.unwrap().unwrap_err().kind(), OutcomeKind::Held);
    for (rules, why) in [
        ("deny = ['soft_write']", "policy.toml denies `soft_write`; nothing was done"),
        ("default = 'deny'", "policy.toml denies all that it does not allow; nothing was done"),
        ("deny = [\n3]", "policy.toml, line 2: invalid type"),
    ] {
        house.memory.rule(rules);
        let error = press().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), OutcomeKind::Refused);
        assert!(error.to_string().starts_with(why), "{error}");
        assert!(error.hint().contains("policy.toml"), "{error:?}");
    }
    // What only reads goes on, also under rules that cannot be used.
    act(&tab, Action::Press { chord: "Tab".parse().unwrap() }).await.unwrap().unwrap();
    navigate(&tab, "http://shop.test/more").await.unwrap().unwrap();
    house.memory.rule("deny = ['navigate@*.test']");
    let error = navigate(&tab, HERE).await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "policy.toml denies `navigate@*.test`; nothing was done");
    house.memory.rule("");
    press().await.unwrap().unwrap();
    let log = house.web.log();
    assert_eq!(log.iter().filter(|line| line.starts_with("POST")).count(), 2, "{log:?}");
    assert_eq!(log.iter().filter(|line| line.starts_with("navigate")).count(), 1, "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_denied_act_is_not_done_with_an_approval_either() {
    let house = House::build(&Web::default()).await;
    let tab = house.tab(house.new_tab(HERE).await);
    act(&tab, click("Send")).await.unwrap().unwrap_err();
    let decide = |reply| GuardMsg::Decide { id: HoldId(1), approve: true, reply };
    house.world.doors.guard.find(&()).unwrap().ask(decide, MINUTE).await.unwrap().unwrap();
    house.memory.rule("deny = ['irreversible']");
    let (action, consent) = (click("Send"), Consent::default());
    let order = Box::new(Order { action, consent, ticket: Some(HoldId(1)) });
    let send = |reply| TabMsg::Act { order, patience: 10 * SECOND, reply };
    let error = tab.ask(send, MINUTE).await.unwrap().unwrap_err();
    assert!(error.to_string().starts_with("policy.toml denies"), "{error}");
    assert_eq!(house.web.log(), ["open T1 http://shop.test/"]);
}

#[tokio::test(start_paused = true)]
async fn money_is_held_whatever_was_allowed_beforehand() {
    let house = House::build(&Web::default()).await;
    let ask = async |name: &str, url: &str| {
        let consent =
            Consent { auto_approve: true, hosts: vec!["shop.example".into(), "shop.test".into()] };
        judge_at(&house, (name, url), consent).await.unwrap()
    };
    let real = "https://shop.example/";
    assert_eq!(ask("Send", real).await.decision, Decision::Allow);
    let held = ask("Pay now", real).await;
    assert!(matches!(held.decision, Decision::Hold(_)), "{held:?}");
    assert!(held.judgement.why.ends_with("which --auto-approve does not cover"), "{held:?}");
    assert_eq!(ask("Pay now", HERE).await.decision, Decision::Allow);
}

#[tokio::test(start_paused = true)]
async fn scripts_and_questions_are_judged_by_their_words() {
    let house = House::build(&Web::default()).await;
    let tab = house.tab(house.new_tab(HERE).await);
    evaluate(&tab, "document.title").await.unwrap().unwrap();
    let sends = "document.forms[0].submit()";
    assert_eq!(evaluate(&tab, sends).await.unwrap().unwrap_err().kind(), OutcomeKind::Held);
    let run = |script: &str| act(&tab, Action::Evaluate { script: script.into() });
    let read = run("document.title").await.unwrap().unwrap();
    assert_eq!(read.value.as_deref(), Some("\"document.title\""));
    assert_eq!(run(sends).await.unwrap().unwrap_err().kind(), OutcomeKind::Held);
    // The question of this page is harmless.
    act(&tab, click("Ask")).await.unwrap().unwrap();
    answer_dialog(&tab, true).await.unwrap().unwrap();
    let log = house.web.log();
    assert_eq!(log, ["open T1 http://shop.test/", "dialog accepted"]);
    for (accept, held) in [(true, true), (false, false)] {
        house.web.confirm(HERE, "Delete everything?");
        quiet().await;
        let answer = answer_dialog(&tab, accept).await.unwrap();
        let kind = answer.map_err(|error| error.kind()).map(|_| ());
        assert_eq!(kind, if held { Err(OutcomeKind::Held) } else { Ok(()) });
        if held {
            answer_dialog(&tab, false).await.unwrap().unwrap();
        }
    }
    assert_eq!(house.web.log(), ["dialog dismissed", "dialog dismissed"]);
}

#[tokio::test(start_paused = true)]
async fn pointing_at_something_is_no_press_and_is_not_asked_for() {
    let house = House::build(&Web::default()).await;
    let tab = house.tab(house.new_tab(HERE).await);
    let done = act(&tab, Action::Hover { target: named("button", "Send") }).await.unwrap().unwrap();
    assert_eq!((done.judgement.class, done.outcome.kind), (Class::Read, OutcomeKind::NoEffect));
    act(&tab, Action::HoverAt { x: 50.0, y: 170.0 }).await.unwrap().unwrap();
    assert_eq!(house.web.log(), ["open T1 http://shop.test/", "hover 50, 170", "hover 50, 170"]);
    assert!(holds(&house).await.is_empty());
}
