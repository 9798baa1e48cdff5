//! The connection on a scripted wire: what a dying browser does, at the moments that hurt.
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::time::Instant;

use chromiumoxide_cdp::cdp::browser_protocol::page::NavigateParams;
use chromiumoxide_cdp::cdp::js_protocol::runtime::EvaluateParams;

use super::*;

const LONG: Duration = Duration::from_secs(3600);

/// The far end of the wire.
struct Far {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
}

impl Far {
    async fn next(&mut self) -> Value {
        let mut message = Vec::new();
        self.read.read_until(0, &mut message).await.unwrap();
        serde_json::from_slice(&message[..message.len() - 1]).unwrap()
    }

    async fn say(&mut self, message: Value) {
        self.raw(message.to_string().as_bytes()).await;
    }

    async fn raw(&mut self, bytes: &[u8]) {
        self.write.write_all(bytes).await.unwrap();
        self.write.write_all(&[0]).await.unwrap();
    }

    async fn attach(&mut self, session: &str, target: &str, parent: Option<&str>) {
        let mut event = json!({"method": "Target.attachedToTarget", "params": {
            "sessionId": session, "targetInfo": {"targetId": target}, "waitingForDebugger": false}});
        if let Some(parent) = parent {
            event["sessionId"] = parent.into();
        }
        self.say(event).await;
    }
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Ear for Notes {
    fn hear(&self, heard: Heard<'_>) {
        let note = match heard {
            Heard::Event { session, method, .. } => {
                format!("{method} on {}", session.unwrap_or("-"))
            }
            Heard::Closed { .. } => "Closed".into(),
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(note);
    }
}

impl Notes {
    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

struct Stage {
    connection: Arc<Connection>,
    far: Far,
    root: Arc<Notes>,
    page: Arc<Notes>,
    session: SessionKey,
}

/// A connection with one page session, `S1` on target `T1`.
async fn stage() -> Stage {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(near);
    let (root, page) = (Arc::new(Notes::default()), Arc::new(Notes::default()));
    let heard: Weak<dyn Ear> = Arc::downgrade(&root) as Weak<dyn Ear>;
    let connection = Connection::start(Wire::pipe(read, write), heard);
    let (read, write) = tokio::io::split(far);
    let mut far = Far { read: BufReader::new(read), write };
    far.attach("S1", "T1", None).await;
    settle().await;
    let ear: Weak<dyn Ear> = Arc::downgrade(&page) as Weak<dyn Ear>;
    assert_eq!(connection.follow("S1", ear), Some(false));
    let session = connection.key("S1").unwrap();
    Stage { connection, far, root, page, session }
}

/// Lets the two tasks of the connection take what was said.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

impl Stage {
    /// Starts an evaluation whose answer is a number, and waits until it is on the wire.
    async fn evaluation(&mut self) -> (u64, tokio::task::JoinHandle<Result<Value, CallError>>) {
        let (connection, session) = (Arc::clone(&self.connection), Arc::clone(&self.session));
        let call = tokio::spawn(async move {
            connection.ask(Some(&session), EvaluateParams::new("1"), LONG).await
        });
        let sent = self.far.next().await;
        assert_eq!(sent["method"], "Runtime.evaluate");
        assert_eq!(sent["sessionId"], "S1");
        (sent["id"].as_u64().unwrap(), call)
    }

    async fn refused(&self) -> CallError {
        let asked: Result<Value, _> =
            self.connection.ask(Some(&self.session), EvaluateParams::new("1"), LONG).await;
        asked.unwrap_err()
    }
}

#[tokio::test(start_paused = true)]
async fn answers_find_their_calls_in_any_order() {
    let mut stage = stage().await;
    let (first, one) = stage.evaluation().await;
    let (second, two) = stage.evaluation().await;
    stage.far.say(json!({"id": second, "sessionId": "S1", "result": {"n": 2}})).await;
    stage.far.say(json!({"id": 999, "result": {}})).await;
    stage.far.say(json!({"id": first, "sessionId": "S1", "result": {"n": 1}})).await;
    assert_eq!(one.await.unwrap().unwrap(), json!({"n": 1}));
    assert_eq!(two.await.unwrap().unwrap(), json!({"n": 2}));
    assert_eq!(stage.connection.sizes(), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_browser_is_that_calls_answer() {
    let mut stage = stage().await;
    let (id, call) = stage.evaluation().await;
    stage.far.say(json!({"id": id, "error": {"code": -32000, "message": "no"}})).await;
    let no = CallError::Protocol { code: -32000, message: "no".into() };
    assert_eq!(call.await.unwrap(), Err(no));
}

#[tokio::test(start_paused = true)]
async fn a_crash_answers_what_waits_and_refuses_what_comes() {
    for event in [
        json!({"method": "Inspector.targetCrashed", "sessionId": "S1", "params": {}}),
        json!({"method": "Target.targetCrashed", "params": {"targetId": "T1", "status": "x", "errorCode": 9}}),
    ] {
        let mut stage = stage().await;
        let (_, call) = stage.evaluation().await;
        let since = Instant::now();
        stage.far.say(event.clone()).await;
        assert_eq!(call.await.unwrap(), Err(CallError::Crashed));
        // The clock stands still but for what waits: no timer was needed.
        assert!(since.elapsed() < Duration::from_millis(1));
        assert_eq!(stage.refused().await, CallError::Crashed);
        stage.far.say(event).await;
        settle().await;
        assert_eq!(stage.page.all().iter().filter(|note| *note == "Crashed").count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_crashed_session_takes_only_the_navigation_that_revives_it() {
    let mut stage = stage().await;
    stage
        .far
        .say(json!({"method": "Inspector.targetCrashed", "sessionId": "S1", "params": {}}))
        .await;
    settle().await;
    let (connection, session) = (Arc::clone(&stage.connection), Arc::clone(&stage.session));
    let revived = tokio::spawn(async move {
        connection.revive(&session, NavigateParams::new("http://a.test/"), LONG).await
    });
    let sent = stage.far.next().await;
    assert_eq!(sent["method"], "Page.navigate");
    assert_eq!(stage.refused().await, CallError::Crashed);
    let answer =
        json!({"id": sent["id"], "sessionId": "S1", "result": {"frameId": "F", "loaderId": "L"}});
    stage.far.say(answer).await;
    revived.await.unwrap().unwrap();
    assert_eq!(stage.page.all().last().unwrap(), "Revived");
    let (id, call) = stage.evaluation().await;
    stage.far.say(json!({"id": id, "sessionId": "S1", "result": {}})).await;
    assert!(call.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_detached_session_answers_at_once_and_takes_its_children_along() {
    for event in [
        json!({"method": "Target.detachedFromTarget", "params": {"sessionId": "S1"}}),
        json!({"method": "Target.targetDestroyed", "params": {"targetId": "T1"}}),
    ] {
        let mut stage = stage().await;
        stage.far.attach("S2", "frame", Some("S1")).await;
        stage.far.attach("S3", "worker", Some("S2")).await;
        let (_, call) = stage.evaluation().await;
        assert_eq!(stage.connection.sizes(), (1, 3));
        stage.far.say(event).await;
        assert_eq!(call.await.unwrap(), Err(CallError::Detached));
        assert_eq!(stage.refused().await, CallError::Detached);
        assert_eq!(stage.connection.sizes(), (0, 0));
        assert_eq!(stage.page.all().last().unwrap(), "Detached");
    }
}

#[tokio::test(start_paused = true)]
async fn a_closed_wire_answers_everything_once() {
    let Stage { connection, mut far, root, page, session } = {
        let mut stage = stage().await;
        let (_, call) = stage.evaluation().await;
        stage.far.write.shutdown().await.unwrap();
        assert_eq!(call.await.unwrap(), Err(CallError::Closed));
        stage
    };
    let asked: Result<Value, _> = connection.ask(None, EvaluateParams::new("1"), LONG).await;
    assert_eq!(asked, Err(CallError::Closed));
    let asked: Result<Value, _> =
        connection.ask(Some(&session), EvaluateParams::new("1"), LONG).await;
    assert_eq!(asked, Err(CallError::Closed));
    connection.close("again");
    assert_eq!(page.all().iter().filter(|note| *note == "Closed").count(), 1);
    assert_eq!(root.all().iter().filter(|note| *note == "Closed").count(), 1);
    drop(connection);
    // Our end is closed as well.
    let mut rest = Vec::new();
    assert_eq!(far.read.read_until(0, &mut rest).await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_ends_at_its_deadline_and_is_forgotten() {
    let stage = stage().await;
    let patience = Duration::from_secs(7);
    let since = Instant::now();
    let asked: Result<Value, _> =
        stage.connection.ask(Some(&stage.session), EvaluateParams::new("1"), patience).await;
    assert_eq!(asked, Err(CallError::TimedOut));
    assert_eq!(since.elapsed().as_secs(), 7);
    assert_eq!(stage.connection.sizes(), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_forgotten() {
    let mut stage = stage().await;
    let (id, call) = stage.evaluation().await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert_eq!(stage.connection.sizes(), (0, 1));
    stage.far.say(json!({"id": id, "sessionId": "S1", "result": {}})).await;
    let (id, call) = stage.evaluation().await;
    stage.far.say(json!({"id": id, "sessionId": "S1", "result": {}})).await;
    assert!(call.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn garbage_and_unknown_events_hurt_nobody() {
    let mut stage = stage().await;
    let (id, call) = stage.evaluation().await;
    for garbage in [&b"{"[..], b"[]", b"\xff\xfe", b"{\"id\":\"x\"}", b"{}", b""] {
        stage.far.raw(garbage).await;
    }
    stage.far.say(json!({"method": "Nobody.knows", "params": {"deep": [[[1]]]}})).await;
    stage.far.say(json!({"method": "Target.targetCrashed", "params": "odd"})).await;
    stage.far.say(json!({"method": "Inspector.targetCrashed", "sessionId": "nobody"})).await;
    stage.far.say(json!({"id": id, "sessionId": "S1", "result": {"ok": true}})).await;
    assert_eq!(call.await.unwrap().unwrap(), json!({"ok": true}));
}

#[tokio::test(start_paused = true)]
async fn events_of_children_are_heard_by_the_page() {
    let mut stage = stage().await;
    stage.far.attach("S2", "frame", Some("S1")).await;
    let child = json!({"method": "Network.requestWillBeSent", "sessionId": "S2", "params": {}});
    stage.far.say(child).await;
    let crash = json!({"method": "Inspector.targetCrashed", "sessionId": "S2", "params": {}});
    stage.far.say(crash).await;
    settle().await;
    let heard = stage.page.all();
    assert!(heard.contains(&"Network.requestWillBeSent on S2".to_owned()), "{heard:?}");
    // A frame's process died, not the page's.
    assert!(!heard.contains(&"Crashed".to_owned()), "{heard:?}");
    let (id, call) = stage.evaluation().await;
    stage.far.say(json!({"id": id, "sessionId": "S1", "result": {}})).await;
    assert!(call.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_stuck_browser_costs_a_bounded_queue() {
    let (near, far) = tokio::io::duplex(16);
    let (read, write) = tokio::io::split(near);
    let root = Arc::new(Notes::default());
    let heard: Weak<dyn Ear> = Arc::downgrade(&root) as Weak<dyn Ear>;
    let connection = Connection::start(Wire::pipe(read, write), heard);
    for _ in 0..2 * QUEUE {
        connection.post(None, EvaluateParams::new("1"));
    }
    let asked: Result<Value, _> =
        connection.ask(None, EvaluateParams::new("1"), Duration::from_secs(1)).await;
    assert_eq!(asked, Err(CallError::TimedOut));
    assert_eq!(connection.sizes(), (0, 0));
    drop(far);
}
