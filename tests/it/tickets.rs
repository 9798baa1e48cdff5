//! A person's approvals: once, for a while, for that very act.
use std::time::Duration;

use strawmanus::domain::action::Action;
use strawmanus::domain::guard::ticket::{Difference, Unfit};
use strawmanus::domain::ids::{HoldId, TabId};
use strawmanus::domain::outcome::OutcomeKind;
use strawmanus::domain::run::Consent;
use strawmanus::messages::address::Address;
use strawmanus::messages::guard::{GuardError, GuardMsg, Hold, HoldState};
use strawmanus::messages::session::SessionMsg;
use strawmanus::messages::tab::{Acted, Order, TabError, TabMsg};
use strawmanus::ports::store::Table;

use crate::support::house::{GUARD, House, MINUTE, SECOND, act, click, named, quiet};
use crate::support::memory::Memory;
use crate::support::web::{At, Fault, Web};

const HERE: &str = "http://shop.test/";
const OPENED: &str = "open T1 http://shop.test/";
const ID: HoldId = HoldId(1);

async fn decide(house: &House, approve: bool) -> Result<Hold, GuardError> {
    let decide = |reply| GuardMsg::Decide { id: ID, approve, reply };
    house.world.doors.guard.find(&()).unwrap().ask(decide, MINUTE).await.unwrap()
}

async fn found(house: &House, id: HoldId) -> Result<Hold, GuardError> {
    let find = |reply| GuardMsg::Find { id, reply };
    house.world.doors.guard.find(&()).unwrap().ask(find, MINUTE).await.unwrap()
}

/// Does an act with the approval of the first hold.
async fn redeem(tab: &Address<TabMsg>, action: Action) -> Result<Acted, TabError> {
    let order = Box::new(Order { action, consent: Consent::default(), ticket: Some(ID) });
    let act = |reply| TabMsg::Act { order, patience: 10 * SECOND, reply };
    tab.ask(act, MINUTE).await.unwrap()
}

/// A house whose first tab has one act held.
async fn held(web: &Web, action: Action) -> (House, Address<TabMsg>) {
    let house = House::build(web).await;
    let tab = house.tab(house.new_tab(HERE).await);
    let error = act(&tab, action).await.unwrap().unwrap_err();
    assert!(matches!(error, TabError::Held { id: ID, .. }), "{error:?}");
    (house, tab)
}

fn unfit(answer: Result<Acted, TabError>) -> Unfit {
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), OutcomeKind::Refused);
    let TabError::Unapproved(GuardError::Unfit(unfit)) = error else { panic!("{error:?}") };
    unfit
}

#[tokio::test(start_paused = true)]
async fn an_approved_act_is_done_once() {
    let (house, tab) = held(&Web::default(), click("Send")).await;
    let hold = found(&house, ID).await.unwrap();
    assert_eq!((hold.state, hold.bond.tab), (HoldState::Waiting, TabId(1)));
    assert_eq!(hold.bond.action, Some(click("Send")));
    assert_eq!(unfit(redeem(&tab, click("Send")).await), Unfit::Undecided(ID));
    assert!(matches!(decide(&house, true).await.unwrap().state, HoldState::Approved { .. }));
    let done = redeem(&tab, click("Send")).await.unwrap();
    assert_eq!((done.approved, done.allowed), (Some(ID), false));
    assert_eq!(house.web.log(), [OPENED, "POST Send"]);
    assert_eq!(unfit(redeem(&tab, click("Send")).await), Unfit::Used(ID));
    assert_eq!(decide(&house, true).await, Err(GuardError::Unfit(Unfit::Used(ID))));
    assert_eq!(found(&house, HoldId(2)).await, Err(GuardError::Unfit(Unfit::Unknown(HoldId(2)))));
    assert!(house.web.log().is_empty());
    assert_eq!(house.memory.rows(Table::Holds), 1, "a refused ticket holds nothing anew");
}

#[tokio::test(start_paused = true)]
async fn a_harmless_act_uses_no_approval_up() {
    let (house, tab) = held(&Web::default(), click("Send")).await;
    decide(&house, true).await.unwrap();
    assert_eq!(redeem(&tab, click("Add to cart")).await.unwrap().approved, None);
    assert_eq!(redeem(&tab, click("Send")).await.unwrap().approved, Some(ID));
}

#[tokio::test(start_paused = true)]
async fn what_changed_since_the_hold_is_refused_and_named() {
    let at = Action::ClickAt { x: 50.0, y: 170.0 };
    for (fault, difference) in [
        (Fault::Reword, Difference::Label),
        (Fault::Move, Difference::Place),
        (Fault::Retype, Difference::Values),
    ] {
        // The looks at it: twice before the hold, twice before the ruling on its approval.
        for (action, look, nth) in [(click("Send"), "probe", 3), (at.clone(), "probe_point", 2)] {
            let web = Web::default().with(At::Call(look), nth..=nth, fault);
            let (house, tab) = held(&web, action.clone()).await;
            decide(&house, true).await.unwrap();
            let refused = unfit(redeem(&tab, action.clone()).await);
            assert_eq!(refused, Unfit::Differs { id: ID, difference }, "{fault:?} {action:?}");
            assert_eq!(web.log(), [OPENED], "{fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_changes_after_the_ruling_is_refused_too() {
    for (fault, kind) in [
        (Fault::Reword, OutcomeKind::Unstable),
        (Fault::Move, OutcomeKind::Refused),
        (Fault::Retype, OutcomeKind::Refused),
    ] {
        let web = Web::default().with(At::Call("probe"), 5..=5, fault);
        let (house, tab) = held(&web, click("Send")).await;
        decide(&house, true).await.unwrap();
        let error = redeem(&tab, click("Send")).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{fault:?}: {error}");
        assert_eq!(web.log(), [OPENED], "{fault:?}");
        // It was used up before: whoever still wants it asks anew.
        assert_eq!(unfit(redeem(&tab, click("Send")).await), Unfit::Used(ID), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_for_one_act_of_one_tab() {
    let (house, tab) = held(&Web::default(), click("Send")).await;
    decide(&house, true).await.unwrap();
    let refused = |difference| Unfit::Differs { id: ID, difference };
    let at = Action::ClickAt { x: 50.0, y: 170.0 };
    assert_eq!(unfit(redeem(&tab, at).await), refused(Difference::Action));
    let other = house.tab(house.new_tab(HERE).await);
    assert_eq!(unfit(redeem(&other, click("Send")).await), refused(Difference::Tab));
    assert_eq!(redeem(&tab, click("Send")).await.unwrap().approved, Some(ID));
    assert!(!house.web.log().iter().any(|line| line.starts_with("POST") && line != "POST Send"));
}

#[tokio::test(start_paused = true)]
async fn approvals_and_holds_expire() {
    let (house, tab) = held(&Web::default(), click("Send")).await;
    decide(&house, true).await.unwrap();
    tokio::time::sleep(10 * MINUTE).await;
    assert_eq!(unfit(redeem(&tab, click("Send")).await), Unfit::Expired(ID));
    assert_eq!(found(&house, ID).await.unwrap().state, HoldState::Expired);

    let (house, tab) = held(&Web::default(), click("Send")).await;
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    assert_eq!(decide(&house, true).await, Err(GuardError::Unfit(Unfit::Expired(ID))));
    assert_eq!(unfit(redeem(&tab, click("Send")).await), Unfit::Expired(ID));
    assert_eq!(house.web.log(), [OPENED]);
}

#[tokio::test(start_paused = true)]
async fn what_was_denied_stays_so() {
    let (house, tab) = held(&Web::default(), click("Send")).await;
    decide(&house, true).await.unwrap();
    assert_eq!(decide(&house, false).await.unwrap().state, HoldState::Denied);
    assert_eq!(unfit(redeem(&tab, click("Send")).await), Unfit::Denied(ID));
    assert_eq!(decide(&house, true).await, Err(GuardError::Unfit(Unfit::Denied(ID))));
    assert_eq!(house.web.log(), [OPENED]);
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_dies_forgets_no_decision_and_no_use() {
    let (house, tab) = held(&Web::default(), click("Send")).await;
    decide(&house, true).await.unwrap();
    house.cell(GUARD).kill();
    quiet().await;
    assert_eq!(redeem(&tab, click("Send")).await.unwrap().approved, Some(ID));
    // The newest child of the root by now.
    house.cell(&[3]).kill();
    quiet().await;
    assert_eq!(unfit(redeem(&tab, click("Send")).await), Unfit::Used(ID));
    assert_eq!(house.web.log(), [OPENED, "POST Send"]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_marked_used_is_not_done() {
    let memory = Memory::default();
    let house = House::over(&Web::default(), memory.clone()).await;
    let tab = house.tab(house.new_tab(HERE).await);
    act(&tab, click("Send")).await.unwrap().unwrap_err();
    decide(&house, true).await.unwrap();
    let _full = memory.without(Table::Holds);
    let error = redeem(&tab, click("Send")).await.unwrap_err();
    assert_eq!(error.kind(), OutcomeKind::Refused);
    assert!(error.to_string().ends_with("nothing was done"), "{error}");
    assert_eq!(house.web.log(), [OPENED]);
}

#[tokio::test(start_paused = true)]
async fn one_approval_serves_one_of_two_at_once() {
    let (house, tab) = held(&Web::default(), click("Send")).await;
    decide(&house, true).await.unwrap();
    let bond = found(&house, ID).await.unwrap().bond;
    let guard = house.world.doors.guard.find(&()).unwrap();
    let question = || {
        Box::new(strawmanus::messages::guard::Question {
            bond: bond.clone(),
            payload: String::new(),
            consent: Consent::default(),
            run: None,
            ticket: Some(ID),
        })
    };
    let ask = || guard.ask(|reply| GuardMsg::Judge { question: question(), reply }, MINUTE);
    let (one, other) = tokio::join!(ask(), ask());
    let passed = [one, other].iter().filter(|ruling| matches!(ruling, Ok(Ok(_)))).count();
    assert_eq!(passed, 1);
    drop(tab);
}

#[tokio::test(start_paused = true)]
async fn an_approval_outlives_its_tab_and_nothing_else_can_use_it() {
    let (house, tab) = held(&Web::default(), click("Send")).await;
    decide(&house, true).await.unwrap();
    let close = |reply| SessionMsg::CloseTab { tab: TabId(1), reply };
    house.session().ask(close, MINUTE).await.unwrap().unwrap();
    let order = Box::new(Order::new(click("Send"), Consent::default()));
    let gone = tab.ask(|reply| TabMsg::Act { order, patience: SECOND, reply }, MINUTE).await;
    assert!(!matches!(gone, Ok(Ok(_))), "{gone:?}");
    assert!(house.world.doors.tabs.find(&TabId(1)).is_none());
    let other = house.tab(house.new_tab(HERE).await);
    let difference = Difference::Tab;
    assert_eq!(unfit(redeem(&other, click("Send")).await), Unfit::Differs { id: ID, difference });
}

#[tokio::test(start_paused = true)]
async fn a_fill_with_enter_is_held_once_and_kept_whole() {
    let web = Web::default().with(At::Call("probe"), 1..=1, Fault::Compose);
    let (target, text) = (named("textbox", "To"), "Ann".to_owned());
    let fill = Action::Fill { target, text, press_enter: true };
    let (house, tab) = held(&web, fill.clone()).await;
    let hold = found(&house, ID).await.unwrap();
    assert_eq!((hold.payload.as_str(), hold.bond.action.as_ref()), ("Ann", Some(&fill)));
    decide(&house, true).await.unwrap();
    assert_eq!(redeem(&tab, fill).await.unwrap().approved, Some(ID));
    assert_eq!(house.web.log(), [OPENED, "typed Ann", "key Enter"]);
}

#[tokio::test(start_paused = true)]
async fn a_script_is_approved_for_the_page_as_it_is() {
    let script = "document.forms[0].submit()";
    let run = || Action::Evaluate { script: script.into() };
    // The looks at the page: before the hold, before the ruling on its approval, and after.
    for (nth, difference) in
        [(0, None), (2, Some(Difference::Values)), (3, Some(Difference::Values))]
    {
        let web = Web::default().with(At::Call("page_values"), nth..=nth, Fault::Retype);
        let (house, tab) = held(&web, run()).await;
        decide(&house, true).await.unwrap();
        let other = Action::Evaluate { script: "document.forms[1].submit()".into() };
        let refused = Unfit::Differs { id: ID, difference: Difference::Action };
        if nth == 0 {
            assert_eq!(unfit(redeem(&tab, other).await), refused);
        }
        match difference {
            None => assert_eq!(redeem(&tab, run()).await.unwrap().approved, Some(ID)),
            Some(difference) => {
                let refused = Unfit::Differs { id: ID, difference };
                assert_eq!(unfit(redeem(&tab, run()).await), refused, "{nth}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_never_kept() {
    let web = Web::default().with(At::Call("probe"), 1..=1, Fault::Compose);
    let web = web.with(At::Call("probe"), 2..=2, Fault::Secret);
    let (target, text) = (named("textbox", "To"), "hunter2".to_owned());
    let fill = Action::Fill { target, text, press_enter: true };
    let (house, tab) = held(&web, fill.clone()).await;
    let hold = found(&house, ID).await.unwrap();
    assert_eq!(hold.bond.action, None);
    assert!(!serde_json::to_string(&hold).unwrap().contains("hunter2"));
    // Whoever has the secret can still do it.
    decide(&house, true).await.unwrap();
    assert_eq!(redeem(&tab, fill).await.unwrap().approved, Some(ID));
}
