//! Going places, scripts, and the hands.
use std::time::Duration;

use strawmanus::ports::page::{PageError, PageEvent, RequestKind, Unreachable};
use tokio::time::Instant;

use crate::cdp::stage::{AT_ONCE, LONG, Stage};

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_opened_read_and_called() {
    let stage = Stage::start().await;
    let tab = stage.open("/first").await;
    let landing = tab.page.navigate(&stage.site.url("/second"), LONG).await.unwrap();
    assert_eq!((landing.title.as_str(), landing.status), ("/second", Some(200)));
    assert_eq!(landing.url, stage.site.url("/second"));
    let location = tab.page.location().await.unwrap();
    assert_eq!(location.url, stage.site.url("/second"));

    for (script, value) in [
        ("6 * 7", "42"),
        ("undefined", "null"),
        ("'a\"b'", r#""a\"b""#),
        ("Promise.resolve({ a: [1] })", r#"{"a":[1]}"#),
        ("typeof strawmanus", r#""undefined""#),
        ("navigator.userActivation.isActive", "true"),
        ("document.visibilityState", r#""visible""#),
    ] {
        assert_eq!(tab.eval(script).await, value, "{script}");
    }
    let threw = tab.page.evaluate("null.x", LONG).await.unwrap_err();
    let PageError::Threw(says) = threw else { panic!("{threw:?}") };
    assert!(says.starts_with("TypeError: Cannot read"), "{says}");

    for (function, argument, answer) in [
        ("echo", r#"{"a":[1]}"#, r#"{"a":[1]}"#),
        ("echo", r#""é ""#, "é "),
        ("title", "", "/second"),
        ("later", "20", "late"),
        ("echo", "", "null"),
    ] {
        assert_eq!(tab.page.call(function, argument, LONG).await.unwrap(), answer, "{function}");
    }
    assert_eq!(
        tab.page.call("fail", "", LONG).await,
        Err(PageError::Threw("TypeError: bad argument".into()))
    );
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_is_evaluated_once_in_every_document() {
    let stage = Stage::start().await;
    let tab = stage.open("/first").await;
    for path in ["/a", "/b"] {
        tab.page.navigate(&stage.site.url(path), LONG).await.unwrap();
        for count in ["1", "2"] {
            assert_eq!(tab.page.call("count", "", LONG).await.unwrap(), count, "{path}");
        }
    }
    // The page of another site, which runs in another process.
    tab.page.navigate(&stage.site.other_url("/c"), LONG).await.unwrap();
    assert_eq!(tab.page.call("count", "", LONG).await.unwrap(), "1");
    tab.page.navigate("about:blank", LONG).await.unwrap();
    assert_eq!(tab.page.call("count", "", LONG).await.unwrap(), "1");
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn navigations_end_where_the_site_leads() {
    let stage = Stage::start().await;
    let tab = stage.open("/first").await;
    for (path, ends, status) in [
        ("/plain", "/plain", Some(200)),
        ("/404", "/404", Some(404)),
        ("/empty404", "/empty404", Some(404)),
        ("/302", "/plain", Some(200)),
        ("/js", "/plain", Some(200)),
        ("/timer", "/plain", Some(200)),
        ("/meta", "/plain", Some(200)),
        ("/plain#part", "/plain#part", Some(200)),
        ("/plain#other", "/plain#other", Some(200)),
        ("/slow", "/slow", Some(200)),
    ] {
        let since = Instant::now();
        let landing = tab.page.navigate(&stage.site.url(path), LONG).await.unwrap();
        println!("navigate {path}: {:?}", since.elapsed());
        assert_eq!(landing.url, stage.site.url(ends), "{path}");
        assert_eq!(landing.status, status, "{path}");
    }
    let moved = stage.site.url("/plain#other");
    let events = tab.heard();
    let moved = PageEvent::Navigated { url: moved, same_document: true };
    assert_eq!(events.iter().filter(|event| **event == moved).count(), 1);
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_hangs_beside_the_document_does_not_hold_it() {
    let stage = Stage::start().await;
    let tab = stage.open("/first").await;
    for (path, title, limit) in
        [("/hanging-image", "image", 4000), ("/hanging-script", "script", 6000)]
    {
        let since = Instant::now();
        let landing = tab.page.navigate(&stage.site.url(path), LONG).await.unwrap();
        let took = since.elapsed();
        println!("{path}: {took:?}");
        assert_eq!(landing.title, title);
        assert!(took < Duration::from_millis(limit), "{path} took {took:?}");
    }
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_is_not_reached_is_named_with_the_reason() {
    let stage = Stage::start().await;
    let tab = stage.open("/plain").await;
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for (url, why) in [
        (format!("http://{closed}/"), Unreachable::ConnectionRefused),
        ("http://nowhere.invalid/".into(), Unreachable::DnsFailed),
        (stage.site.url("/nothing"), Unreachable::EmptyReply),
        (stage.site.url("/plain").replace("http", "https"), Unreachable::TlsFailed),
        ("no address".into(), Unreachable::BadUrl),
        (stage.site.url("/204"), Unreachable::Aborted),
        (stage.site.url("/download"), Unreachable::Aborted),
    ] {
        let error = tab.page.navigate(&url, LONG).await.unwrap_err();
        assert!(
            matches!(&error, PageError::Unreachable { why: is, .. } if *is == why),
            "{url}: {error:?}"
        );
        // It was said; the page can be worked with.
        tab.page.settled(LONG).await.unwrap();
    }
    tab.page.navigate("about:blank", LONG).await.unwrap();
    let slow = tab.page.navigate(&stage.site.url("/never"), Duration::from_millis(300)).await;
    assert!(matches!(slow, Err(PageError::TimedOut { what: "navigate", .. })), "{slow:?}");
    // It was given up: the document before it can be worked with.
    assert_eq!(tab.page.settled(LONG).await.unwrap().url, "about:blank");
    assert_eq!(tab.eval("1").await, "1");
    let landing = tab.page.navigate(&stage.site.url("/plain"), LONG).await.unwrap();
    assert_eq!(landing.status, Some(200));
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hands_click_type_and_send() {
    let stage = Stage::start().await;
    let tab = stage.open("/links").await;
    tab.click(120.0).await.unwrap();
    tab.page.insert_text("한글 and ", LONG).await.unwrap();
    for chord in ["e", "Shift+n", "!", "é", "ArrowLeft", "Backspace"] {
        tab.page.press(&chord.parse().unwrap(), LONG).await.unwrap();
    }
    let value = "document.querySelector('input').value";
    assert_eq!(tab.eval(value).await, r#""한글 and eNé""#);
    tab.page.press(&"Control+a".parse().unwrap(), LONG).await.unwrap();
    tab.page.press(&"x".parse().unwrap(), LONG).await.unwrap();
    assert_eq!(tab.eval(value).await, r#""x""#);
    tab.page.press(&"Enter".parse().unwrap(), LONG).await.unwrap();
    let landing = tab.page.settled(LONG).await.unwrap();
    assert_eq!((landing.title.as_str(), landing.status), ("posted", Some(200)));
    let (method, url) = ("POST".to_owned(), stage.site.url("/post"));
    let sent =
        PageEvent::Sent { method: method.clone(), url: url.clone(), kind: RequestKind::Document };
    let answered = PageEvent::Answered { method, url, status: 200 };
    let heard = tab.heard();
    let effects: Vec<_> = heard
        .iter()
        .filter(|event| matches!(event, PageEvent::Sent { .. } | PageEvent::Answered { .. }))
        .collect();
    assert_eq!(effects, [&sent, &answered]);
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_settles_where_it_leads() {
    let stage = Stage::start().await;
    let tab = stage.open("/links").await;
    tab.click(0.0).await.unwrap();
    assert_eq!(tab.page.settled(LONG).await.unwrap().title, "/plain");

    tab.page.navigate(&stage.site.url("/links"), LONG).await.unwrap();
    tab.click(180.0).await.unwrap();
    assert_eq!(tab.page.settled(LONG).await.unwrap().title, "slow");

    tab.page.navigate(&stage.site.url("/links"), LONG).await.unwrap();
    tab.click(150.0).await.unwrap();
    let since = Instant::now();
    assert_eq!(tab.page.settled(LONG).await.unwrap().title, "links");
    assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());

    tab.click(30.0).await.unwrap();
    let dead = tab.page.settled(LONG).await.unwrap_err();
    assert!(matches!(dead, PageError::Unreachable { .. }), "{dead:?}");
    assert_eq!(tab.page.settled(LONG).await.unwrap().url, "http://127.0.0.1:9/");
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_whose_document_goes_away_says_so() {
    let stage = Stage::start().await;
    let tab = stage.open("/plain").await;
    for url in [stage.site.url("/first"), stage.site.other_url("/first")] {
        let script = format!("location = '{url}'; new Promise(() => 0)");
        let gone = tab.page.evaluate(&script, LONG).await;
        assert_eq!(gone, Err(PageError::Navigated { what: "the script" }), "{url}");
        tab.page.settled(LONG).await.unwrap();
    }
    stage.browser.shut_down().await;
}
