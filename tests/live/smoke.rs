//! The way through all layers: a command, the daemon, the actors, Chromium, a site.
use strawmanus::practice::server::{Options, Practice};

use crate::support::shell::Shell;

#[test]
fn a_page_is_opened_read_acted_on_and_closed() {
    let practice = Practice::start(Options::default()).unwrap();
    let shell = Shell::new();
    let opened = shell.run(&["open", &practice.url("shop", "/")]).good();
    assert_eq!((opened.word(), opened.data("status")), ("navigated", &200.into()));
    let seen = shell.run(&["observe"]).good();
    assert!(seen.data("text").as_str().unwrap().starts_with("[page] url=http://shop.localhost:"));

    let filled = shell.run(&["fill", "role=searchbox", "lamp", "--press-enter"]).good();
    assert_eq!(filled.word(), "navigated", "{filled:?}");
    assert_eq!(practice.count("GET", "/search"), 1);
    shell.run(&["wait", "--text", "desk lamp"]).good();
    assert_eq!(shell.run(&["get", "title"]).good().data("value"), "Search · Finch & Fern");

    let tab = shell.run(&["tab", "new", &practice.url("mail", "/")]).good();
    let list = shell.run(&["tab", "list"]).good();
    assert_eq!(list.data("tabs").as_array().unwrap().len(), 2);
    let id = tab.data("tab").to_string();
    shell.run(&["tab", "close", &id]).good();
    assert_eq!(shell.run(&["tab", "list"]).good().data("tabs").as_array().unwrap().len(), 1);
}
