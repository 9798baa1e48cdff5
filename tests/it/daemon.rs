//! How callers find, start and replace the daemon.
use std::fs;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use serde_json::json;
use strawmanus::config::home::Home;
use strawmanus::control::answer::Answer;
use strawmanus::control::client::Client;
use strawmanus::control::daemon::Claim;
use strawmanus::control::protocol::Request;
use strawmanus::control::starter::{Starter, Starting};
use strawmanus::control::verbs::Verb;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{UnixListener, UnixStream};

use crate::fake::{Daemon, InProcess, build, eval, home, limits, request};

fn client(home: &Home, starter: Arc<dyn Starter>) -> Client {
    Client::new(home.clone(), build("1.0.0"), starter)
}

async fn send(client: &Client, request: Request) -> Answer {
    client.send(request, |_, _| {}).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_callers_on_a_cold_start_make_one_daemon() {
    let (_root, home) = home();
    let starter = Arc::new(InProcess::default());
    let callers: Vec<_> = (0..20)
        .map(|number| {
            let client = client(&home, starter.clone());
            tokio::spawn(async move { send(&client, eval(&number.to_string())).await })
        })
        .collect();
    for (number, caller) in callers.into_iter().enumerate() {
        let answer = caller.await.unwrap();
        assert_eq!((answer.exit, answer.text), (0, number.to_string()), "{:?}", answer.error);
        assert_eq!(answer.data, json!({ "by": "started 1" }));
    }
    assert_eq!(starter.started.load(SeqCst), 1);
}

#[tokio::test]
async fn a_second_daemon_is_not_needed() {
    let (_root, home) = home();
    let _daemon = Daemon::start(&home, "1.0.0", limits()).await;
    assert!(Claim::take(&home).await.unwrap().is_none());
}

#[tokio::test]
async fn a_daemon_that_was_ended_is_started_again_but_none_to_end_it() {
    let (_root, home) = home();
    let starter = Arc::new(InProcess::default());
    let client = client(&home, starter.clone());
    assert_eq!(send(&client, request(Verb::Close { all: true })).await.text, "nothing is open");
    assert_eq!(starter.started.load(SeqCst), 0);
    for round in 1..=3 {
        let by = json!({ "by": format!("started {round}") });
        assert_eq!(send(&client, eval("x")).await.data, by);
        assert_eq!(send(&client, request(Verb::Close { all: true })).await.data, by);
    }
}

#[tokio::test]
async fn the_socket_of_a_dead_daemon_is_replaced() {
    let (_root, home) = home();
    drop(UnixListener::bind(home.socket()).unwrap());
    assert!(home.socket().exists(), "it is left behind");
    let answer = send(&client(&home, Arc::new(InProcess::default())), eval("x")).await;
    assert_eq!(answer.text, "x");
}

#[tokio::test]
async fn a_home_with_a_long_path_works() {
    let root = tempfile::tempdir().unwrap();
    let home = Home::at(root.path().join("ein Ordner – ".repeat(12))).prepare().unwrap();
    let answer = send(&client(&home, Arc::new(InProcess::default())), eval("x")).await;
    assert_eq!(answer.text, "x");
    send(&client(&home, Arc::new(InProcess::default())), request(Verb::Close { all: true })).await;
}

#[tokio::test]
async fn a_daemon_of_another_build_is_replaced() {
    let (_root, home) = home();
    let old = Daemon::start(&home, "0.9.0", limits()).await;
    let starter = Arc::new(InProcess::default());
    let answer = send(&client(&home, starter.clone()), eval("x")).await;
    assert_eq!(answer.data, json!({ "by": "started 1" }));
    let handler = old.handler.clone();
    old.ended().await;
    assert!(handler.was_shut_down.load(SeqCst), "in good order");
    assert!(handler.done().is_empty());
}

#[tokio::test]
async fn a_daemon_of_another_build_with_a_run_is_left_alone() {
    let (_root, home) = home();
    let old = Daemon::start(&home, "0.9.0", limits()).await;
    old.handler.set_busy(Some("run r7"));
    let starter = Arc::new(InProcess::default());
    let answer = send(&client(&home, starter.clone()), eval("x")).await;
    insta::assert_snapshot!(answer.envelope(), @r#"{"v":1,"ok":false,"error":{"kind":"daemon","message":"the daemon is another build of strawmanus, and run r7 is under way","hint":"wait until it is over, or end it with the strawmanus that began it"}}"#);
    assert_eq!((answer.exit, starter.started.load(SeqCst)), (4, 0));
}

#[tokio::test]
async fn a_daemon_of_a_version_yet_to_come_is_told_to_end_in_words_that_never_change() {
    let (_root, home) = home();
    let lock = fs::File::create(home.lock_file()).unwrap();
    lock.lock().unwrap();
    let listener = UnixListener::bind(home.socket()).unwrap();
    let future = tokio::spawn(async move {
        let hello = r#"{"hello":{"protocol":7,"pid":1,"build":"2027-01","mood":"good"}}"#;
        loop {
            let (reader, mut writer) = listener.accept().await.unwrap().0.into_split();
            writer.write_all(format!("{hello}\n").as_bytes()).await.unwrap();
            let mut line = String::new();
            BufReader::new(reader).read_line(&mut line).await.unwrap();
            if !line.is_empty() {
                writer.write_all(b"{\"ending\":true}\n").await.unwrap();
                drop((listener, lock));
                return line;
            }
        }
    });
    let answer = send(&client(&home, Arc::new(InProcess::default())), eval("x")).await;
    assert_eq!(answer.text, "x", "{:?}", answer.error);
    assert_eq!(future.await.unwrap(), "{\"shutdown\":true}\n");
}

#[tokio::test]
async fn something_else_at_the_socket_is_an_error() {
    let (_root, home) = home();
    let listener = UnixListener::bind(home.socket()).unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"220 mail.example ESMTP\n").await.unwrap();
    });
    let answer = send(&client(&home, Arc::new(InProcess::default())), eval("x")).await;
    assert_eq!(answer.exit, 4);
    assert_eq!(answer.error.unwrap().kind, "daemon");
}

/// Starts daemons that die at once.
struct StillBorn;

impl Starter for StillBorn {
    fn start(&self, home: &Home) -> std::io::Result<Starting> {
        let mut log = fs::File::create(home.log_file())?;
        write!(log, "of the last one\nthe store is damaged: bad magic\nhint: move it away\n")?;
        Ok(Starting::new(|| true, Some((home.log_file(), "of the last one\n".len() as u64))))
    }
}

#[tokio::test]
async fn a_daemon_that_dies_at_its_start_says_why() {
    let (_root, home) = home();
    let answer = send(&client(&home, Arc::new(StillBorn)), eval("x")).await;
    insta::assert_snapshot!(answer.error.unwrap().message, @r"
    the daemon ended as soon as it was started:
    the store is damaged: bad magic
    hint: move it away
    ");
    assert_eq!(answer.exit, 4);
}

/// Stands between a caller and a daemon, and breaks the first connection after the request went
/// through. Later ones are let through, or find nobody.
async fn breaking_wire(listener: UnixListener, back: Home, later: bool) {
    let (mut caller, _) = listener.accept().await.unwrap();
    let mut daemon = UnixStream::connect(back.socket()).await.unwrap();
    let talk = copy_bidirectional(&mut caller, &mut daemon);
    let _ = tokio::time::timeout(Duration::from_millis(100), talk).await;
    drop((caller, daemon));
    if !later {
        return;
    }
    loop {
        let (mut caller, _) = listener.accept().await.unwrap();
        let mut daemon = UnixStream::connect(back.socket()).await.unwrap();
        let _ = copy_bidirectional(&mut caller, &mut daemon).await;
    }
}

#[tokio::test]
async fn a_request_whose_connection_broke_is_asked_for_and_not_repeated() {
    let ((_root, front), (_other, back)) = (home(), home());
    let daemon = Daemon::start(&back, "1.0.0", limits()).await;
    let wire = tokio::spawn(breaking_wire(UnixListener::bind(front.socket()).unwrap(), back, true));
    let handler = daemon.handler.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(150)).await;
        handler.gate.add_permits(1);
    });
    let starter = Arc::new(InProcess::default());
    let answer = send(&client(&front, starter.clone()), eval("gate")).await;
    assert_eq!((answer.exit, answer.text.as_str()), (0, "gate"));
    assert_eq!(daemon.handler.done(), ["eval"], "carried out once");
    assert_eq!(starter.started.load(SeqCst), 0);
    wire.abort();
}

#[tokio::test]
async fn a_request_that_nobody_knows_of_any_more_is_in_doubt() {
    let ((_root, front), (_other, back)) = (home(), home());
    let daemon = Daemon::start(&back, "1.0.0", limits()).await;
    tokio::spawn(breaking_wire(UnixListener::bind(front.socket()).unwrap(), back, false));
    let starter = Arc::new(InProcess::default());
    let answer = send(&client(&front, starter.clone()), eval("gate")).await;
    insta::assert_snapshot!(answer.envelope(), @r#"{"v":1,"ok":false,"outcome":"in_doubt","error":{"kind":"in_doubt","message":"the daemon was lost during `eval`; what it did is not known","hint":"look before you repeat it: `strawmanus observe`"}}"#);
    assert_eq!((answer.exit, starter.started.load(SeqCst)), (1, 0));
    assert_eq!(daemon.handler.done(), ["eval"]);
}
