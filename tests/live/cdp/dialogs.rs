//! Dialogs, and pages that hang.
use std::time::Duration;

use strawmanus::ports::page::{Dialog, PageError, PageEvent};
use tokio::time::Instant;

use crate::cdp::stage::{AT_ONCE, LONG, Stage, until};

#[tokio::test(flavor = "multi_thread")]
async fn an_open_dialog_holds_nobody() {
    let stage = Stage::start().await;
    let (tab, other) = (stage.open("/links").await, stage.open("/plain").await);
    let since = Instant::now();
    tab.click(90.0).await.unwrap();
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    let dialog = Dialog { kind: "alert".into(), message: "1".into() };
    assert_eq!(tab.heard().last(), Some(&PageEvent::DialogOpened(dialog.clone())));
    let since = Instant::now();
    assert_eq!(tab.page.evaluate("1", LONG).await, Err(PageError::DialogOpen));
    assert_eq!(tab.page.call("count", "", LONG).await, Err(PageError::DialogOpen));
    assert_eq!(tab.click(0.0).await, Err(PageError::DialogOpen));
    assert_eq!(tab.page.settled(LONG).await, Err(PageError::DialogOpen));
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    assert_eq!(tab.page.location().await.unwrap().title, "links");
    let since = Instant::now();
    assert_eq!(other.eval("1").await, "1");
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());

    // Whoever takes the page over hears of it, and can answer.
    let again = stage.try_open(Some(tab.page.target()), "about:blank").await.unwrap();
    assert_eq!(again.heard(), [PageEvent::DialogOpened(dialog)]);
    drop(tab);
    again.page.answer_dialog(true, None).await.unwrap();
    assert_eq!(again.eval("window.after").await, "1");
    assert_eq!(again.heard().last(), Some(&PageEvent::DialogClosed));
    let none = again.page.answer_dialog(true, None).await;
    assert!(matches!(none, Err(PageError::Refused { .. })), "{none:?}");
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_interrupts_what_waits_and_takes_its_answer() {
    let stage = Stage::start().await;
    let tab = stage.open("/plain").await;
    let asked = tab.page.evaluate("window.said = prompt('who?')", LONG).await;
    assert_eq!(asked, Err(PageError::DialogOpen));
    tab.page.answer_dialog(true, Some("me")).await.unwrap();
    assert_eq!(tab.eval("window.said").await, "\"me\"");
    let loading = tab.page.navigate(&stage.site.url("/alert"), LONG).await;
    assert_eq!(loading, Err(PageError::DialogOpen));
    tab.page.answer_dialog(false, None).await.unwrap();
    assert_eq!(tab.page.settled(LONG).await.unwrap().title, "alert");
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_wants_to_be_asked_before_it_goes_is_asked() {
    let stage = Stage::start().await;
    let tab = stage.open("/links").await;
    tab.eval("onbeforeunload = (event) => { event.preventDefault(); return 'stay' }").await;
    tab.click(120.0).await.unwrap();
    let plain = stage.site.url("/plain");
    assert_eq!(tab.page.navigate(&plain, LONG).await, Err(PageError::DialogOpen));
    let kind = |event: &PageEvent| matches!(event, PageEvent::DialogOpened(Dialog { kind, .. }) if kind == "beforeunload");
    assert!(tab.heard().iter().any(kind));
    tab.page.answer_dialog(false, None).await.unwrap();
    assert_eq!(tab.page.settled(LONG).await.unwrap().title, "links");
    assert_eq!(tab.page.navigate(&plain, LONG).await, Err(PageError::DialogOpen));
    tab.page.answer_dialog(true, None).await.unwrap();
    assert_eq!(tab.page.settled(LONG).await.unwrap().url, plain);
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_hangs_hangs_alone() {
    let stage = Stage::start().await;
    let hung = stage.open("/plain").await;
    // Another site, so another process.
    let other = stage.try_open(None, &stage.site.other_url("/plain")).await.unwrap();
    other.page.settled(LONG).await.unwrap();
    hung.eval("onbeforeunload = () => 'x'; setTimeout(() => { while (true); }); 1").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut slowest = Duration::ZERO;
    for _ in 0..50 {
        let since = Instant::now();
        other.eval("1").await;
        slowest = slowest.max(since.elapsed());
    }
    println!("beside a page that hangs: slowest of 50 {slowest:?}");
    assert!(slowest < AT_ONCE, "{slowest:?}");
    let patience = Duration::from_millis(300);
    let what = "the script";
    assert_eq!(
        hung.page.evaluate("1", patience).await,
        Err(PageError::TimedOut { what, patience })
    );
    assert_eq!(hung.page.location().await.unwrap().url, stage.site.url("/plain"));
    let since = Instant::now();
    stage.browser.close_target(&hung.page.target()).await.unwrap();
    println!("a page that hangs was closed after {:?}", since.elapsed());
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    hung.hears(|event| *event == PageEvent::Gone).await;
    assert_eq!(hung.page.evaluate("1", LONG).await, Err(PageError::Gone));
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_script_that_hangs_is_ended() {
    let stage = Stage::start().await;
    let tab = stage.open("/plain").await;
    let patience = Duration::from_millis(300);
    let hung = tab.page.evaluate("while (true);", patience).await;
    assert!(matches!(hung, Err(PageError::TimedOut { .. })), "{hung:?}");
    assert_eq!(tab.eval("1").await, "1");
    // A closed one is closed.
    let target = tab.page.target();
    stage.browser.close_target(&target).await.unwrap();
    stage.browser.close_target(&target).await.unwrap();
    until("the end", || tab.heard().contains(&PageEvent::Gone)).await;
    stage.browser.shut_down().await;
}
