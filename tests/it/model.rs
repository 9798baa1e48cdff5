use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use strawmanus::domain::ids::ElementId;
use strawmanus::domain::tool::{Index, Place, ToolCall};
use strawmanus::model::anthropic::{Anthropic, Key, Proxies};
use strawmanus::model::retry::Retry;
use strawmanus::model::script::Script;
use strawmanus::ports::model::{Conversation, Model, ModelError, Usage};

/// A service that answers from a list, and keeps what it was asked.
#[derive(Clone, Default)]
struct Service {
    answers: Arc<Mutex<VecDeque<Canned>>>,
    asked: Arc<Mutex<Vec<(HeaderMap, String)>>>,
}

struct Canned {
    status: u16,
    headers: Vec<(&'static str, &'static str)>,
    body: String,
}

fn canned(status: u16, body: impl ToString) -> Canned {
    Canned { status, headers: Vec::new(), body: body.to_string() }
}

fn tool(name: &str, input: &Value) -> Value {
    json!({
        "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [{ "type": "tool_use", "id": "toolu_1", "name": name, "input": input }],
        "usage": { "input_tokens": 1200, "output_tokens": 40 },
    })
}

async fn serve(State(service): State<Service>, headers: HeaderMap, body: Bytes) -> Response {
    let body = String::from_utf8(body.to_vec()).unwrap();
    service.asked.lock().unwrap().push((headers, body));
    let Some(next) = service.answers.lock().unwrap().pop_front() else {
        return StatusCode::IM_A_TEAPOT.into_response();
    };
    let mut response = (StatusCode::from_u16(next.status).unwrap(), next.body).into_response();
    for (name, value) in next.headers {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}

impl Service {
    /// Starts a service with these answers, and a model that asks it.
    async fn start(answers: impl IntoIterator<Item = Canned>) -> (Self, Anthropic) {
        let service = Self::default();
        service.answers.lock().unwrap().extend(answers);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let app =
            axum::Router::new().route("/v1/messages", post(serve)).with_state(service.clone());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        let model =
            Anthropic::new(&base, "test-model", Key::new("sk-test"), Proxies::default()).unwrap();
        let retry = Retry { most: 3, first: Duration::from_millis(5), ..Retry::default() };
        (service, model.with_retry(retry))
    }

    fn times_asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn first_turn() -> Conversation {
    Conversation {
        task: "What does the red kettle cost?".into(),
        observation: "[3] link 'Kettles'".into(),
        ..Conversation::default()
    }
}

async fn answer_to(
    canned: impl IntoIterator<Item = Canned>,
) -> (Result<ToolCall, ModelError>, usize) {
    let (service, model) = Service::start(canned).await;
    let answer = model.answer(&first_turn()).await;
    (answer.map(|answer| answer.call), service.times_asked())
}

/// The nonce is another one each time.
fn without_nonce(body: &str) -> String {
    let nonce = body.split("<page-data observation ").nth(1).unwrap().get(..16).unwrap();
    assert!(nonce.chars().all(|c| c.is_ascii_hexdigit()), "{nonce}");
    body.replace(nonce, "NONCE")
}

#[tokio::test]
async fn a_turn_is_one_plain_request() {
    let body = tool("browser_click", &json!({ "index": 3 }));
    let (service, model) = Service::start([canned(200, &body)]).await;
    assert_eq!(model.name(), "test-model");
    let answer = model.answer(&first_turn()).await.unwrap();
    let place = Place { index: Some(Index::Number(ElementId(3))), ..Place::default() };
    assert_eq!(answer.call, ToolCall::Click(place));
    assert_eq!(answer.usage, Usage { input: 1200, output: 40 });
    assert_eq!(answer.raw, body.to_string());

    let asked = service.asked.lock().unwrap();
    let [(headers, sent)] = &asked[..] else { panic!("asked {} times", asked.len()) };
    assert_eq!(headers["x-api-key"], "sk-test");
    assert_eq!(headers["anthropic-version"], "2023-06-01");
    assert_eq!(headers["content-type"], "application/json");
    let sent: Value = serde_json::from_str(&without_nonce(sent)).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&sent).unwrap());
}

#[tokio::test]
async fn no_two_requests_have_one_fence() {
    let view = || canned(200, tool("browser_view", &json!({})));
    let (service, model) = Service::start([view(), view()]).await;
    for _ in 0..2 {
        model.answer(&first_turn()).await.unwrap();
    }
    let asked = service.asked.lock().unwrap();
    assert_ne!(asked[0].1, asked[1].1);
    assert_eq!(without_nonce(&asked[0].1), without_nonce(&asked[1].1));
}

#[tokio::test]
async fn a_refused_key_is_final() {
    for status in [401, 403] {
        let (answer, asked) = answer_to([canned(status, "{}"), canned(200, "")]).await;
        assert_eq!((answer, asked), (Err(ModelError::Denied { status }), 1));
    }
}

#[tokio::test]
async fn a_bad_request_is_final_and_says_why() {
    let body = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "max_tokens:\n too large" } });
    let (answer, asked) = answer_to([canned(400, body)]).await;
    let detail = "max_tokens: too large".into();
    assert_eq!((answer, asked), (Err(ModelError::Status { status: 400, detail }), 1));
}

#[tokio::test]
async fn too_many_requests_wait_as_long_as_the_service_says() {
    let busy = Canned { headers: vec![("retry-after-ms", "300")], ..canned(429, "{}") };
    let begun = tokio::time::Instant::now();
    let (answer, asked) = answer_to([busy, canned(200, tool("browser_view", &json!({})))]).await;
    assert_eq!((answer, asked), (Ok(ToolCall::View {}), 2));
    assert!(begun.elapsed() >= Duration::from_millis(300));

    let long = Canned { headers: vec![("Retry-After", "86400")], ..canned(429, "later") };
    let (answer, asked) = answer_to([long]).await;
    let detail = "later".into();
    assert_eq!((answer, asked), (Err(ModelError::Status { status: 429, detail }), 1));
}

#[tokio::test]
async fn a_burst_of_overload_is_sat_out_up_to_a_limit() {
    let view = canned(200, tool("browser_view", &json!({})));
    let burst = [529, 500, 503].map(|status| canned(status, "{}"));
    let (answer, asked) = answer_to(burst.into_iter().chain([view])).await;
    assert_eq!((answer, asked), (Ok(ToolCall::View {}), 4));

    let (answer, asked) = answer_to((0..9).map(|_| canned(529, "overloaded"))).await;
    let detail = "overloaded".into();
    assert_eq!((answer, asked), (Err(ModelError::Status { status: 529, detail }), 4));
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let elsewhere =
        Canned { headers: vec![("location", "http://127.0.0.1:9/")], ..canned(307, "") };
    let (answer, asked) = answer_to([elsewhere]).await;
    assert!(matches!(answer, Err(ModelError::Status { status: 307, .. })), "{answer:?}");
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_is_bought_once() {
    let two = {
        let mut body = tool("browser_view", &json!({}));
        let call = body["content"][0].clone();
        body["content"].as_array_mut().unwrap().push(call);
        body
    };
    let prose = json!({ "content": [{ "type": "text", "text": "I would click it." }] });
    let mut says = Vec::new();
    for body in [
        "{\"content\": [".to_owned(),
        two.to_string(),
        prose.to_string(),
        tool("browser_fly", &json!({})).to_string(),
        tool("browser_click", &json!({ "index": "twelve" })).to_string(),
        tool("browser_input", &json!({ "index": 1, "text": "a" })).to_string(),
    ] {
        let (answer, asked) = answer_to([canned(200, body)]).await;
        assert_eq!(asked, 1);
        let error = answer.unwrap_err();
        assert!(matches!(error, ModelError::Unusable(_)), "{error:?}");
        says.push(error.to_string());
    }
    insta::assert_snapshot!(says.join("\n"));
}

#[tokio::test]
async fn a_service_that_is_not_there_is_said() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let retry = Retry { most: 1, first: Duration::from_millis(5), ..Retry::default() };
    let model =
        Anthropic::new(&base, "m", Key::new("k"), Proxies::default()).unwrap().with_retry(retry);
    let error = model.answer(&first_turn()).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable(_)), "{error:?}");
    assert!(error.to_string().contains("refused"), "{error}");
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
    let first = script.answer(&turn(0)).await.unwrap();
    assert_eq!((first.raw.as_str(), first.call.what().as_str()), (click, "click button 'Send'"));
    let second = script.answer(&turn(1)).await.unwrap();
    assert_eq!(second.call.what(), "finish");
    // After a resume, a turn is asked for again by its number.
    assert_eq!(script.answer(&turn(0)).await.unwrap(), first);
    assert_eq!(script.answer(&turn(2)).await, Err(ModelError::ScriptOver { turn: 2 }));
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
