//! What the sites and the test pages answer.
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use strawmanus::practice::server::{Options, Practice};
use url::Url;

use crate::practice::visitor::Visitor;

/// Pages of the index that answer with something else than a page, on purpose.
const NO_PAGES: [&str; 2] = ["/t/empty-reply", "/t/hold-document"];

fn start() -> Practice {
    Practice::start(Options::default()).unwrap()
}

/// Every address that `html`, found at `base`, leads to or loads.
fn addresses(html: &str, base: &Url) -> Vec<Url> {
    let quoted =
        |attribute| html.split(attribute).skip(1).filter_map(|s: &str| s.split('"').next());
    let found = quoted("href=\"").chain(quoted("src=\"")).chain(quoted("action=\""));
    found.map(|address| base.join(&address.replace("&amp;", "&")).unwrap()).collect()
}

#[tokio::test]
async fn every_link_leads_to_a_finished_page_on_this_machine() {
    let practice = start();
    let mut visitor = Visitor::new();
    let start = Url::parse(&practice.url_at(0, "127.0.0.1", "/")).unwrap();
    let mut open = vec![start];
    let mut seen = BTreeSet::new();
    while let Some(url) = open.pop() {
        let skip = NO_PAGES.contains(&url.path()) || url.path().starts_with("/__hold/");
        if skip || !seen.insert(url.clone()) {
            continue;
        }
        let host = url.host_str().unwrap();
        assert!(host == "127.0.0.1" || host.ends_with(".localhost"), "{url} is elsewhere");
        let page = visitor.get(url.as_str()).await;
        assert!(!page.text.contains("{{"), "{url} is not filled in: {}", page.text);
        assert!(!page.text.contains("<!--"), "{url} shows a comment for its authors");
        match (page.status, url.path()) {
            (302, _) => open.push(url.join(&page.location).unwrap()),
            // What a form posts to has no page of its own.
            (404, "/orders" | "/send" | "/logout" | "/t/logout") => {}
            (status, path) if path.starts_with("/t/status/") => {
                assert_eq!(path, format!("/t/status/{status}"));
            }
            (status, _) => assert_eq!(status, 200, "{url}"),
        }
        // Hundreds of links to one and the same page.
        if url.path() != "/t/many-links" {
            open.extend(addresses(&page.text, &url));
        }
    }
    let seen: Vec<_> = seen.iter().map(Url::as_str).collect();
    let pages = |host: &str| seen.iter().filter(|url| url.contains(host)).count();
    assert!(pages("shop.localhost") > 18, "{seen:#?}");
    assert!(pages("mail.localhost") >= 12 && pages("news.localhost") >= 7, "{seen:#?}");
    assert!(pages("test.localhost") > 35 && pages("frames.localhost") == 1, "{seen:#?}");
}

#[test]
fn every_text_says_at_its_head_what_it_is_for_and_loads_nothing_from_elsewhere() {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/practice/site")];
    let mut texts = 0;
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let head = match path.extension().and_then(|extension| extension.to_str()) {
                Some("html" | "svg") => "<!-- ",
                Some("css") => "/* ",
                Some("js") => "// ",
                Some("toml") => "# ",
                _ => panic!("{} is of no kind that we serve", path.display()),
            };
            assert!(text.starts_with(head), "{} does not say what it is for", path.display());
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains("://"), "{} names another place", path.display());
            texts += 1;
        }
    }
    assert!(texts > 50, "only {texts} texts were found");
}

#[tokio::test]
async fn a_cart_belongs_to_its_visitor_and_becomes_an_order_once() {
    let practice = start();
    let (mut one, mut other) = (Visitor::new(), Visitor::new());
    let cart = practice.url("shop", "/cart");
    let added = one.post(&cart, &[("product", "heron-desk-lamp"), ("quantity", "2")]).await;
    assert_eq!((added.status, added.location.as_str()), (303, "/cart"));
    one.post(&cart, &[("product", "seed-tin"), ("quantity", "1")]).await;
    let page = one.get(&cart).await.text;
    assert!(
        page.contains("Cart (3)") && page.contains("€97.00") && page.contains("€106.75"),
        "{page}"
    );
    assert!(other.get(&cart).await.text.contains("Your cart is empty"));
    assert_eq!(one.post(&cart, &[("product", "nothing")]).await.status, 404);

    let orders = practice.url("shop", "/orders");
    let placed = one.post(&orders, &[("name", "Ada <b>")]).await;
    assert_eq!((placed.status, placed.location.as_str()), (303, "/orders/1"));
    let order = one.get(&practice.url("shop", "/orders/1")).await.text;
    assert!(order.contains("Ada &lt;b&gt;") && order.contains("€106.75"), "{order}");
    assert!(one.get(&cart).await.text.contains("Your cart is empty"));
    assert_eq!(one.get(&practice.url("shop", "/orders/0")).await.status, 404);
}

#[tokio::test]
async fn signing_in_gives_a_cookie_that_lasts_and_one_that_does_not() {
    let practice = start();
    let mut visitor = Visitor::new();
    let url = |path| practice.url("shop", path);
    let wrong = visitor.post(&url("/login"), &[("user", "ada"), ("password", "guess")]).await;
    assert_eq!(wrong.status, 401);
    assert!(wrong.set_cookies.is_empty() && wrong.text.contains("do not belong together"));
    assert!(visitor.get(&url("/account")).await.text.contains("<h1>Sign in</h1>"));

    let right = visitor.post(&url("/login"), &[("user", "ada"), ("password", "practice")]).await;
    assert_eq!((right.status, right.location.as_str()), (303, "/account"));
    let lasts: Vec<_> = right.set_cookies.iter().map(|c| c.contains("Max-Age=2592000")).collect();
    assert_eq!(lasts, [false, true], "{:?}", right.set_cookies);
    let account = visitor.get(&url("/account")).await.text;
    assert!(account.contains("Signed in as <strong>ada</strong>"), "{account}");
    assert!(account.contains("session cookie: yes"), "{account}");

    // As after a restart of the browser.
    visitor.cookies.remove("session");
    let account = visitor.get(&url("/account")).await.text;
    assert!(account.contains("<strong>ada</strong>"), "{account}");
    assert!(account.contains("session cookie: no") && account.contains("persistent cookie: yes"));
    visitor.post(&url("/logout"), &[]).await;
    assert!(visitor.get(&url("/account")).await.text.contains("<h1>Sign in</h1>"));

    let token = "remember=guessed".split_once('=').unwrap();
    visitor.cookies.insert(token.0.into(), token.1.into());
    assert!(visitor.get(&url("/account")).await.text.contains("<h1>Sign in</h1>"));
}

#[tokio::test]
async fn a_message_is_sent_or_kept_as_a_draft() {
    let practice = start();
    let mut visitor = Visitor::new();
    let url = |path| practice.url("mail", path);
    let fields = [("to", "mira@example.org"), ("subject", "Lamp"), ("body", "It is \"Heron\"")];
    let kept = visitor.post(&url("/drafts"), &fields).await;
    assert_eq!((kept.status, kept.location.as_str()), (303, "/drafts"));
    assert!(visitor.get(&url("/drafts")).await.text.contains("Drafts (1)"));
    let again = visitor.get(&url("/compose?n=1")).await.text;
    assert!(again.contains("value=\"mira@example.org\"") && again.contains("&quot;Heron&quot;"));

    assert!(visitor.get(&url("/sent")).await.text.contains("There is nothing here."));
    let sent = visitor.post(&url("/send"), &fields).await;
    assert_eq!((sent.status, sent.location.as_str()), (303, "/sent"));
    let list = visitor.get(&url("/sent")).await.text;
    assert!(list.contains("Sent (1)") && list.contains("mira@example.org"), "{list}");
}

#[tokio::test]
async fn opening_a_message_marks_it_read() {
    let practice = start();
    let mut visitor = Visitor::new();
    let mut unread = async || {
        let inbox = visitor.get(&practice.url("mail", "/")).await.text;
        let before = inbox.matches("class=\"unread\"").count();
        visitor.get(&practice.url("mail", "/messages/1")).await;
        before
    };
    assert_eq!(unread().await, 2);
    assert_eq!(unread().await, 1);
}

#[tokio::test]
async fn test_pages_count_redirect_and_fail_as_told() {
    let practice = start();
    let mut visitor = Visitor::new();
    let url = |path| practice.url("test", path);
    for n in 1..=2 {
        let page = visitor.post(&url("/t/post-form"), &[("word", "a<b")]).await;
        assert_eq!(page.status, 200);
        assert!(page.text.contains("a&lt;b") && page.text.contains(&format!("POST number {n}")));
    }
    visitor.get(&url("/t/counter")).await;
    assert!(visitor.get(&url("/t/counter")).await.text.contains("count: 2"));
    assert!(visitor.get(&url("/t/counter?name=x-1")).await.text.contains("x-1: 1"));
    assert!(!visitor.get(&url("/t/counter?name=%27)")).await.text.contains("')"));

    assert_eq!(visitor.get(&url("/t/redirect/2")).await.location, "/t/redirect/1");
    assert!(visitor.get(&url("/t/redirect/0")).await.text.contains("Arrived"));
    assert_eq!(visitor.get(&url("/t/status/503")).await.status, 503);
    for path in ["/t/status/99", "/t/status/700", "/t/redirect/-1", "/t/nothing"] {
        assert_eq!(visitor.get(&url(path)).await.status, 404, "{path}");
    }
    assert_eq!(visitor.post(&url("/t/blank"), &[]).await.status, 404);
}

#[tokio::test]
async fn long_pages_are_as_long_as_asked() {
    let practice = start();
    let mut visitor = Visitor::new();
    let mut count = async |path: &str, what: &str| {
        visitor.get(&practice.url("test", path)).await.text.matches(what).count()
    };
    assert_eq!(count("/t/many-links?n=7", "<a ").await, 7);
    assert_eq!(count("/t/table?rows=3", "<td>").await, 30);
    assert_eq!(count("/t/table?rows=3", "<tr>").await, 4);
    assert_eq!(count("/t/deep?n=2000", "i < 2000").await, 1);
}

#[tokio::test]
async fn cookies_come_back_on_the_next_visit() {
    let practice = start();
    let mut visitor = Visitor::new();
    let url = practice.url("test", "/t/set-cookie");
    let first = visitor.get(&url).await;
    assert_eq!(first.set_cookies.len(), 2);
    assert!(first.text.contains("received: </p>"), "{}", first.text);
    let next = visitor.get(&url).await.text;
    assert!(next.contains("received: by_header=1; hidden=1"), "{next}");
}

#[tokio::test]
async fn frames_lead_to_another_origin_and_to_another_site() {
    let practice = start();
    let page = Visitor::new().get(&practice.url("test", "/t/frame")).await.text;
    let next = practice.port(1);
    assert!(page.contains(&format!("http://test.localhost:{next}/t/frame-child?name=port")));
    assert!(page.contains(&format!("http://frames.localhost:{next}/t/frame-child?name=site")));
}
