//! Restarts of a browser that somebody asks for.
use strawmanus::messages::session::{Owner, SessionError, SessionMsg};
use strawmanus::messages::supervisor::Seat;
use strawmanus::ports::browser::ProfileMode;

use crate::support::house::{
    House, MINUTE, SECOND, act, click, describe, evaluate, name, navigate, quiet,
};
use crate::support::memory::Memory;
use crate::support::web::{At, Fault, Web};

const HERE: &str = "http://shop.test/";

async fn restart(house: &House, headed: Option<bool>) -> Result<(), SessionError> {
    let ask = |reply| SessionMsg::Restart { headed, reply };
    house.session().ask(ask, 2 * MINUTE).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_tabs_and_the_logins_come_back() {
    let house = House::build(&Web::default()).await;
    let (first, second) = (house.new_tab(HERE).await, house.new_tab("http://a.test/").await);
    navigate(&house.tab(first), "http://shop.test/cart").await.unwrap().unwrap();
    describe(&house.tab(second)).await;
    house.web.set_cookies("mine");
    house.web.log();
    restart(&house, None).await.unwrap();
    evaluate(&house.tab(first), "1").await.unwrap().unwrap();
    evaluate(&house.tab(second), "1").await.unwrap().unwrap();
    let mut pages = house.web.pages();
    pages.sort();
    assert_eq!(pages, ["http://a.test/", "http://shop.test/cart"]);
    assert_eq!(house.web.restored(), ["mine"], "kept before the end");
    assert!(house.web.log().contains(&"shut down".to_owned()), "in good order");
    assert_eq!((house.web.browsers(), house.web.headless()), (2, vec![true, true]));
    assert_eq!(house.web.under_way(), 0);
}

#[tokio::test(start_paused = true)]
async fn no_number_of_restarts_is_too_many() {
    let house = House::build(&Web::default()).await;
    let tab = house.new_tab(HERE).await;
    for _ in 0..6 {
        restart(&house, None).await.unwrap();
    }
    evaluate(&house.tab(tab), "1").await.unwrap().unwrap();
    let card = house.card(&Seat::Session(name()));
    assert_eq!((card.incarnation, card.last_error), (7, None), "none of them is a death");
    assert_eq!(house.card(&Seat::SessionGroup(name())).incarnation, 1);
    // Deaths count as they did before; a tab that comes back would be a call served between them.
    let close = |reply| SessionMsg::CloseTab { tab, reply };
    house.session().ask(close, MINUTE).await.unwrap().unwrap();
    for _ in 0..4 {
        quiet().await;
        house.web.kill_browser();
        tokio::time::sleep(SECOND).await;
    }
    assert!(house.world.doors.sessions.find(&name()).is_none());
    assert!(house.world.books.restarts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_window_stays_for_later_starts() {
    let house = House::build(&Web::default()).await;
    let tab = house.new_tab(HERE).await;
    describe(&house.tab(tab)).await;
    restart(&house, Some(true)).await.unwrap();
    act(&house.tab(tab), click("Dead")).await.unwrap().unwrap();
    house.web.kill_browser();
    quiet().await;
    restart(&house, None).await.unwrap();
    restart(&house, Some(false)).await.unwrap();
    let headless = house.web.headless();
    assert_eq!(headless, [true, false, false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn a_browser_that_cannot_have_a_window_comes_back_without() {
    let web = Web::default().with(At::Launch, 2..=2, Fault::Refuse);
    let house = House::build(&web).await;
    let tab = house.new_tab(HERE).await;
    describe(&house.tab(tab)).await;
    let error = restart(&house, Some(true)).await.unwrap_err();
    assert!(matches!(error, SessionError::Browser(_)), "{error:?}");
    evaluate(&house.tab(tab), "1").await.unwrap().unwrap();
    assert_eq!(house.web.headless(), [true, true]);
}

#[tokio::test(start_paused = true)]
async fn asks_of_others_are_answered_by_the_new_browser() {
    let web = Web::default().with(At::Launch, 1..=1, Fault::Slow(10 * SECOND));
    let house = House::build(&web).await;
    let session = house.session();
    let waits = tokio::spawn({
        let session = session.clone();
        async move { session.ask(|reply| SessionMsg::CurrentTab { reply }, MINUTE).await }
    });
    quiet().await;
    let (one, other) = tokio::join!(restart(&house, None), restart(&house, None));
    one.unwrap();
    other.unwrap();
    waits.await.unwrap().unwrap().unwrap();
    assert_eq!(web.browsers(), 1, "the first never ran");
}

#[tokio::test(start_paused = true)]
async fn a_browser_of_somebody_else_is_not_started_again() {
    let house = House::over(&Web::default(), Memory::default()).await;
    house.add_session_with("theirs", ProfileMode::Attach).await.unwrap();
    let theirs = house.world.doors.sessions.find(&"theirs".parse().unwrap()).unwrap();
    for headed in [None, Some(true)] {
        let ask = |reply| SessionMsg::Restart { headed, reply };
        assert_eq!(theirs.ask(ask, MINUTE).await.unwrap(), Err(SessionError::NotOurs));
    }
    let new = |reply| SessionMsg::NewTab { url: None, owner: Owner::Shell, reply };
    theirs.ask(new, MINUTE).await.unwrap().unwrap();
    assert_eq!(house.web.browsers(), 2, "one each");
}
