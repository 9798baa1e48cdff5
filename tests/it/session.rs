use std::time::Duration;

use ractor::RpcReplyPort;
use strawmanus::domain::ids::{RunId, TabId};
use strawmanus::messages::session::{Owner, SessionError, SessionMsg};
use strawmanus::messages::supervisor::Seat;
use strawmanus::ports::browser::{About, ProfileMode};
use tokio::time::Instant;

use crate::support::house::{
    HOUR, House, MINUTE, SECOND, SESSION, act, click, describe, evaluate, name, navigate, quiet,
};
use crate::support::memory::Memory;
use crate::support::web::{At, Fault, Web};

const HERE: &str = "http://shop.test/";
const RUNS: Owner = Owner::Run(RunId(9));

async fn ask<T: Send + 'static>(
    house: &House,
    build: impl FnOnce(RpcReplyPort<Result<T, SessionError>>) -> SessionMsg,
) -> Result<T, SessionError> {
    house.session().ask(build, MINUTE).await.unwrap()
}

async fn about(house: &House) -> Result<About, SessionError> {
    ask(house, |reply| SessionMsg::Describe { reply }).await
}

async fn current(house: &House) -> TabId {
    ask(house, |reply| SessionMsg::CurrentTab { reply }).await.unwrap()
}

async fn switch(house: &House, tab: TabId) -> Result<(), SessionError> {
    ask(house, |reply| SessionMsg::SwitchTab { tab, reply }).await
}

async fn close(house: &House, tab: TabId) -> Result<(), SessionError> {
    ask(house, |reply| SessionMsg::CloseTab { tab, reply }).await
}

#[tokio::test(start_paused = true)]
async fn a_launch_that_fails_is_an_answer_and_the_next_ask_tries_again() {
    let web = Web::default().with(At::Launch, 1..=2, Fault::Refuse);
    let house = House::build(&web).await;
    quiet().await;
    assert!(house.card(&Seat::Session(name())).doing.starts_with("no browser: "));
    let error = about(&house).await.unwrap_err();
    assert!(error.to_string().contains("did not start: the browser refused"), "{error}");
    assert_eq!(about(&house).await.unwrap().product, "Fake/1");
    assert_eq!(house.card(&Seat::Session(name())).doing, "Fake/1, pid 1");
    assert_eq!(house.card(&Seat::Session(name())).incarnation, 1);
}

#[tokio::test(start_paused = true)]
async fn asks_wait_for_a_launch_that_takes_its_time() {
    let web = Web::default().with(At::Launch, 1..=1, Fault::Slow(5 * SECOND));
    let house = House::build(&web).await;
    let began = Instant::now();
    assert_eq!(house.tabs().await, [], "what needs no browser does not wait");
    assert_eq!(began.elapsed(), Duration::ZERO);
    let (tab, about) = tokio::join!(house.new_tab(HERE), about(&house));
    about.unwrap();
    assert_eq!((began.elapsed().as_secs(), tab, web.browsers()), (5, TabId(1), 1));
}

#[tokio::test(start_paused = true)]
async fn a_launch_that_hangs_is_given_up_and_tried_again() {
    let web = Web::default().with(At::Launch, 1..=1, Fault::Hang);
    let house = House::build(&web).await;
    let began = Instant::now();
    let error = about(&house).await.unwrap_err();
    assert!(error.to_string().contains("did not start"), "{error}");
    assert!(began.elapsed() < 40 * SECOND, "{:?}", began.elapsed());
    about(&house).await.unwrap();
    assert_eq!(web.under_way(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_bug_in_a_launch_is_a_death() {
    let house = House::build(&Web::default().with(At::Launch, 1..=1, Fault::Panic)).await;
    quiet().await;
    about(&house).await.unwrap();
    assert_eq!(house.card(&Seat::Session(name())).incarnation, 2);
}

#[tokio::test(start_paused = true)]
async fn tabs_are_made_listed_switched_and_closed() {
    let house = House::build(&Web::default()).await;
    let first = current(&house).await;
    assert_eq!(current(&house).await, first, "it is made once");
    let second = house.new_tab(HERE).await;
    assert_eq!(current(&house).await, second, "a new tab is current");
    describe(&house.tab(second)).await;
    switch(&house, first).await.unwrap();
    let lines = house.tabs().await;
    let shown: Vec<_> = lines.iter().map(|line| (line.id, &*line.url, line.active)).collect();
    assert_eq!(shown, [(first, "about:blank", true), (second, HERE, false)]);

    assert_eq!(switch(&house, TabId(77)).await, Err(SessionError::NoTab(TabId(77))));
    assert_eq!(close(&house, TabId(77)).await, Err(SessionError::NoTab(TabId(77))));
    close(&house, first).await.unwrap();
    assert_eq!(current(&house).await, second);
    assert_eq!(house.web.pages(), [HERE], "its page is closed too");
    assert!(house.world.doors.tabs.find(&first).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_tab_of_a_run_is_never_the_shells() {
    let house = House::build(&Web::default()).await;
    let shell = house.new_tab(HERE).await;
    let other = house.try_new_tab(HERE, RUNS).await.unwrap();
    assert_eq!(current(&house).await, shell);
    assert_eq!(switch(&house, other).await, Err(SessionError::Owned(other, RunId(9))));
    close(&house, shell).await.unwrap();
    assert!(![shell, other].contains(&current(&house).await), "a new one is made");
}

#[tokio::test(start_paused = true)]
async fn a_tab_whose_page_hangs_is_closed_all_the_same() {
    let web = Web::default().with(At::Evaluate, 1..=1, Fault::Hang);
    let house = House::build(&web).await;
    let id = house.new_tab(HERE).await;
    let tab = house.tab(id);
    let hangs = tokio::spawn(async move { evaluate(&tab, "1").await });
    quiet().await;
    let began = Instant::now();
    close(&house, id).await.unwrap();
    assert_eq!((began.elapsed(), house.web.pages().len()), (Duration::ZERO, 0));
    hangs.await.unwrap().unwrap_err();
    assert_eq!(web.under_way(), 0);
}

#[tokio::test(start_paused = true)]
async fn popups_are_taken_in_and_followed_by_whom_they_concern() {
    let house = House::build(&Web::default()).await;
    let (first, second) = (house.new_tab("http://a.test/").await, house.new_tab(HERE).await);
    describe(&house.tab(first)).await;
    describe(&house.tab(second)).await;
    house.web.pop_up("http://a.test/", "http://a.test/ad");
    quiet().await;
    assert_eq!(current(&house).await, second, "a tab in the background stays there");
    house.web.pop_up(HERE, "http://shop.test/more");
    quiet().await;
    let popup = house.tabs().await.pop().unwrap();
    assert_eq!((popup.url.as_str(), popup.active), ("http://shop.test/more", true));
    assert_eq!(describe(&house.tab(popup.id)).await.url, "http://shop.test/more");
    assert_eq!(house.web.pages().len(), 4, "its own page was taken over");
    switch(&house, first).await.unwrap();
    switch(&house, popup.id).await.unwrap();
    house.web.close("http://shop.test/more");
    quiet().await;
    assert_eq!(current(&house).await, second, "its opener, not the newest");
}

#[tokio::test(start_paused = true)]
async fn logins_are_kept_after_an_act_and_given_back_to_the_next_browser() {
    let house = House::build(&Web::default()).await;
    let tab = house.tab(house.new_tab(HERE).await);
    assert!(house.web.restored().is_empty(), "there are none yet");
    house.web.set_cookies("one");
    act(&tab, click("Add to cart")).await.unwrap().unwrap();
    quiet().await;
    assert_eq!(house.memory.secret("cookies-default").as_deref(), Some("one"));
    // The page sets it a second after the act that led to it.
    act(&tab, click("Add to cart")).await.unwrap().unwrap();
    tokio::time::sleep(SECOND).await;
    house.web.set_cookies("two");
    tokio::time::sleep(3 * SECOND).await;
    assert_eq!(house.memory.secret("cookies-default").as_deref(), Some("two"));

    house.web.kill_browser();
    quiet().await;
    navigate(&tab, HERE).await.unwrap().unwrap();
    assert_eq!(house.web.restored(), ["two"], "the latest copy, once");
}

#[tokio::test(start_paused = true)]
async fn logins_are_kept_at_a_clean_end_and_by_the_next_house() {
    let house = House::build(&Web::default()).await;
    about(&house).await.unwrap();
    house.web.set_cookies("last");
    house.root.stop_and_wait(None, None).await.unwrap();
    let next = House::over(&house.web, house.memory.clone()).await;
    about(&next).await.unwrap();
    assert_eq!(next.web.restored(), ["last"]);
}

#[tokio::test(start_paused = true)]
async fn a_browser_of_somebody_else_keeps_its_own_logins() {
    let memory = Memory::default();
    memory.seal("cookies-theirs", "ours");
    let house = House::over(&Web::default(), memory).await;
    house.add_session_with("theirs", ProfileMode::Attach).await.unwrap();
    let address = house.world.doors.sessions.find(&"theirs".parse().unwrap()).unwrap();
    let new = |reply| SessionMsg::NewTab { url: None, owner: Owner::Shell, reply };
    let tab = house.tab(address.ask(new, MINUTE).await.unwrap().unwrap());
    house.web.set_cookies("theirs");
    evaluate(&tab, "1").await.unwrap().unwrap();
    tokio::time::sleep(5 * SECOND).await;
    house.remove(Seat::Sessions, Seat::SessionGroup("theirs".parse().unwrap())).await.unwrap();
    assert_eq!(house.memory.secret("cookies-theirs").as_deref(), Some("ours"));
    assert!(house.web.restored().is_empty());
}

#[tokio::test(start_paused = true)]
async fn cookies_that_hang_or_fail_hold_nothing_up() {
    for fault in [Fault::Hang, Fault::Refuse] {
        let memory = Memory::default();
        memory.seal("cookies-default", "old");
        let web = Web::default().with(At::Cookies, 1..=99, fault);
        let house = House::over(&web.with(At::Restore, 1..=1, fault), memory).await;
        let tab = house.tab(house.new_tab(HERE).await);
        act(&tab, click("Add to cart")).await.unwrap().unwrap();
        let began = Instant::now();
        house.root.stop_and_wait(None, None).await.unwrap();
        assert!(began.elapsed() <= 6 * SECOND, "{fault:?}: {:?}", began.elapsed());
        assert_eq!(house.web.log().last().unwrap(), "shut down", "{fault:?}: in good order");
        assert_eq!(house.web.under_way(), 0, "{fault:?}");
        assert_eq!(house.memory.secret("cookies-default").as_deref(), Some("old"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_browser_that_dies_under_asks_answers_them_or_the_next_does() {
    let web = Web::default().with(At::Launch, 1..=1, Fault::Slow(HOUR));
    let house = House::build(&web).await;
    let waiting = {
        let session = house.session();
        tokio::spawn(
            async move { session.ask(|reply| SessionMsg::Describe { reply }, MINUTE).await },
        )
    };
    quiet().await;
    house.cell(SESSION).kill();
    waiting.await.unwrap().unwrap_err();
    about(&house).await.unwrap();
    assert_eq!((web.under_way(), web.browsers()), (0, 1));
}
