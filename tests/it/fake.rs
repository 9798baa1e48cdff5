//! A handler that a test steers, and daemons in this process.
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use strawmanus::config::environment::Environment;
use strawmanus::config::home::Home;
use strawmanus::config::span::Span;
use strawmanus::control::answer::Answer;
use strawmanus::control::answers::Memory;
use strawmanus::control::build::Build;
use strawmanus::control::client::new_request_id;
use strawmanus::control::daemon::Claim;
use strawmanus::control::flags::Globals;
use strawmanus::control::handler::{Handler, Progress};
use strawmanus::control::protocol::{Ask, Context, Line, PROTOCOL, Request};
use strawmanus::control::server::{Limits, Server};
use strawmanus::control::starter::{Starter, Starting};
use strawmanus::control::verbs::Verb;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Does what the script of `eval` says: `hang`, `panic`, `gate`, `steps`, anything else is echoed.
/// `run` goes on until its caller has gone.
#[derive(Debug)]
pub struct Fake {
    pub name: String,
    pub done: Mutex<Vec<String>>,
    pub busy: Mutex<Option<String>>,
    pub gate: Semaphore,
    pub run_stopped: Semaphore,
    pub was_shut_down: AtomicBool,
}

impl Fake {
    pub fn new(name: &str) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            done: Mutex::default(),
            busy: Mutex::default(),
            gate: Semaphore::new(0),
            run_stopped: Semaphore::new(0),
            was_shut_down: AtomicBool::new(false),
        })
    }

    pub fn done(&self) -> Vec<String> {
        self.done.lock().unwrap().clone()
    }

    pub fn set_busy(&self, what: Option<&str>) {
        *self.busy.lock().unwrap() = what.map(str::to_owned);
    }
}

#[async_trait]
impl Handler for Fake {
    async fn handle(&self, request: Request, progress: Progress) -> Answer {
        self.done.lock().unwrap().push(request.verb.name());
        match request.verb {
            Verb::Run { .. } => {
                progress.closed().await;
                self.run_stopped.add_permits(1);
                Answer::told("stopped", json!({}))
            }
            Verb::Eval { script } => {
                match script.as_str() {
                    "hang" => std::future::pending().await,
                    "panic" => panic!("the test wants it"),
                    "gate" => self.gate.acquire().await.unwrap().forget(),
                    "steps" => {
                        (1..=3).for_each(|n| progress.step(format!("step {n}"), json!({ "n": n })))
                    }
                    _ => {}
                }
                Answer::told(script, json!({ "by": self.name }))
            }
            _ => Answer::told("done", json!({ "by": self.name })),
        }
    }

    fn busy(&self) -> Option<String> {
        self.busy.lock().unwrap().clone()
    }

    async fn shut_down(&self) {
        self.was_shut_down.store(true, SeqCst);
    }
}

pub fn limits() -> Limits {
    Limits {
        idle: Duration::from_secs(60),
        grace: Duration::from_millis(50),
        farewell: Duration::from_secs(5),
        line: 4096,
        memory: Memory { count: 8, bytes: 1 << 20 },
    }
}

pub fn build(version: &str) -> Build {
    Build { version: version.to_owned(), executable: None, stamp: None }
}

pub fn eval(script: &str) -> Request {
    request(Verb::Eval { script: script.to_owned() })
}

pub fn request(verb: Verb) -> Request {
    Request {
        v: PROTOCOL,
        id: new_request_id(),
        build: build("1.0.0"),
        verb,
        globals: Globals::default(),
        context: Context {
            folder: "/".into(),
            environment: Environment::default(),
            terminal: false,
        },
        deadline: Some(Span(Duration::from_secs(20))),
    }
}

/// A home folder that is gone with the test.
pub fn home() -> (TempDir, Home) {
    let root = tempfile::tempdir().unwrap();
    let home = Home::at(root.path().join("home")).prepare().unwrap();
    (root, home)
}

/// A daemon in this process.
pub struct Daemon {
    pub handler: Arc<Fake>,
    task: JoinHandle<()>,
}

impl Daemon {
    /// Starts a daemon of `version` and waits until it serves.
    pub async fn start(home: &Home, version: &str, limits: Limits) -> Self {
        let handler = Fake::new(version);
        let claim = Claim::take(home).await.unwrap().expect("the lock is free");
        let server = Server::new(handler.clone(), build(version), limits);
        let task = tokio::spawn(async move {
            claim.serve(&server, std::future::pending()).await.unwrap();
        });
        while UnixStream::connect(home.socket()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Self { handler, task }
    }

    /// Waits until it has ended by itself.
    pub async fn ended(self) {
        tokio::time::timeout(Duration::from_secs(10), self.task).await.expect("it ends").unwrap();
    }
}

/// Starts daemons in this process, as a client would start processes.
#[derive(Debug, Default)]
pub struct InProcess {
    pub started: AtomicUsize,
}

impl Starter for InProcess {
    fn start(&self, home: &Home) -> std::io::Result<Starting> {
        let number = self.started.fetch_add(1, SeqCst) + 1;
        let home = home.clone();
        let task = tokio::spawn(async move {
            // As long as a store takes to open.
            tokio::time::sleep(Duration::from_millis(50)).await;
            if let Some(claim) = Claim::take(&home).await.unwrap() {
                let handler = Fake::new(&format!("started {number}"));
                let server = Server::new(handler, build("1.0.0"), limits());
                claim.serve(&server, std::future::pending()).await.unwrap();
            }
        });
        Ok(Starting::new(move || task.is_finished(), None))
    }
}

/// A caller that writes what it likes.
pub struct Raw {
    reader: BufReader<tokio::net::unix::OwnedReadHalf>,
    writer: tokio::net::unix::OwnedWriteHalf,
}

impl Raw {
    pub async fn connect(socket: &Path) -> Self {
        let (reader, writer) = UnixStream::connect(socket).await.unwrap().into_split();
        let mut raw = Self { reader: BufReader::new(reader), writer };
        assert!(matches!(raw.line().await, Some(Line::Hello(_))));
        raw
    }

    pub async fn write(&mut self, text: &str) {
        self.writer.write_all(text.as_bytes()).await.unwrap();
    }

    pub async fn ask(&mut self, ask: &Ask) {
        let line = format!("{}\n", serde_json::to_string(ask).unwrap());
        self.write(&line).await;
    }

    pub async fn request(&mut self, request: &Request) {
        self.ask(&Ask::Request(Box::new(request.clone()))).await;
    }

    /// Reads one line; nothing at the end.
    pub async fn line(&mut self) -> Option<Line> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        let read =
            tokio::time::timeout(Duration::from_secs(10), read).await.expect("a line in time");
        match read {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    pub async fn answer(&mut self) -> Answer {
        match self.line().await {
            Some(Line::Answer(answer)) => *answer,
            other => panic!("no answer but {other:?}"),
        }
    }

    /// Reads the refusal and the end of the connection.
    pub async fn refusal(&mut self) -> Value {
        let line = self.line().await;
        let Some(Line::Refused(refusal)) = line else { panic!("no refusal but {line:?}") };
        assert_eq!(self.line().await, None, "the connection is closed");
        serde_json::to_value(refusal).unwrap()
    }
}
