//! Models: a service over real HTTP on both wires, in good order and slipping; scripts.
mod final_answers;
mod slips;
mod table;

use std::time::Duration;

use axum::Router;
use axum::response::Redirect;
use serde_json::{Value, json};
use strawmanus::domain::ids::ElementId;
use strawmanus::domain::tool::{Index, Place, ToolCall};
use strawmanus::model::retry::Retry;
use strawmanus::model::script::Script;
use strawmanus::model::wire::Wire;
use strawmanus::ports::model::{Conversation, Meaning, Model, ModelError};
use table::{SCRIPT, Table, WIRES};

/// A request without what is long and tested elsewhere.
fn short(body: &Value) -> Value {
    let mut body = body.clone();
    let names = |tool: &Value| {
        let name =
            if tool["function"].is_object() { &tool["function"]["name"] } else { &tool["name"] };
        name.clone()
    };
    let tools: Vec<_> = body["tools"].as_array().unwrap().iter().map(names).collect();
    body["tools"] = json!([tools[0], format!("and {} more", tools.len() - 1)]);
    if body["system"].is_array() {
        body["system"][0]["text"] = json!("…");
    } else {
        body["messages"][0]["content"] = json!("…");
    }
    body
}

#[tokio::test]
async fn a_turn_is_one_request_and_its_answer_is_kept_as_it_came() {
    for wire in WIRES {
        let mut table = Table::lay(wire, SCRIPT);
        assert_eq!((table.model.name().as_str(), table.model.sees()), ("claude-test", true));
        let answer = table.ask().await.unwrap();
        let place = Place { index: Some(Index::Number(ElementId(3))), ..Place::default() };
        assert_eq!(answer.meaning, Meaning::Call(ToolCall::Click(place)));
        assert_eq!((answer.usage, answer.note), (table.service.tokens(), None));
        assert!(answer.usage.input > 1_000 && answer.usage.output > 0);
        table.told("changed");
        table.ask().await.unwrap();

        let asked = table.service.asked();
        let key = if wire == Wire::Anthropic { "x-api-key" } else { "authorization" };
        assert!(asked[0].headers[key].to_str().unwrap().ends_with("sk-test"));
        assert_eq!(asked[0].headers["content-type"], "application/json");
        let version = asked[0].headers.get("anthropic-version").map(|it| it.to_str().unwrap());
        assert_eq!(version, (wire == Wire::Anthropic).then_some("2023-06-01"));
        let mut raw: Value = serde_json::from_str(&answer.raw).unwrap();
        assert!(raw["usage"].is_object());
        raw["usage"] = json!("…");
        let said = json!({ "raw": raw, "then": short(&asked[1].body) });
        insta::assert_snapshot!(format!("{wire:?}"), serde_json::to_string_pretty(&said).unwrap());
    }
}

#[tokio::test]
async fn what_was_read_before_comes_from_the_cache() {
    for wire in WIRES {
        let mut table = Table::lay(wire, SCRIPT);
        table.ask().await.unwrap();
        table.told("changed");
        let answer = table.ask().await.unwrap();
        let share = answer.usage.cached as f64 / answer.usage.input as f64;
        assert!(share > 0.9, "{wire:?}: {:?}", answer.usage);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    for wire in WIRES {
        let elsewhere = Table::lay(wire, SCRIPT);
        let to = wire.endpoint(&elsewhere.base()).unwrap().to_string();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let moved = move || async move { Redirect::temporary(&to) };
        let app = Router::new().fallback(moved);
        let serving = tokio::spawn(async move { axum::serve(listener, app).await });
        let model = table::model(wire, &base);
        let failed = model.answer(&Conversation::default()).await.unwrap_err();
        assert!(matches!(failed.error, ModelError::Status { status: 307, .. }), "{failed:?}");
        assert_eq!(elsewhere.service.asked().len(), 0);
        serving.abort();
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_is_said() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let retry = Retry { most: 1, first: Duration::from_millis(5), ..Retry::default() };
    let model = table::model(Wire::OpenAi, &base).with_retry(retry);
    let failed = model.answer(&Conversation::default()).await.unwrap_err();
    assert!(matches!(failed.error, ModelError::Unreachable(_)), "{failed:?}");
    assert!(failed.error.to_string().contains("refused"), "{}", failed.error);
}

#[tokio::test]
async fn a_script_plays_a_line_a_turn_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("buy.jsonl");
    let click = r#"{"tool":"browser_click","args":{"index":{"role":"button","name":"Send"}}}"#;
    let finish = r#"{"tool":"finish","args":{"answer":"done"}}"#;
    std::fs::write(&path, format!("{click}\n\n{finish}\n")).unwrap();
    let script = Script::read(&path).unwrap();
    assert_eq!(script.name(), format!("script:{}", path.display()));
    let turn = |number| Conversation { number, ..Conversation::default() };
    let said = |meaning: &Meaning| match meaning {
        Meaning::Call(call) => call.what(),
        Meaning::Fault { why, .. } => panic!("{why}"),
    };
    let first = script.answer(&turn(0)).await.unwrap();
    assert_eq!((first.raw.as_str(), said(&first.meaning).as_str()), (click, "click button 'Send'"));
    let second = script.answer(&turn(1)).await.unwrap();
    assert_eq!(said(&second.meaning), "finish");
    // After a resume, a turn is asked for again by its number.
    assert_eq!(script.answer(&turn(0)).await.unwrap(), first);
    let over = script.answer(&turn(2)).await.unwrap_err();
    assert_eq!(over.error, ModelError::ScriptOver { turn: 2 });
}

#[test]
fn a_script_names_the_addresses_that_it_goes_to() {
    let text = r#"{"tool":"browser_navigate","args":{"url":"http://a.test/x"}}
        {"tool":"record_fact","args":{"claim":"c","entity":"e","attribute":"a","value":"v","url":"http://b.test/"}}
        {"tool":"browser_tabs","args":{"action":"new","url":"http://c.test/"}}
        {"tool":"browser_restart","args":{"url":"http://d.test/"}}"#;
    let script = Script::parse("s", text).unwrap();
    assert_eq!(script.addresses(), ["http://a.test/x", "http://c.test/", "http://d.test/"]);
}

#[test]
fn a_bad_script_says_its_line() {
    let finish = r#"{"tool":"finish","args":{"answer":"done"}}"#;
    let mut says: Vec<_> = [
        String::new(),
        "\n\n".into(),
        format!("{finish}\n{{\"tool\""),
        format!("\n{finish}\n{{\"tool\":\"browser_fly\",\"args\":{{}}}}"),
        r#"{"tool":"browser_click","args":{"index":"3"}}"#.into(),
        r#"{"tool":"browser_click","args":{"index":3},"note":"x"}"#.into(),
        "[]".into(),
    ]
    .iter()
    .map(|text| Script::parse("s", text).unwrap_err().to_string())
    .collect();
    says.push(Script::read("no/such/script.jsonl").unwrap_err().to_string());
    insta::assert_snapshot!(says.join("\n"));
}
