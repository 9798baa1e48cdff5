//! What the pure parts of a step take by themselves, on recorded pages: medians.
use std::hint::black_box;
use std::time::Duration;

use strawmanus::domain::guard::{Case, Words, classify};
use strawmanus::domain::page::change::changes;
use strawmanus::domain::page::numbering::Numbering;
use strawmanus::domain::page::observation::View;
use strawmanus::domain::page::render::render;
use strawmanus::domain::tool::ToolCall;
use strawmanus::model::remote::{Remote, Setup};
use strawmanus::model::service::Proxies;
use strawmanus::perception::decode::decode;
use strawmanus::ports::model::{Conversation, Message, Model, Turn};
use strawmanus::practice::model::ModelService;

use crate::ms;
use crate::support::pace::median;
use crate::support::shell::now;

const TIMES: usize = 51;
const TURNS: usize = 20;

pub fn table() {
    println!("\n| by itself, median of {TIMES} | ms |");
    println!("|---|---|");
    for (name, raw) in [
        ("form", include_str!("../../tests/pages/form.json")),
        ("news, 306 links", include_str!("../../tests/pages/news.json")),
    ] {
        page(name, raw);
    }
    guard();
    conversation();
}

fn page(name: &str, raw: &str) {
    let tree = decode(raw).expect("a recorded answer");
    let mut numbering = Numbering::default();
    let seen = render(&tree, &View::Payload, 1, &mut numbering);
    row(&format!("{name}: decode"), || decode(raw));
    row(&format!("{name}: render"), || render(&tree, &View::Payload, 1, &mut numbering.clone()));
    row(&format!("{name}: compare with the page before"), || changes(&seen, &seen));
}

fn guard() {
    let words = Words::parse(include_str!("../../config/guard.toml")).expect("a table");
    let case = Case {
        deed: "click".into(),
        url: "https://shop.test/basket".into(),
        tag: "button".into(),
        role: "button".into(),
        name: "Continue to delivery".into(),
        ..Case::default()
    };
    row("the guard classifies one press", || classify(&case, &words));
}

/// As the loop asks: the body is built and sent, and the answer is read.
fn conversation() {
    let call = "{\"tool\":\"browser_view\",\"args\":{}}\n";
    let service = ModelService::start(&call.repeat(TURNS + 1)).expect("a script");
    let setup = Setup {
        wire: None,
        base_url: service.anthropic(),
        model: "practice-script".into(),
        sees: None,
        key: None,
    };
    let remote = Remote::new(setup, Proxies::default()).expect("a service");
    let message =
        || Message { text: "changed\n+ 12[:]<button>Send</button>\n".repeat(40), picture: None };
    let raw = "{\"content\":[{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"browser_view\",\"input\":{}}]}";
    let turn = || Turn { message: message(), raw: raw.into(), call: Some(ToolCall::View {}) };
    let turns = (0..TURNS).map(|_| turn()).collect();
    let asked = Conversation { turns, newest: message(), number: TURNS, most_tokens: None };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    row("a conversation of 20 turns: built, sent, answered and read", || {
        runtime.block_on(remote.answer(&asked)).map_err(|failed| failed.error).expect("an answer")
    });
}

fn row<T>(what: &str, mut work: impl FnMut() -> T) {
    let times: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let began = now();
            black_box(work());
            began.elapsed()
        })
        .collect();
    println!("| {what} | {:.2} |", ms(median(times)));
}
