use std::sync::Arc;

use strawmanus::domain::ids::{ElementId, RunId, TabId};
use strawmanus::domain::target::Target;
use strawmanus::messages::address::AskError;
use strawmanus::messages::supervisor::{Seat, SeatError};
use strawmanus::messages::tab::TabError;

use crate::support::house::{
    HOUR, House, LEDGER, ORCHESTRATOR, PERCEPTION, SECOND, SESSION, TAB, describe, evaluate, get,
    name, navigate, observe, order, quiet,
};
use crate::support::model::Mute;
use crate::support::web::{At, CONTROLS, Fault, Web};

const HERE: &str = "http://shop.test/";
const ONE: &str = "http://shop.test/1";
const TWO: &str = "http://shop.test/2";

fn incarnations(house: &House, tab: TabId) -> (u32, u32) {
    let of = |seat: Seat| house.card(&seat).incarnation;
    (of(Seat::Tab(tab)), of(Seat::Perception(tab)))
}

#[tokio::test(start_paused = true)]
async fn a_tab_dies_alone() {
    let house = House::build(&Web::default()).await;
    let (one, two) = (house.new_tab(ONE).await, house.new_tab(TWO).await);
    describe(&house.tab(two)).await;
    quiet().await;
    house.web.log();
    house.web.crash(TWO);
    quiet().await;
    assert_eq!(house.web.log(), ["open T2 http://shop.test/2"]);
    assert_eq!((incarnations(&house, one), incarnations(&house, two)), ((1, 1), (2, 2)));
}

#[tokio::test(start_paused = true)]
async fn a_death_of_perception_costs_no_number() {
    let house = House::build(&Web::default()).await;
    let id = house.new_tab(HERE).await;
    let tab = house.tab(id);
    let before = observe(&tab).await.unwrap().unwrap();
    let names = |seen: &strawmanus::domain::page::observation::Observation| {
        seen.elements.iter().map(|one| (one.id, one.name.clone())).collect::<Vec<_>>()
    };
    assert_eq!(names(&before)[0], (ElementId(0), CONTROLS[0].name.to_owned()));
    assert_eq!(before.elements.len(), CONTROLS.len());
    house.cell(PERCEPTION).kill();
    quiet().await;
    assert_eq!(incarnations(&house, id), (1, 2));
    get(&tab, Target::Element(ElementId(0))).await.unwrap().unwrap();
    let after = observe(&tab).await.unwrap().unwrap();
    assert_eq!(names(&after), names(&before));
}

#[tokio::test(start_paused = true)]
async fn a_death_of_the_tab_restarts_its_perception_and_numbers_go_on() {
    let house = House::build(&Web::default()).await;
    let id = house.new_tab(HERE).await;
    let tab = house.tab(id);
    observe(&tab).await.unwrap().unwrap();
    house.cell(TAB).kill();
    quiet().await;
    assert_eq!(incarnations(&house, id), (2, 2));

    house.web.crash(HERE);
    quiet().await;
    let after = observe(&tab).await.unwrap().unwrap();
    assert_eq!(incarnations(&house, id), (3, 3));
    let first = u32::try_from(CONTROLS.len()).unwrap();
    assert_eq!(after.elements[0].id, ElementId(first), "no number is given twice");
    let stale = get(&tab, Target::Element(ElementId(0))).await.unwrap();
    assert_eq!(stale, Err(TabError::Stale { id: "e0".into() }));
}

#[tokio::test(start_paused = true)]
async fn a_new_browser_means_new_tabs_at_their_last_addresses() {
    let house = House::build(&Web::default()).await;
    let (one, two) = (house.new_tab(HERE).await, house.new_tab(TWO).await);
    navigate(&house.tab(one), ONE).await.unwrap().unwrap();
    describe(&house.tab(two)).await;
    house.web.log();
    house.web.kill_browser();
    quiet().await;
    assert_eq!(house.web.log(), ["open T3 http://shop.test/1", "open T4 http://shop.test/2"]);
    assert_eq!((incarnations(&house, one), incarnations(&house, two)), ((2, 2), (2, 2)));
    let session = house.card(&Seat::Session(name()));
    assert_eq!(session.incarnation, 2);
    assert!(session.last_error.unwrap().contains("the browser died: killed"));
    let deaths = house.world.books.obituaries.since(0).0;
    assert_eq!(deaths.len(), 1, "the tabs were stopped, they did not die: {deaths:?}");
    assert_eq!(describe(&house.tab(one)).await.url, ONE);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_killed_takes_its_tabs_along_and_their_pages_are_found_again() {
    let house = House::build(&Web::default()).await;
    let id = house.new_tab(HERE).await;
    describe(&house.tab(id)).await;
    house.cell(SESSION).kill();
    assert_eq!(evaluate(&house.tab(id), "1").await.unwrap_or_else(|error| panic!("{error}")), {
        Ok("\"1\"".into())
    });
    assert_eq!(incarnations(&house, id), (2, 2));
    assert_eq!(house.web.browsers(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_clean_stop_leaves_nothing_behind() {
    let web = Web::default().with(At::Evaluate, 1..=1, Fault::Slow(HOUR));
    let web = web.with(At::Open, 2..=2, Fault::Slow(HOUR));
    let house = House::build(&web).await;
    let (one, two) = (house.new_tab(ONE).await, house.new_tab(TWO).await);
    let (busy, starting) = (house.tab(one), house.tab(two));
    let asked = tokio::spawn(async move { evaluate(&busy, "1").await });
    quiet().await;
    assert_eq!(web.under_way(), 2, "a start and an evaluation");
    house.root.stop_and_wait(None, None).await.unwrap();
    assert_eq!(asked.await.unwrap(), Err(AskError::Died));
    assert_eq!(evaluate(&starting, "1").await, Err(AskError::Stopped));
    assert_eq!(web.under_way(), 0);
    assert_eq!(web.log(), ["open T1 http://shop.test/1", "shut down"]);
}

#[tokio::test(start_paused = true)]
async fn those_who_stand_behind_are_stopped_first() {
    let web = Web::default().with(At::Evaluate, 1..=1, Fault::Hang);
    let house = House::build(&web.with(At::Cookies, 1..=9, Fault::Slow(2 * SECOND))).await;
    let tab = house.tab(house.new_tab(HERE).await);
    let asked = tokio::spawn(async move { evaluate(&tab, "1").await });
    quiet().await;
    house.root.stop(None);
    tokio::time::sleep(SECOND).await;
    assert!(asked.is_finished(), "the tabs are gone while the session copies its logins");
    assert_eq!(house.web.log(), ["open T1 http://shop.test/"]);
    house.root.wait(None).await.unwrap();
    assert_eq!(house.web.log(), ["shut down"]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_one_that_is_being_stopped_is_no_news() {
    let house = House::build(&Web::default()).await;
    let id = house.new_tab(HERE).await;
    describe(&house.tab(id)).await;
    quiet().await;
    house.cell(TAB).kill();
    house.cell(PERCEPTION).kill();
    quiet().await;
    assert_eq!(incarnations(&house, id), (2, 2));
    let deaths = house.world.books.obituaries.since(0).0;
    assert_eq!(deaths.iter().map(|death| &death.seat).collect::<Vec<_>>(), [&Seat::Tab(id)]);
    observe(&house.tab(id)).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn children_come_and_go_while_their_supervisor_runs() {
    let house = House::build(&Web::default()).await;
    let one = house.new_tab(ONE).await;
    let tab = house.tab(one);
    describe(&tab).await;
    let (tabs, group) = (Seat::Tabs(name()), Seat::TabGroup(one));
    assert_eq!(house.add(tabs.clone(), group.clone()).await, Err(SeatError::Taken));
    assert_eq!(house.add(tabs.clone(), Seat::Guard).await, Err(SeatError::Misplaced));
    assert_eq!(house.add(Seat::Runs, group.clone()).await, Err(SeatError::Misplaced));

    assert_eq!(house.remove(tabs.clone(), group.clone()).await, Ok(()));
    assert_eq!(evaluate(&tab, "1").await, Err(AskError::Stopped));
    assert!(house.world.doors.tabs.find(&one).is_none());
    assert!(house.world.books.tabs.get(&one).is_none(), "what was remembered of it is forgotten");
    for seat in [&group, &Seat::Tab(one), &Seat::Perception(one)] {
        assert!(house.tree.board.card(seat).is_none(), "{seat}");
    }
    assert_eq!(house.remove(tabs, group).await, Err(SeatError::Unknown));
}

#[tokio::test(start_paused = true)]
async fn a_child_can_be_removed_while_it_starts_and_while_it_is_delayed() {
    for fault in [Fault::Slow(HOUR), Fault::Refuse] {
        let web = Web::default().with(At::Open, 1..=2, fault);
        let house = House::build(&web).await;
        let id = house.new_tab(HERE).await;
        quiet().await;
        let removed = house.remove(Seat::Tabs(name()), Seat::TabGroup(id)).await;
        assert_eq!(removed, Ok(()));
        tokio::time::sleep(30 * SECOND).await;
        assert_eq!(web.under_way(), 0, "{fault:?}");
        assert!(!web.log().iter().any(|line| line.starts_with("open")), "{fault:?}");
        let other = house.new_tab(TWO).await;
        if fault == Fault::Refuse {
            evaluate(&house.tab(other), "1").await.unwrap().unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_group_restarts_its_orchestrator_after_its_ledger() {
    let house = House::build(&Web::default()).await;
    house.begin_with(order(1), Arc::new(Mute)).await;
    quiet().await;
    let run = RunId(1);
    let of = |seat: Seat| house.card(&seat).incarnation;
    let both = || (of(Seat::Ledger(run)), of(Seat::Orchestrator(run)));
    house.cell(ORCHESTRATOR).kill();
    quiet().await;
    assert_eq!(both(), (1, 2));
    house.cell(LEDGER).kill();
    quiet().await;
    assert_eq!(both(), (2, 3));
    assert_eq!(house.card(&Seat::RunGroup(run)).incarnation, 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_keeps_dying_is_given_up_and_the_others_go_on() {
    let house = House::build(&Web::default()).await;
    house.begin_with(order(1), Arc::new(Mute)).await;
    house.begin_with(order(2), Arc::new(Mute)).await;
    let door = house.world.doors.orchestrators.find(&RunId(1)).unwrap();
    for _ in 0..4 {
        tokio::time::sleep(SECOND).await;
        house.cell(ORCHESTRATOR).kill();
    }
    tokio::time::timeout(SECOND, door.closed()).await.expect("nobody will sit there again");
    assert!(house.world.books.runs.get(&RunId(1)).is_none());
    assert_eq!(house.card(&Seat::Runs).doing, "1 of 1 running");
    assert_eq!(house.card(&Seat::Orchestrator(RunId(2))).incarnation, 1);
}
