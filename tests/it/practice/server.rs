//! Ports, ledger, holds, and what is broken on purpose.
use std::net::{Ipv4Addr, TcpStream as BlockingStream};
use std::time::Duration;

use strawmanus::practice::ledger::Received;
use strawmanus::practice::raw::Raw;
use strawmanus::practice::server::{Options, Practice};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::practice::visitor::{Visitor, client};
use crate::tls::Tls;

fn start() -> Practice {
    Practice::start(Options::default()).unwrap()
}

#[tokio::test]
async fn the_host_picks_the_site_on_every_port() {
    let practice = start();
    let mut visitor = Visitor::new();
    for at in 0..3 {
        for (host, heading) in [
            ("shop.localhost", "All products"),
            ("mail.localhost", "Inbox"),
            ("news.localhost", "This week"),
            ("127.0.0.1", "Practice sites"),
        ] {
            let page = visitor.get(&practice.url_at(at, host, "/")).await;
            assert_eq!(page.status, 200);
            assert!(page.text.contains(&format!("<h1>{heading}</h1>")), "{host}: {}", page.text);
        }
    }
    assert_eq!(practice.port(3), practice.port(0));
    assert_ne!(practice.port(1), practice.port(0));
}

#[tokio::test]
async fn the_ledger_has_each_request_once_and_as_it_was_sent() {
    let practice = start();
    let mut visitor = Visitor::new();
    visitor.cookies.insert("a".into(), "1".into());
    visitor.get(&practice.url("shop", "/search?q=desk+lamp")).await;
    visitor.post(&practice.url("test", "/t/post-only"), &[("kind", "a & b")]).await;
    visitor.get(&practice.url("shop", "/favicon.ico")).await;
    visitor.get(&practice.url("shop", "/nowhere")).await;

    let rows = practice.ledger();
    let brief: Vec<_> = rows.iter().map(|r| (r.n, r.method.as_str(), r.path.as_str())).collect();
    assert_eq!(brief, [(1, "GET", "/search"), (2, "POST", "/t/post-only"), (3, "GET", "/nowhere")]);
    assert_eq!(rows[0].query, "q=desk+lamp");
    assert_eq!(rows[0].host, "shop.localhost");
    assert_eq!(rows[0].origin, practice.url("shop", ""));
    assert_eq!(rows[0].cookie("a"), Some("1"));
    assert_eq!(rows[1].field("kind").as_deref(), Some("a & b"));
    assert_eq!(practice.count("POST", "/t/post-only"), 1);
    assert_eq!(practice.count("GET", "/t/post-only"), 0);

    let told = visitor.get(&practice.url("news", "/__ledger")).await.text;
    assert_eq!(serde_json::from_str::<Vec<Received>>(&told).unwrap(), rows);
    assert_eq!(practice.ledger(), rows);
}

#[tokio::test]
async fn a_held_request_waits_until_it_is_let_go() {
    let practice = start();
    let url = practice.url("test", "/t/hold-document?name=mine");
    let held = tokio::spawn(async move { Visitor::new().get(&url).await });
    practice.reached("mine", 1).await;
    assert!(!held.is_finished());
    practice.release("mine");
    assert!(held.await.unwrap().text.contains("Released: mine"));
    practice.reached("mine", 0).await;

    // A release is not lost on those who come late; after `shut` they wait again.
    Visitor::new().get(&practice.url("test", "/__hold/mine")).await;
    practice.shut("mine");
    let url = practice.url("test", "/__hold/mine");
    let held = tokio::spawn(async move { Visitor::new().get(&url).await });
    practice.reached("mine", 1).await;
    Visitor::new().post(&practice.url("shop", "/__release/mine"), &[]).await;
    assert_eq!(held.await.unwrap().status, 200);
    assert_eq!(practice.count("POST", "/__release/mine"), 0);
    assert_eq!(practice.count("GET", "/__hold/mine"), 2);
}

#[tokio::test]
async fn who_goes_away_waits_no_more() {
    let practice = start();
    let url = practice.url("test", "/__hold/left");
    let held = tokio::spawn(async move { Visitor::new().get(&url).await });
    practice.reached("left", 1).await;
    held.abort();
    practice.reached("left", 0).await;
    assert_eq!(practice.waiting("left"), 0);
}

#[tokio::test]
async fn dropping_it_ends_open_requests_and_closes_every_port() {
    let practice = start();
    let ports = [practice.port(0), practice.port(1), practice.raw_port(Raw::Silent)];
    let http = client().build().unwrap();
    let held = tokio::spawn(http.get(practice.url("test", "/__hold/for-ever")).send());
    practice.reached("for-ever", 1).await;
    drop(practice);
    held.await.unwrap().unwrap_err();
    for port in ports {
        BlockingStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap_err();
    }
}

#[tokio::test]
async fn broken_ports_break_as_they_promise() {
    let practice = start();
    let http = client().build().unwrap();
    let ask = |port| http.get(format!("http://127.0.0.1:{port}/")).send();

    let refused = ask(practice.refused_port()).await.unwrap_err();
    assert!(refused.is_connect(), "{refused:?}");
    for raw in [Raw::EmptyReply, Raw::Garbage] {
        let broken = ask(practice.raw_port(raw)).await.unwrap_err();
        assert!(!broken.is_connect(), "{raw:?}: {broken:?}");
    }
    let cut = ask(practice.raw_port(Raw::CutShort)).await.unwrap();
    assert_eq!(cut.status(), 200);
    cut.text().await.unwrap_err();

    let silent = (Ipv4Addr::LOCALHOST, practice.raw_port(Raw::Silent));
    let mut stream = TcpStream::connect(silent).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let said = tokio::time::timeout(Duration::from_millis(100), stream.read(&mut [0])).await;
    said.unwrap_err();
}

#[tokio::test]
async fn a_certificate_of_our_own_is_refused_unless_asked_not_to_care() {
    let tls = Tls::start().await;
    let strict = client().build().unwrap().get(tls.url()).send().await.unwrap_err();
    assert!(format!("{strict:?}").to_lowercase().contains("certificate"), "{strict:?}");
    let careless = client().tls_danger_accept_invalid_certs(true).build().unwrap();
    let page = careless.get(tls.url()).send().await.unwrap().text().await.unwrap();
    assert!(page.ends_with("<p>inside"), "{page}");
}
