use std::time::Duration;

use strawmanus::domain::action::{Action, ScrollWay};
use strawmanus::domain::ids::{ElementId, RunId, TabId};
use strawmanus::domain::outcome::OutcomeKind;
use strawmanus::domain::target::Target;
use strawmanus::messages::address::{Address, AskError};
use strawmanus::messages::session::{Owner, SessionMsg};
use strawmanus::messages::tab::{Acted, TabError, TabMsg, Until};
use tokio::time::Instant;

use crate::support::house::{
    House, MINUTE, SECOND, act, answer_dialog, click, describe, evaluate, fill, get, named,
    navigate, observe, quiet, wait,
};
use crate::support::web::{At, Fault, Web};

const HERE: &str = "http://shop.test/";

/// A house with one tab, at the shop.
async fn one_tab(web: &Web) -> (House, Address<TabMsg>, TabId) {
    let house = House::build(web).await;
    let id = house.new_tab(HERE).await;
    let tab = house.tab(id);
    describe(&tab).await;
    web.log();
    (house, tab, id)
}

/// The kinds of work that a tab does for a caller.
#[derive(Debug, Clone)]
enum Work {
    Navigate,
    Observe,
    Evaluate,
    Get,
    Wait,
    Act(Action),
}

/// Asks for it, and forgets what it is worth.
async fn ask(tab: &Address<TabMsg>, work: Work) -> Result<Result<(), TabError>, AskError> {
    Ok(match work {
        Work::Navigate => navigate(tab, "http://shop.test/next").await?.map(drop),
        Work::Observe => observe(tab).await?.map(drop),
        Work::Evaluate => evaluate(tab, "1").await?.map(drop),
        Work::Get => get(tab, named("textbox", "To")).await?.map(drop),
        Work::Wait => wait(tab, Until::Text { words: "now".into() }).await?,
        Work::Act(action) => act(tab, action).await?.map(drop),
    })
}

async fn acted(tab: &Address<TabMsg>, action: Action) -> Acted {
    act(tab, action).await.unwrap().unwrap()
}

#[tokio::test(start_paused = true)]
async fn one_piece_of_work_at_a_time_in_order() {
    let web = Web::default().with(At::Navigate, 1..=1, Fault::Slow(SECOND));
    let (_house, tab, _) = one_tab(&web).await;
    let go = move |number: u32| {
        let tab = tab.clone();
        async move { navigate(&tab, &format!("http://shop.test/{number}")).await }
    };
    let all = tokio::spawn(async move { tokio::join!(go(1), go(2), go(3)) });
    quiet().await;
    assert_eq!(web.under_way(), 1, "the others wait");
    let (one, two, three) = all.await.unwrap();
    for landed in [one, two, three] {
        landed.unwrap().unwrap();
    }
    let went = ["navigate http://shop.test/1", "navigate http://shop.test/2"];
    assert_eq!(web.log(), [went[0], went[1], "navigate http://shop.test/3"]);
}

#[tokio::test(start_paused = true)]
async fn beyond_its_queue_a_tab_is_busy_and_says_so_at_once() {
    let web = Web::default().with(At::Evaluate, 1..=1, Fault::Slow(5 * SECOND));
    let (house, tab, _) = one_tab(&web).await;
    let most = house.world.settings.tab_queue;
    let waiting: Vec<_> = (0..=most)
        .map(|_| {
            let tab = tab.clone();
            tokio::spawn(async move { evaluate(&tab, "1").await })
        })
        .collect();
    quiet().await;
    let began = Instant::now();
    let refused = evaluate(&tab, "2").await.unwrap();
    assert_eq!(refused, Err(TabError::Busy { waiting: most }));
    assert_eq!(began.elapsed(), Duration::ZERO);
    for asked in waiting {
        asked.await.unwrap().unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn answering_a_dialog_and_describing_never_wait() {
    let web = Web::default().with(At::Evaluate, 1..=1, Fault::Hang);
    let (house, tab, _) = one_tab(&web).await;
    let busy = tab.clone();
    let hangs = tokio::spawn(async move { evaluate(&busy, "1").await });
    quiet().await;
    let began = Instant::now();
    let none = answer_dialog(&tab, true).await.unwrap().unwrap_err();
    assert_eq!(none, TabError::Refused { why: "no dialog is open".into() });
    house.web.alert(HERE, "hello");
    assert_eq!(describe(&tab).await.dialog.unwrap().message, "hello");
    let dialog = answer_dialog(&tab, true).await.unwrap().unwrap();
    assert_eq!((dialog.kind.as_str(), dialog.message.as_str()), ("alert", "hello"));
    assert_eq!(describe(&tab).await.dialog, None);
    assert_eq!((began.elapsed(), hangs.is_finished()), (Duration::ZERO, false));
}

#[tokio::test(start_paused = true)]
async fn a_crash_answers_what_is_under_way_at_once_and_says_whether_input_had_left() {
    let add = || Work::Act(click("Add to cart"));
    let table = [
        (Work::Navigate, At::Navigate, false),
        (Work::Observe, At::Call("walk"), false),
        (Work::Evaluate, At::Evaluate, false),
        (Work::Get, At::Call("resolve"), false),
        (Work::Get, At::Call("get"), false),
        (Work::Wait, At::Call("text_has"), false),
        (add(), At::Call("resolve"), false),
        (add(), At::Call("probe"), false),
        (add(), At::Call("watch_begin"), false),
        (add(), At::Click, true),
        (add(), At::Call("watch_peek"), true),
        (add(), At::Call("watch_end"), true),
        (Work::Act(fill("To", "Ann")), At::Call("focus_for_fill"), false),
        (Work::Act(fill("To", "Ann")), At::Insert, true),
        (Work::Act(fill("To", "Ann")), At::Call("value_of"), true),
    ];
    for (work, at, dispatched) in table {
        for fault in [Fault::Crash, Fault::CrashAnsweredFirst] {
            let web = Web::default().with(at, 1..=1, fault);
            let (_house, tab, _) = one_tab(&web).await;
            let next = tab.clone();
            let began = Instant::now();
            let (answer, queued) =
                tokio::join!(ask(&tab, work.clone()), async move { evaluate(&next, "2").await });
            let name = format!("{work:?} {at:?} {fault:?}");
            assert!(began.elapsed() < SECOND, "{name}: {:?}", began.elapsed());
            let (url, note) = (HERE.to_owned(), String::new());
            assert_eq!(answer, Ok(Err(TabError::TabRestarted { url, note, dispatched })), "{name}");
            assert_eq!(queued, Ok(Err(TabError::NotBegun)), "{name}");
            quiet().await;
            assert_eq!(describe(&tab).await.generation.incarnation, 2, "{name}");
            ask(&tab, work.clone()).await.unwrap().unwrap();
            assert_eq!(web.under_way(), 0, "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn numbers_go_on_after_a_crash_and_old_ones_are_stale() {
    let (house, tab, _) = one_tab(&Web::default()).await;
    let before = observe(&tab).await.unwrap().unwrap();
    house.web.crash(HERE);
    quiet().await;
    let old = Action::Click { target: Target::Element(before.elements[3].id) };
    let stale = act(&tab, old.clone()).await.unwrap().unwrap_err();
    assert!(matches!(stale, TabError::Stale { .. }), "before the page is read: {stale:?}");
    let after = observe(&tab).await.unwrap().unwrap();
    let numbers = |seen: &[strawmanus::domain::page::observation::Shown]| {
        (seen.first().unwrap().id, seen.last().unwrap().id)
    };
    assert_eq!(numbers(&before.elements), (ElementId(0), ElementId(8)));
    assert_eq!(numbers(&after.elements), (ElementId(9), ElementId(17)));
    let stale = act(&tab, old).await.unwrap().unwrap_err();
    assert!(matches!(stale, TabError::Stale { .. }), "and after: {stale:?}");
    assert_eq!(house.web.log(), ["open T1 http://shop.test/"], "nothing was pressed");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_came_from_a_form_is_not_sent_for_again() {
    let web = Web::default().with(At::Evaluate, 1..=1, Fault::Crash);
    let (house, tab, _) = one_tab(&web).await;
    assert_eq!(acted(&tab, click("Search")).await.outcome.kind, OutcomeKind::Navigated);
    let error = evaluate(&tab, "1").await.unwrap().unwrap_err().to_string();
    assert!(error.ends_with("again at http://shop.test/found; the page's form was not sent again"));
    quiet().await;
    assert_eq!(house.web.log(), ["POST Search", "open T1 http://shop.test/found"]);
    navigate(&tab, HERE).await.unwrap().unwrap();
    house.web.crash(HERE);
    quiet().await;
    assert!(!house.world.books.tabs.iter().any(|note| note.from_form), "it is another page now");
}

#[tokio::test(start_paused = true)]
async fn where_a_navigation_landed_is_where_the_tab_is() {
    let (house, tab, _) = one_tab(&Web::default()).await;
    for url in ["http://shop.test/1", "http://shop.test/2"] {
        let before = describe(&tab).await.generation;
        let landed = navigate(&tab, url).await.unwrap().unwrap();
        assert!(landed.generation > before, "{landed:?}");
        let card = describe(&tab).await;
        assert_eq!((landed.generation, landed.url), (card.generation, card.url));
        house.web.crash(url);
        quiet().await;
        assert!(describe(&tab).await.generation > card.generation);
    }
}

#[tokio::test(start_paused = true)]
async fn a_site_that_cannot_be_reached_is_an_answer() {
    let (_house, tab, _) = one_tab(&Web::default()).await;
    let error = navigate(&tab, "http://nowhere.test/").await.unwrap().unwrap_err();
    assert!(error.to_string().starts_with("the host name does not resolve"), "{error}");
    let card = describe(&tab).await;
    assert_eq!((card.generation.incarnation, card.url.as_str()), (1, HERE));
}

#[tokio::test(start_paused = true)]
async fn an_act_says_what_came_of_it() {
    let (house, tab, id) = one_tab(&Web::default()).await;
    let added = acted(&tab, click("Add to cart")).await;
    assert_eq!(added.outcome.kind, OutcomeKind::Changed);
    assert_eq!(added.outcome.delta, ["POST /act → 200"]);
    assert_eq!((added.what.as_str(), added.allowed), ("click button \"Add to cart\"", false));

    let began = Instant::now();
    let dead = acted(&tab, click("Dead")).await.outcome;
    assert_eq!((dead.kind, dead.delta), (OutcomeKind::NoEffect, vec![]));
    assert!(began.elapsed() <= Duration::from_millis(300), "{:?}", began.elapsed());

    let filled = acted(&tab, fill("To", "Ann")).await.outcome;
    assert_eq!((filled.kind, filled.delta), (OutcomeKind::Changed, vec!["a field".into()]));
    assert_eq!(get(&tab, named("textbox", "To")).await.unwrap().unwrap(), "Ann");

    let scrolled = acted(&tab, Action::Scroll { way: ScrollWay::Down }).await.outcome;
    assert_eq!(scrolled.delta, ["scrolled to 600 of 900 px"]);
    let escape = Action::Press { chord: "Escape".parse().unwrap() };
    assert_eq!(acted(&tab, escape).await.what, "press Escape on the page");

    let more = Action::Click { target: named("link", "Details") };
    let went = acted(&tab, more).await.outcome;
    assert_eq!(went.kind, OutcomeKind::Navigated);
    assert_eq!(went.delta, ["now at http://shop.test/details 'A page'"]);

    let opened = acted(&tab, click("Preview")).await.outcome;
    assert_eq!(opened.kind, OutcomeKind::NewTab);
    let popup = house.tabs().await.into_iter().find(|line| line.id != id).unwrap();
    assert_eq!(opened.delta, [format!("{} opened: http://shop.test/preview", popup.id)]);
    assert!(popup.active, "the shell follows it");
}

#[tokio::test(start_paused = true)]
async fn a_dialog_that_an_act_opens_is_its_outcome() {
    let web = Web::default().with(At::Insert, 1..=1, Fault::Dialog);
    let web = web.with(At::Call("value_of"), 1..=1, Fault::Dialog);
    let (_house, tab, _) = one_tab(&web).await;
    for (action, told) in [
        (click("Ask"), "confirm open: really?"),
        (fill("To", "Ann"), "alert open: hello"),
        (fill("To", "Bob"), "alert open: hello"),
    ] {
        let asked = act(&tab, action.clone()).await.unwrap();
        let outcome = asked.unwrap_or_else(|error| panic!("{action:?}: {error}")).outcome;
        assert_eq!((outcome.kind, outcome.delta), (OutcomeKind::DialogOpen, vec![told.into()]));
        let error = observe(&tab).await.unwrap().unwrap_err();
        assert_eq!(error.kind(), OutcomeKind::BlockedBy);
        let words = told.rsplit_once(": ").unwrap().1;
        assert!(error.to_string().ends_with(words), "{error}");
        answer_dialog(&tab, false).await.unwrap().unwrap();
        observe(&tab).await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_ran_out_of_time_is_in_doubt_once_input_had_left() {
    let add = || Work::Act(click("Add to cart"));
    let table = [
        (Work::Observe, At::Call("walk"), false),
        (Work::Navigate, At::Navigate, false),
        (add(), At::Call("resolve"), false),
        (add(), At::Call("watch_begin"), false),
        (add(), At::Click, true),
        (add(), At::Call("watch_peek"), true),
        (add(), At::Call("watch_end"), true),
        (Work::Evaluate, At::Evaluate, false),
        (Work::Act(fill("To", "Ann")), At::Insert, true),
    ];
    for (work, at, doubt) in table {
        let web = Web::default().with(at, 1..=1, Fault::Hang);
        let (_house, tab, _) = one_tab(&web).await;
        let began = Instant::now();
        let error = ask(&tab, work.clone()).await.unwrap().unwrap_err();
        let kind = if doubt { OutcomeKind::InDoubt } else { OutcomeKind::TimedOut };
        assert_eq!(error.kind(), kind, "{work:?} {at:?}: {error:?}");
        assert!(began.elapsed() <= 31 * SECOND, "{work:?} {at:?}: {:?}", began.elapsed());
        ask(&tab, work.clone()).await.unwrap().unwrap();
        assert_eq!((web.under_way(), describe(&tab).await.generation.incarnation), (0, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn what_goes_wrong_after_the_input_is_no_plain_refusal() {
    for (at, fault) in [
        (At::Call("watch_peek"), Fault::Refuse),
        (At::Call("watch_peek"), Fault::Garbage),
        (At::Call("watch_end"), Fault::Garbage),
        (At::Call("watch_end"), Fault::Refuse),
    ] {
        let web = Web::default().with(at, 1..=1, fault);
        let (_house, tab, _) = one_tab(&web).await;
        let error = act(&tab, click("Add to cart")).await.unwrap().unwrap_err();
        assert_eq!(error.kind(), OutcomeKind::InDoubt, "{at:?} {fault:?}: {error:?}");
        assert_eq!(web.log(), ["POST Add to cart"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_press_that_closes_its_own_popup_has_had_that_effect() {
    let (house, tab, _) = one_tab(&Web::default()).await;
    acted(&tab, click("Preview")).await;
    quiet().await;
    let popup = house.tabs().await.into_iter().find(|line| line.active).unwrap();
    let done = act(&house.tab(popup.id), click("Close")).await.unwrap().unwrap();
    assert_eq!(done.outcome.kind, OutcomeKind::Changed, "{done:?}");
    assert_eq!(done.outcome.delta, [format!("{} is closed", popup.id)]);
    quiet().await;
    let tabs = house.tabs().await;
    assert_eq!((tabs.len(), tabs[0].active), (1, true), "control is back at the opener");
}

#[tokio::test(start_paused = true)]
async fn a_closed_page_takes_its_shell_tab_off_the_list() {
    let house = House::build(&Web::default()).await;
    let urls = [1, 2, 3].map(|number| format!("http://shop.test/{number}"));
    let mut tabs = Vec::new();
    for url in &urls {
        tabs.push(house.new_tab(url).await);
        describe(&house.tab(tabs[tabs.len() - 1])).await;
    }
    let address = house.tab(tabs[2]);
    house.web.close(&urls[2]);
    quiet().await;
    let list = house.tabs().await;
    let active: Vec<_> = list.iter().map(|line| (line.id, line.active)).collect();
    assert_eq!(active, [(tabs[0], false), (tabs[1], true)], "the newest is current");
    assert_eq!(evaluate(&address, "1").await, Err(AskError::Stopped));
    house.web.close(&urls[0]);
    house.web.close(&urls[1]);
    quiet().await;
    assert_eq!(house.tabs().await, []);
    let current = |reply| SessionMsg::CurrentTab { reply };
    let made = house.session().ask(current, MINUTE).await.unwrap().unwrap();
    assert!(!tabs.contains(&made), "there was none, so one was made");
}

#[tokio::test(start_paused = true)]
async fn work_on_a_page_that_is_closed_hears_of_it_at_once() {
    let web = Web::default().with(At::Evaluate, 1..=1, Fault::Slow(MINUTE));
    let (house, tab, _) = one_tab(&web).await;
    let (one, two) = (tab.clone(), tab.clone());
    let asked = tokio::spawn(async move {
        tokio::join!(evaluate(&one, "1"), async move { observe(&two).await })
    });
    quiet().await;
    house.web.close(HERE);
    let (running, queued) = asked.await.unwrap();
    assert_eq!(running.unwrap(), Err(TabError::TargetGone));
    assert_eq!(queued, Ok(Err(TabError::TargetGone)));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_a_run_works_in_comes_back_once_and_only_once() {
    let house = House::build(&Web::default()).await;
    let owner = Owner::Run(RunId(9));
    let id = house.try_new_tab(HERE, owner).await.unwrap();
    let tab = house.tab(id);
    describe(&tab).await;
    house.web.close(HERE);
    quiet().await;
    assert_eq!(house.web.pages(), [HERE]);
    let card = describe(&tab).await;
    assert_eq!((card.generation.incarnation, card.url.as_str()), (2, HERE));
    evaluate(&tab, "1").await.unwrap().unwrap();
    house.web.close(HERE);
    quiet().await;
    assert_eq!(house.web.pages(), [""; 0]);
    assert_eq!(house.tabs().await, []);
    assert_eq!(evaluate(&tab, "1").await, Err(AskError::Stopped));
}

#[tokio::test(start_paused = true)]
async fn a_popup_of_a_run_does_not_come_back() {
    let house = House::build(&Web::default()).await;
    let id = house.try_new_tab(HERE, Owner::Run(RunId(9))).await.unwrap();
    describe(&house.tab(id)).await;
    house.web.pop_up(HERE, "http://shop.test/pop");
    quiet().await;
    assert_eq!(house.tabs().await.len(), 2);
    house.web.close("http://shop.test/pop");
    quiet().await;
    let tabs = house.tabs().await;
    assert_eq!((tabs.len(), tabs[0].id, tabs[0].owner), (1, id, Owner::Run(RunId(9))));
}
