use std::time::Duration;

use ractor::ActorStatus;
use strawmanus::domain::ids::TabId;
use strawmanus::messages::address::AskError;
use strawmanus::messages::selector_cache::SelectorCacheMsg;
use strawmanus::messages::supervisor::Seat;
use strawmanus::messages::tab::{TabError, TabMsg};
use tokio::time::Instant;

use crate::support::house::{
    HOUR, House, MINUTE, PERCEPTION, SECOND, TAB, describe, evaluate, name, observe, quiet,
};
use crate::support::memory::Memory;
use crate::support::web::{At, Fault, Web};

const HERE: &str = "http://shop.test/";

async fn incarnation(house: &House, tab: TabId) -> u32 {
    describe(&house.tab(tab)).await.generation.incarnation
}

#[tokio::test(start_paused = true)]
async fn an_address_outlives_the_tab_behind_it() {
    let web = Web::default().with(At::Evaluate, 1..=1, Fault::Crash);
    let house = House::build(&web).await;
    let id = house.new_tab(HERE).await;
    let tab = house.tab(id);
    let error = evaluate(&tab, "1").await.unwrap().unwrap_err();
    assert!(matches!(error, TabError::TabRestarted { .. }), "{error:?}");
    assert_eq!(evaluate(&tab, "2").await.unwrap().unwrap(), "\"2\"");
    let card = house.card(&Seat::Tab(id));
    assert_eq!(card.incarnation, 2);
    assert_eq!(card.last_error.as_deref(), Some("the page's process died"));
    assert!(card.doing.starts_with("idle at http://shop.test/"), "{}", card.doing);
}

#[tokio::test(start_paused = true)]
async fn a_kill_and_a_panic_are_deaths() {
    let web = Web::default().with(At::Evaluate, 1..=1, Fault::Panic);
    let house = House::build(&web).await;
    let id = house.new_tab(HERE).await;
    assert_eq!(incarnation(&house, id).await, 1);
    house.cell(TAB).kill_and_wait(None).await.unwrap();
    assert_eq!(incarnation(&house, id).await, 2);
    assert_eq!(evaluate(&house.tab(id), "1").await, Err(AskError::Died));
    assert_eq!(incarnation(&house, id).await, 3);
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_no_death() {
    let house = House::build(&Web::default()).await;
    let id = house.new_tab(HERE).await;
    let tab = house.tab(id);
    describe(&tab).await;
    house.cell(TAB).stop_and_wait(None, None).await.unwrap();
    quiet().await;
    assert_eq!(evaluate(&tab, "1").await, Err(AskError::Stopped));
    assert!(house.tree.board.card(&Seat::Tab(id)).is_none());
    assert_eq!(house.card(&Seat::TabGroup(id)).doing, "1 of 1 running");
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_is_a_death_and_the_delays_grow() {
    let web = Web::default().with(At::Open, 1..=3, Fault::Refuse);
    let house = House::build(&web).await;
    let began = Instant::now();
    let id = house.new_tab(HERE).await;
    quiet().await;
    // The second start, at once, has failed too.
    assert!(house.card(&Seat::Tab(id)).doing.starts_with("died: "));
    assert_eq!(incarnation(&house, id).await, 4);
    let took = began.elapsed();
    let delays = Duration::from_millis(100 + 200);
    assert!((delays..delays + Duration::from_millis(10)).contains(&took), "{took:?}");
    let error = house.card(&Seat::Tab(id)).last_error.unwrap();
    assert!(error.contains("as scripted"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_start_holds_nobody_up_and_is_cut_short() {
    let web = Web::default().with(At::Open, 1..=1, Fault::Slow(HOUR));
    let house = House::build(&web).await;
    let began = Instant::now();
    let (slow, other) = (house.new_tab(HERE).await, house.new_tab(HERE).await);
    describe(&house.tab(other)).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(house.card(&Seat::Tab(slow)).doing, "opening its page");
    assert!(house.tree.board.card(&Seat::Perception(slow)).is_none(), "not before the tab runs");
    assert_eq!(incarnation(&house, slow).await, 2);
    assert!(began.elapsed() < MINUTE);
    assert_eq!(web.under_way(), 0, "the slow call is not waited for any longer");
}

#[tokio::test(start_paused = true)]
async fn a_start_that_hangs_is_cut_by_its_supervisor() {
    let house = House::over(&Web::default(), Memory::default().deaf(2)).await;
    let began = Instant::now();
    describe(&house.tab(house.new_tab(HERE).await)).await;
    assert_eq!(began.elapsed(), Duration::ZERO, "its siblings do not wait for it");
    let list = |reply| SelectorCacheMsg::List { domain: None, reply };
    let cache = house.world.doors.selector_cache.find(&()).unwrap();
    assert_eq!(cache.ask(list, 2 * MINUTE).await.unwrap().unwrap(), []);
    let card = house.card(&Seat::SelectorCache);
    assert_eq!((card.incarnation, card.last_error.as_deref()), (3, Some("took too long to start")));
}

#[tokio::test(start_paused = true)]
async fn a_tab_that_serves_between_its_deaths_is_started_for_ever() {
    let house = House::build(&Web::default()).await;
    let id = house.new_tab(HERE).await;
    let began = Instant::now();
    for number in 1..=10 {
        assert_eq!(incarnation(&house, id).await, number);
        house.web.crash(HERE);
        // An ask that is posted now would lie behind the news of the crash, and die with the tab.
        tokio::task::yield_now().await;
    }
    assert_eq!(incarnation(&house, id).await, 11);
    assert_eq!(began.elapsed(), Duration::ZERO, "each restart is the first of its row");
}

#[tokio::test(start_paused = true)]
async fn a_group_gives_up_by_dying_and_comes_back_with_its_tab() {
    let web = Web::default().with(At::Open, 1..=4, Fault::Refuse);
    let house = House::build(&web).await;
    let id = house.new_tab(HERE).await;
    let tab = house.tab(id);
    assert_eq!(describe(&tab).await.generation.incarnation, 5);
    let group = house.card(&Seat::TabGroup(id));
    assert_eq!(group.incarnation, 2);
    assert!(group.last_error.unwrap().contains("died 4 times in a row"));
    assert_eq!(house.card(&Seat::Tabs(name())).incarnation, 1);
}

#[tokio::test(start_paused = true)]
async fn a_tab_that_cannot_be_kept_is_given_up_alone() {
    let web = Web::default().with(At::Open, 2..=9, Fault::Refuse);
    let house = House::build(&web).await;
    let other = house.new_tab(HERE).await;
    evaluate(&house.tab(other), "1").await.unwrap().unwrap();
    let id = house.new_tab(HERE).await;
    assert_eq!(evaluate(&house.tab(id), "1").await, Err(AskError::Stopped));
    quiet().await;
    assert!(house.world.doors.tabs.find(&id).is_none(), "its door is closed");
    assert!(!house.world.books.tabs.contains_key(&id));
    assert!(house.tree.board.card(&Seat::Tab(id)).is_none(), "no card is left");
    assert_eq!(describe(&house.tab(other)).await.generation.incarnation, 1, "the other goes on");
    assert_eq!(web.browsers(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_browser_that_opens_no_page_any_more_is_started_again() {
    let web = Web::default().with(At::Open, 1..=3, Fault::Hang);
    let house = House::build(&web).await;
    let id = house.new_tab(HERE).await;
    let tab = house.tab(id);
    let ask = |reply| TabMsg::Evaluate {
        script: "1".into(),
        consent: Default::default(),
        patience: 10 * SECOND,
        reply,
    };
    tab.ask(ask, HOUR).await.unwrap().unwrap();
    assert_eq!(web.browsers(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_kept_is_given_up_and_can_be_taken_on_again() {
    let house = House::build(&Web::default()).await;
    let session = house.session();
    for _ in 0..4 {
        quiet().await;
        house.web.kill_browser();
        tokio::time::sleep(SECOND).await;
    }
    tokio::time::timeout(SECOND, session.closed()).await.expect("its door is closed");
    assert!(house.world.doors.sessions.find(&name()).is_none());
    assert!(house.world.books.tabs.is_empty() && house.world.books.sessions.is_empty());
    let gone = [Seat::SessionGroup(name()), Seat::Session(name()), Seat::Tabs(name())];
    assert!(gone.iter().all(|seat| house.tree.board.card(seat).is_none()), "no card is left");

    assert_eq!(house.root.get_status(), ActorStatus::Running);
    assert_eq!(house.card(&Seat::Sessions).doing, "0 of 0 running");
    house.add_session("default").await.unwrap();
    let id = house.new_tab(HERE).await;
    evaluate(&house.tab(id), "1").await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_browser_that_dies_as_soon_as_it_runs_is_not_started_for_ever() {
    let house = House::build(&Web::default()).await;
    let session = house.session();
    for _ in 0..20 {
        tokio::time::sleep(SECOND / 10).await;
        house.web.kill_browser();
    }
    tokio::time::timeout(SECOND, session.closed()).await.expect("the session is given up");
    assert!(house.web.browsers() <= 4, "{} browsers", house.web.browsers());
}

#[tokio::test(start_paused = true)]
async fn when_the_root_ends_every_ask_ends() {
    for killed in [true, false] {
        let web = Web::default().with(At::Evaluate, 1..=1, Fault::Hang);
        let house = House::build(&web).await;
        let (session, id) = (house.session(), house.new_tab(HERE).await);
        let tab = house.tab(id);
        let pending = tokio::spawn({
            let tab = tab.clone();
            async move { evaluate(&tab, "1").await }
        });
        quiet().await;
        if killed {
            house.root.kill_and_wait(None).await.unwrap();
        } else {
            house.root.stop_and_wait(None, None).await.unwrap();
        }
        quiet().await;
        assert_eq!(pending.await.unwrap(), Err(AskError::Died));
        assert_eq!(evaluate(&tab, "1").await, Err(AskError::Stopped));
        tokio::time::timeout(SECOND, session.closed()).await.expect("the session's door is closed");
        assert_eq!(web.under_way(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn the_board_counts_what_waits_while_an_actor_does_not_come_to_it() {
    let house = House::build(&Web::default()).await;
    let id = house.new_tab(HERE).await;
    let tab = house.tab(id);
    observe(&tab).await.unwrap().unwrap();
    let waiting = || house.card(&Seat::Tab(id)).waiting;
    assert_eq!(waiting(), 0);
    for _ in 0..3 {
        let (reply, _) = tokio::sync::oneshot::channel();
        tab.tell(TabMsg::Describe { reply: reply.into() });
    }
    assert_eq!(waiting(), 3, "nothing is taken before this task waits");
    quiet().await;
    assert_eq!(waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_dead_incarnation_has_no_last_word() {
    let house = House::build(&Web::default()).await;
    let id = house.new_tab(HERE).await;
    observe(&house.tab(id)).await.unwrap().unwrap();
    house.cell(PERCEPTION).kill();
    observe(&house.tab(id)).await.unwrap().unwrap();
    let card = house.card(&Seat::Perception(id));
    assert_eq!((card.incarnation, card.doing.as_str()), (2, "idle, 1 pages read"));
    assert_eq!(card.last_error.as_deref(), Some("killed"));
}
