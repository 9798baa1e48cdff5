//! Everything that can die, in the middle of a call.
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use strawmanus::ports::browser::BrowserEvent;
use strawmanus::ports::page::{PageError, PageEvent};
use tokio::time::Instant;

use crate::cdp::stage::{AT_ONCE, LONG, OtherClient, Stage, Tab, group, kill, renderer, until};

const NEVER: &str = "new Promise(() => 0)";

/// Starts a script that never ends.
fn waiting(tab: &Tab) -> tokio::task::JoinHandle<(Result<String, PageError>, Instant)> {
    let page = Arc::clone(&tab.page);
    tokio::spawn(async move {
        let answer = page.evaluate(NEVER, Duration::from_secs(60)).await;
        (answer, Instant::now())
    })
}

async fn moment() {
    tokio::time::sleep(Duration::from_millis(100)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_renderer_answers_at_once_and_its_tab_comes_back() {
    let stage = Stage::start().await;
    let tab = stage.open("/plain").await;
    let other = stage.try_open(None, &stage.site.other_url("/plain")).await.unwrap();
    other.page.settled(LONG).await.unwrap();
    let pid = renderer(&stage, &tab).await;
    for round in 0..3 {
        let pid = if round == 0 { pid } else { renderer(&stage, &tab).await };
        let call = waiting(&tab);
        moment().await;
        let since = Instant::now();
        kill(pid);
        let (answer, at) = call.await.unwrap();
        let answered = at - since;
        assert_eq!(answer, Err(PageError::Crashed));
        assert_eq!(tab.page.evaluate("1", LONG).await, Err(PageError::Crashed));
        let again =
            stage.try_open(Some(tab.page.target()), &stage.site.url("/plain")).await.unwrap();
        again.page.settled(LONG).await.unwrap();
        assert_eq!(again.page.call("count", "", LONG).await.unwrap(), "1");
        let usable = since.elapsed();
        println!("renderer killed: answered after {answered:?}, usable after {usable:?}");
        assert!(answered < AT_ONCE, "{answered:?}");
        assert!(usable < 2 * AT_ONCE, "{usable:?}");
        assert_eq!(again.eval("document.title").await, "\"/plain\"");
        assert_eq!(other.eval("1").await, "1");
    }
    let crashes = tab.heard().iter().filter(|event| **event == PageEvent::Crashed).count();
    assert_eq!(crashes, 1, "the first opening heard of the first death only");
    assert!(!other.heard().contains(&PageEvent::Crashed));
    assert!(stage.events.lock().unwrap().is_empty());
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revived_page_sends_no_form_again() {
    let stage = Stage::start().await;
    let tab = stage.open("/links").await;
    tab.click(120.0).await.unwrap();
    tab.page.press(&"Enter".parse().unwrap(), LONG).await.unwrap();
    assert_eq!(tab.page.settled(LONG).await.unwrap().title, "posted");
    let url = tab.page.location().await.unwrap().url;
    kill(renderer(&stage, &tab).await);
    tab.hears(|event| *event == PageEvent::Crashed).await;
    let again = stage.try_open(Some(tab.page.target()), &url).await.unwrap();
    assert_eq!(again.page.settled(LONG).await.unwrap().url, url);
    assert_eq!((stage.site.count("POST /post"), stage.site.count("GET /post")), (1, 1));
    // The page lives on as any other: events are followed, forms are heard.
    again.page.navigate(&stage.site.url("/links"), LONG).await.unwrap();
    again.click(120.0).await.unwrap();
    again.page.press(&"Enter".parse().unwrap(), LONG).await.unwrap();
    assert_eq!(again.page.settled(LONG).await.unwrap().title, "posted");
    again.hears(|event| matches!(event, PageEvent::Sent { .. })).await;
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_answers_every_kind_of_call_even_of_a_page_that_hangs() {
    let stage = Stage::start().await;
    let tab = stage.open("/plain").await;
    let mut other = OtherClient::of(&stage).await;
    let target = json!({"targetId": tab.page.target().0, "flatten": true});
    let session = other.call("Target.attachToTarget", target).await;
    tab.eval("setTimeout(() => { while (true); }, 200); 1").await;
    let calls = tokio::spawn({
        let page = Arc::clone(&tab.page);
        async move {
            let enter = "Enter".parse().unwrap();
            tokio::join!(
                async { page.evaluate(NEVER, LONG).await.err() },
                async { page.call("later", "60000", LONG).await.err() },
                async {
                    moment().await;
                    moment().await;
                    moment().await;
                    page.press(&enter, LONG).await.err()
                },
            )
        }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let since = Instant::now();
    other.send(session["sessionId"].as_str(), "Page.crash", json!({})).await;
    let crashed = Some(PageError::Crashed);
    let (evaluated, called, pressed) = calls.await.unwrap();
    println!("crashed by another client: answered after {:?}", since.elapsed());
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
    assert_eq!([evaluated, called, pressed], [(); 3].map(|()| crashed.clone()));
    let url = stage.site.url("/plain");
    let again = stage.try_open(Some(tab.page.target()), &url).await.unwrap();
    assert_eq!(again.page.settled(LONG).await.unwrap().title, "/plain");
    assert_eq!(again.eval("1").await, "1");
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_another_client_closes_is_gone() {
    let stage = Stage::start().await;
    let tab = stage.open("/plain").await;
    let call = waiting(&tab);
    moment().await;
    let since = Instant::now();
    let target = tab.page.target();
    let mut other = OtherClient::of(&stage).await;
    other.call("Target.closeTarget", json!({"targetId": target.0})).await;
    let (answer, at) = call.await.unwrap();
    println!("closed by another client: answered after {:?}", at - since);
    assert_eq!(answer, Err(PageError::Gone));
    assert!(at - since < AT_ONCE);
    tab.hears(|event| *event == PageEvent::Gone).await;
    assert_eq!(tab.heard().iter().filter(|event| **event == PageEvent::Gone).count(), 1);
    let again = stage.try_open(Some(target), "about:blank").await;
    assert_eq!(again.err(), Some(PageError::Gone));
    assert_eq!(tab.page.location().await, Err(PageError::Gone));
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_browser_answers_at_once_and_leaves_nothing() {
    let stage = Stage::start().await;
    let (tab, idle) = (stage.open("/plain").await, stage.open("/plain").await);
    let call = waiting(&tab);
    moment().await;
    let pid = stage.pid();
    let since = Instant::now();
    kill(pid);
    let (answer, at) = call.await.unwrap();
    println!("browser killed: answered after {:?}", at - since);
    assert_eq!(answer, Err(PageError::Lost));
    assert!(at - since < AT_ONCE);
    assert_eq!(idle.page.evaluate("1", LONG).await, Err(PageError::Lost));
    assert_eq!(idle.page.settled(LONG).await, Err(PageError::Lost));
    until("the news", || !stage.events.lock().unwrap().is_empty()).await;
    until("the group's end", || group(pid).is_empty()).await;
    println!("nothing of its group left after {:?}", since.elapsed());
    let events = stage.events.lock().unwrap().clone();
    assert!(matches!(&events[..], [BrowserEvent::Died { .. }]), "{events:?}");
}
