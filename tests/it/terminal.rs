//! The built program on a terminal: live steps, questions, Ctrl-C, and the view of `attach`.
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use serde_json::{Value, json};
use strawmanus::config::home::Home;
use strawmanus::control::answer::Answer;
use strawmanus::control::daemon::Claim;
use strawmanus::control::handler::{Handler, Progress};
use strawmanus::control::protocol::Request;
use strawmanus::control::server::Server;
use strawmanus::control::verbs::Verb;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::fake::{build, home, limits};

/// Plays a run that begins, waits for `gate`, needs a person, and ends when anybody says anything.
struct Play {
    need: Option<Value>,
    /// Never answers a stop.
    deaf: bool,
    gate: Semaphore,
    ended: Semaphore,
    gone: Semaphore,
    said: Mutex<Vec<Value>>,
}

fn entry(event: Value) -> Value {
    let mut entry = json!({ "v": 1, "at": "2026-11-30T12:00:00Z" });
    entry.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
    entry
}

fn approval() -> Option<Value> {
    Some(json!({ "need": "approval", "hold": 3, "what": "click 'Send'", "why": "it sends",
        "url": "http://mail.localhost/" }))
}

impl Play {
    fn new(need: Option<Value>) -> Self {
        let none = || Semaphore::new(0);
        let (gate, ended, gone) = (Semaphore::new(1), none(), none());
        Self { need, deaf: false, gate, ended, gone, said: Mutex::default() }
    }

    async fn run(&self, progress: Progress) -> Answer {
        let began = json!({ "event": "began", "run": 7, "task": "t", "model": "m", "url": null });
        progress.step("run r7 (m): t", entry(began));
        let call = json!({ "tool": "browser_view", "args": {} });
        let intended = json!({ "event": "intended", "step": 1, "call": call, "what": "look" });
        progress.step("  1  look", entry(intended));
        self.gate.acquire().await.unwrap().forget();
        if let Some(need) = &self.need {
            progress.step("waits", entry(json!({ "event": "waiting", "step": 1, "need": need })));
        }
        tokio::select! {
            ended = self.ended.acquire() => ended.unwrap().forget(),
            () = progress.closed() => self.gone.add_permits(1),
        }
        Answer::told("the report", json!({}))
    }

    fn sight() -> Value {
        let hold = json!({ "id": "h3", "what": "click 'Send'", "why": "it sends", "url": "u",
            "payload": "", "state": "waiting", "tab": 1, "run": null,
            "at": "2026-11-30T12:00:00Z" });
        let actor = json!({ "name": "root", "depth": 0, "doing": "4 of 4 running", "mailbox": 0,
            "restarts": 0, "last_error": null });
        json!({ "actors": [actor], "runs": [], "holds": [hold], "pid": 42 })
    }
}

#[async_trait]
impl Handler for Play {
    async fn handle(&self, request: Request, progress: Progress) -> Answer {
        match &request.verb {
            Verb::Run { .. } => return self.run(progress).await,
            Verb::Attach { .. } => return Answer::told("", Self::sight()),
            verb => self.said.lock().unwrap().push(json!(verb)),
        }
        if self.deaf {
            std::future::pending::<()>().await;
        }
        self.ended.add_permits(1);
        Answer::told("carried out", json!({}))
    }

    fn busy(&self) -> Option<String> {
        None
    }

    async fn shut_down(&self) {}
}

/// A daemon in this process, and the program before it on a terminal.
struct Stage {
    play: Arc<Play>,
    home: Home,
    daemon: JoinHandle<()>,
    _root: TempDir,
}

async fn serve(home: &Home, play: Arc<Play>) -> JoinHandle<()> {
    let claim = Claim::take(home).await.unwrap().expect("the lock is free");
    let server = Server::new(play, build(env!("CARGO_PKG_VERSION")), limits());
    tokio::spawn(async move { claim.serve(&server, std::future::pending()).await.unwrap() })
}

impl Stage {
    async fn new(play: Play) -> Self {
        let ((root, home), play) = (home(), Arc::new(play));
        let daemon = serve(&home, Arc::clone(&play)).await;
        Self { play, home, daemon, _root: root }
    }

    fn said(&self) -> Vec<Value> {
        self.play.said.lock().unwrap().clone()
    }

    async fn hears(&self, verb: Value) {
        let looks = async {
            while !self.said().contains(&verb) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let heard = tokio::time::timeout(Duration::from_secs(20), looks).await;
        assert!(heard.is_ok(), "no {verb} among {:?}", self.said());
    }

    fn start(&self, words: &[&str]) -> Person {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_strawmanus"));
        command.args(words);
        command.env_clear();
        command.env("STRAWMANUS_HOME", self.home.folder());
        command.env("TERM", "xterm-256color");
        command.cwd("/");
        let program = pty.slave.spawn_command(command).unwrap();
        let (seen, shown) = (Arc::new(Mutex::new(Vec::new())), pty.master.try_clone_reader());
        let sink = Arc::clone(&seen);
        std::thread::spawn(move || {
            let (mut shown, mut bytes) = (shown.unwrap(), [0; 4096]);
            while let Ok(count @ 1..) = shown.read(&mut bytes) {
                sink.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        let keys = pty.master.take_writer().unwrap();
        Person { program, keys, seen, _pty: pty.master }
    }
}

/// Who sits before the terminal.
struct Person {
    program: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    seen: Arc<Mutex<Vec<u8>>>,
    _pty: Box<dyn MasterPty + Send>,
}

impl Person {
    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    async fn sees(&self, text: &str) {
        let looks = async {
            while !self.seen().contains(text) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let patience = Duration::from_secs(20);
        let seen = tokio::time::timeout(patience, looks).await;
        assert!(seen.is_ok(), "no `{text}` in: {}", self.seen());
    }

    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until the program has ended, and returns its exit code.
    async fn ends(&mut self) -> u32 {
        for _ in 0..4_000 {
            if let Some(status) = self.program.try_wait().unwrap() {
                return status.exit_code();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("it does not end: {}", self.seen());
    }
}

const RUN: &[&str] = &["run", "t", "--model", "script:none"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_act_is_approved_where_the_run_is_watched() {
    let stage = Stage::new(Play::new(approval())).await;
    let mut person = stage.start(RUN);
    person.sees("approve? [y/N]").await;
    assert!(person.seen().contains("irreversible action held for confirmation"));
    person.types("y\n");
    person.sees("the report").await;
    assert_eq!(person.ends().await, 0);
    assert_eq!(stage.said(), [json!({ "approve": { "id": 3 } })]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_typed_before_the_question_approves_nothing() {
    let stage = Stage::new(Play { gate: Semaphore::new(0), ..Play::new(approval()) }).await;
    let mut person = stage.start(RUN);
    person.sees("look").await;
    person.types("y\ny\n");
    stage.play.gate.add_permits(1);
    person.sees("approve? [y/N]").await;
    person.types("\n");
    assert_eq!(person.ends().await, 0);
    assert_eq!(stage.said(), [json!({ "deny": { "id": 3 } })]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_answered_in_words() {
    let question = json!({ "need": "answer", "question": "Which colour?" });
    let stage = Stage::new(Play::new(Some(question))).await;
    let mut person = stage.start(RUN);
    person.sees("Which colour?").await;
    person.sees("answer: ").await;
    person.types("the blue one\n");
    assert_eq!(person.ends().await, 0);
    assert_eq!(stage.said(), [json!({ "reply": { "id": 7, "text": "the blue one" } })]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_once_stops_the_run_and_waits_for_its_report() {
    let stage = Stage::new(Play::new(None)).await;
    let mut person = stage.start(RUN);
    person.sees("look").await;
    person.types("\x03");
    person.sees("stopping r7").await;
    person.sees("the report").await;
    assert_eq!(person.ends().await, 0, "the report's own");
    assert_eq!(stage.said(), [json!({ "stop": { "id": 7 } })]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_twice_leaves_at_once_and_the_daemon_hears_of_it() {
    let stage = Stage::new(Play { deaf: true, ..Play::new(approval()) }).await;
    let mut person = stage.start(RUN);
    person.sees("approve? [y/N]").await;
    person.types("\x03");
    person.sees("stopping r7").await;
    stage.hears(json!({ "deny": { "id": 3 } })).await;
    stage.hears(json!({ "stop": { "id": 7 } })).await;
    person.types("\x03");
    assert_eq!(person.ends().await, 130);
    let gone = tokio::time::timeout(Duration::from_secs(20), stage.play.gone.acquire()).await;
    gone.expect("the daemon is told").unwrap().forget();
    assert_eq!(stage.said().len(), 2, "nothing was approved");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quiet_run_says_its_result_alone() {
    let stage = Stage::new(Play::new(None)).await;
    let mut person = stage.start(&[RUN, &["-q"]].concat());
    stage.play.ended.add_permits(1);
    assert_eq!(person.ends().await, 0);
    person.sees("the report").await;
    assert_eq!(person.seen().trim(), "the report");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_view_shows_answers_and_gives_the_terminal_back() {
    let stage = Stage::new(Play::new(None)).await;
    let mut person = stage.start(&["attach"]);
    person.sees("click 'Send'").await;
    assert!(person.seen().contains("\x1b[?1049h"), "it has a screen of its own");
    person.types("y");
    person.sees("approve h3?").await;
    assert_eq!(stage.said(), [] as [Value; 0], "nothing is approved by one key");
    person.types("\r");
    stage.hears(json!({ "approve": { "id": 3 } })).await;
    person.types("q");
    assert_eq!(person.ends().await, 0);
    person.sees("\x1b[?1049l").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_view_outlives_the_daemon_and_starts_none() {
    let mut stage = Stage::new(Play::new(None)).await;
    let mut person = stage.start(&["attach"]);
    person.sees("daemon").await;
    person.sees("click 'Send'").await;
    stage.daemon.abort();
    person.sees("no daemon is running").await;
    assert!(!stage.home.log_file().exists(), "none was started");
    person.seen.lock().unwrap().clear();
    stage.daemon = serve(&stage.home, Arc::clone(&stage.play)).await;
    person.sees("click 'Send'").await;
    let pid = i32::try_from(person.program.process_id().unwrap()).unwrap();
    let pid = nix::unistd::Pid::from_raw(pid);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert_eq!(person.ends().await, 0);
    person.sees("\x1b[?1049l").await;
}
