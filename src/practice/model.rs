//! A model's service that needs no key: it plays a script over HTTP, on both wires, and slips where
//! it is told to.
//!
//! A script is one tool call a line. An element that a line names by role and name is looked for in
//! what the request shows of the page, as a model would; where it is not, the page is scrolled.
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::domain::cost::Usage;
use crate::practice::model::actor::Actor;
use crate::practice::model::cache::Cache;
use crate::practice::model::slips::{Slip, Spoken, shape};
use crate::practice::model::words::Voice;

mod actor;
mod cache;
pub mod slips;
mod words;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub headers: HeaderMap,
    pub body: Value,
}

/// A service that serves until it is dropped. It has a thread and a runtime of its own.
#[derive(Debug)]
pub struct ModelService {
    desk: Arc<Desk>,
    port: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the service knows.
#[derive(Debug, Default)]
struct Desk {
    actor: Mutex<Actor>,
    slips: Mutex<BTreeMap<usize, Slip>>,
    /// Fields that this service does not know.
    unknown: Mutex<Vec<&'static str>>,
    asked: Mutex<Vec<Asked>>,
    cache: Mutex<Cache>,
}

fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ModelService {
    /// Opens a port on 127.0.0.1, and plays `script` (JSON lines) to whoever asks.
    ///
    /// # Errors
    /// Fails on a line that is no tool call, and when the machine has no port, thread or runtime left.
    pub fn start(script: &str) -> io::Result<Self> {
        let actor = Mutex::new(Actor::read(script)?);
        let desk = Arc::new(Desk { actor, ..Desk::default() });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let serving = serve(Arc::clone(&desk), listener, stopped);
        let thread = std::thread::Builder::new().name("practice-model".into());
        // The runtime ends with the closure, and every connection with it.
        let thread = thread.spawn(move || runtime.block_on(serving))?;
        Ok(Self { desk, port, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns where Messages are spoken.
    pub fn anthropic(&self) -> String {
        format!("http://127.0.0.1:{}/v1/messages", self.port)
    }

    /// Returns where chat completions are spoken.
    pub fn openai(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Slips at the request number `request`, from 0.
    pub fn slip_at(&self, request: usize, slip: Slip) {
        open(&self.desk.slips).insert(request, slip);
    }

    /// Refuses every request from now on that has this field.
    pub fn refuse_field(&self, field: &'static str) {
        open(&self.desk.unknown).push(field);
    }

    /// Returns everything that was asked so far, in order.
    pub fn asked(&self) -> Vec<Asked> {
        open(&self.desk.asked).clone()
    }

    /// Returns the tokens of all answers so far, as they were told.
    pub fn tokens(&self) -> Usage {
        open(&self.desk.cache).sum
    }
}

impl Drop for ModelService {
    /// Ends every connection and closes the port before it returns.
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // Fails when the thread has ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panic in it was printed when it happened.
            let _ = thread.join();
        }
    }
}

async fn serve(desk: Arc<Desk>, listener: TcpListener, stopped: oneshot::Receiver<()>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let messages = |State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes| async move {
        desk.answer(Voice::Anthropic, headers, &body).await
    };
    let chat = |State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes| async move {
        desk.answer(Voice::OpenAi, headers, &body).await
    };
    let prompt = listener.tap_io(|stream| {
        // Only makes answers slower where it fails.
        let _ = stream.set_nodelay(true);
    });
    let router = Router::new()
        .route("/v1/messages", post(messages))
        .route("/v1/chat/completions", post(chat))
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(desk);
    tokio::spawn(async move { axum::serve(prompt, router).await });
    // An error means that the sender is gone, which also means stop.
    let _ = stopped.await;
}

impl Desk {
    async fn answer(&self, voice: Voice, headers: HeaderMap, body: &Bytes) -> Response<Body> {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let number = {
            let mut asked = open(&self.asked);
            asked.push(Asked { headers, body: body.clone() });
            asked.len() - 1
        };
        let unknown = open(&self.unknown).iter().copied().find(|it| body.get(it).is_some());
        if let Some(field) = unknown {
            return refusal(400, "invalid_request_error", &format!("unknown field `{field}`"));
        }
        let slip = open(&self.slips).get(&number).copied();
        match slip {
            Some(Slip::Silent) => std::future::pending().await,
            Some(Slip::Status { status, kind, message, after_ms }) => {
                let mut refusal = refusal(status, kind, message);
                if let Some(after) = after_ms {
                    refusal.headers_mut().insert("retry-after-ms", after.into());
                }
                refusal
            }
            Some(Slip::Garbage) => whole("<html>not yet</html>".into()),
            slip => self.speak(voice, &body, slip),
        }
    }

    fn speak(&self, voice: Voice, body: &Value, slip: Option<Slip>) -> Response<Body> {
        let mut actor = open(&self.actor);
        let choice = actor.choose(body);
        let (spoken, advances) = shape(slip, &choice);
        let breaks = slip.is_some_and(Slip::breaks);
        if !breaks {
            actor.said(body, choice, advances);
        }
        let usage = open(&self.cache).count(body, &spoken);
        let streams = body["stream"] == json!(true) && slip != Some(Slip::Plain);
        if !streams {
            return whole(voice.whole(&spoken, usage).to_string());
        }
        stream_of(voice, (&spoken, usage), slip)
    }
}

/// Sends an answer in events, as far as the slip lets it.
fn stream_of(
    voice: Voice,
    (spoken, usage): (&Spoken, Usage),
    slip: Option<Slip>,
) -> Response<Body> {
    let mut events = voice.events(spoken, usage);
    let half = events.len() / 2;
    if slip.is_some_and(Slip::breaks) {
        events.truncate(half);
    }
    if slip == Some(Slip::ErrorEvent) {
        events.push(voice.overloaded());
    }
    let said = stream::iter(events).map(Ok::<_, io::Error>);
    let body = match slip {
        Some(Slip::Stall) => Body::from_stream(said.chain(stream::pending())),
        Some(Slip::CutShort) => {
            Body::from_stream(said.chain(stream::once(async {
                // What was said before is sent first.
                tokio::task::yield_now().await;
                Err(io::ErrorKind::ConnectionReset.into())
            })))
        }
        _ => Body::from_stream(said),
    };
    let response = Response::builder().header("content-type", "text/event-stream; charset=utf-8");
    response.body(body).expect("the headers are well formed")
}

fn whole(text: String) -> Response<Body> {
    let response = Response::builder().header("content-type", "application/json");
    response.body(Body::from(text)).expect("the headers are well formed")
}

fn refusal(status: u16, kind: &str, message: &str) -> Response<Body> {
    let error = json!({ "type": kind, "message": message });
    let body = json!({ "type": "error", "error": error }).to_string();
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Body::from(body)).expect("the status is one")
}
