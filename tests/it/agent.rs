//! What the loop gives its model, and what it takes from it: messages, budgets, people, facts, files.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::json;
use strawmanus::domain::cost::{Price, Usage};
use strawmanus::domain::ids::{HoldId, RunId};
use strawmanus::domain::journal::{Entry, Event, Need, Standing, Status};
use strawmanus::domain::run::{Limits, OnHold, RunOrder};
use strawmanus::domain::tool::ToolCall;
use strawmanus::messages::guard::GuardMsg;
use strawmanus::messages::orchestrator::RunMsg;
use strawmanus::ports::model::{
    Answer, Conversation, Failed, FaultKind, Meaning, Model, ModelError,
};

use crate::support::house::{House, MINUTE, SECOND, limits, order};
use crate::support::memory::Memory;
use crate::support::web::{At, Fault, Web};

/// What the model does in one turn.
#[derive(Clone)]
enum Say {
    Call(&'static str),
    Noted(&'static str, &'static str),
    Fault,
    Error(ModelError),
}

use Say::{Call, Error, Noted};

/// Says one thing a request, then the last for ever, and keeps what it was asked.
#[derive(Clone, Default)]
struct Talker {
    says: Arc<Mutex<VecDeque<Say>>>,
    asked: Arc<Mutex<Vec<Conversation>>>,
    usage: Usage,
}

impl Talker {
    fn of(says: impl IntoIterator<Item = Say>) -> Self {
        let says = Arc::new(Mutex::new(says.into_iter().collect()));
        let usage = Usage { input: 1_000, output: 20, cached: 600, written: 0 };
        Self { says, usage, ..Self::default() }
    }

    fn told(&self, turn: usize) -> String {
        self.asked.lock().unwrap()[turn].newest.text.clone()
    }
}

#[async_trait]
impl Model for Talker {
    fn name(&self) -> String {
        "talker".into()
    }

    fn sees(&self) -> bool {
        true
    }

    async fn answer(&self, conversation: &Conversation) -> Result<Answer, Failed> {
        self.asked.lock().unwrap().push(conversation.clone());
        let mut says = self.says.lock().unwrap();
        let say = if says.len() > 1 { says.pop_front() } else { says.front().cloned() };
        let call = |line: &str| -> ToolCall { serde_json::from_str(line).unwrap() };
        let (raw, meaning, note) = match say.expect("something to say") {
            Call(line) => (line.to_owned(), Meaning::Call(call(line)), None),
            Noted(line, note) => (line.to_owned(), Meaning::Call(call(line)), Some(note.into())),
            Say::Fault => {
                let why = "it is prose".to_owned();
                ("Well…".into(), Meaning::Fault { kind: FaultKind::NoCall, why }, None)
            }
            Error(error) => return Err(Failed { error, usage: self.usage }),
        };
        Ok(Answer { raw, meaning, usage: self.usage, note })
    }
}

const VIEW: Say = Call(r#"{"tool":"browser_view"}"#);
const SCROLL: Say = Call(r#"{"tool":"browser_scroll_down"}"#);
const FINISH: Say = Call(r#"{"tool":"finish","args":{"answer":"done","autonomy":4}}"#);
const SEND: Say =
    Call(r#"{"tool":"browser_click","args":{"index":{"role":"button","name":"Send"}}}"#);
const MISS: Say =
    Call(r#"{"tool":"browser_click","args":{"index":{"role":"button","name":"Nowhere"}}}"#);
const ADD: Say =
    Call(r#"{"tool":"browser_click","args":{"index":{"role":"button","name":"Add to cart"}}}"#);
const DETAILS: Say =
    Call(r#"{"tool":"browser_click","args":{"index":{"role":"link","name":"Details"}}}"#);

/// A run that is over.
struct Played {
    house: Arc<House>,
    standing: Standing,
    entries: Vec<Entry>,
}

impl Played {
    fn ended(&self) -> (Status, &str) {
        let ended = self.standing.ended.as_ref().expect("an end");
        (ended.status, &ended.why)
    }

    fn outcomes(&self) -> Vec<&str> {
        self.standing.steps.iter().filter_map(|step| step.outcome.as_deref()).collect()
    }
}

async fn play(web: &Web, order: RunOrder, model: &Talker) -> Played {
    let house = Arc::new(House::build(web).await);
    let _feed = house.begin_with(order, Arc::new(model.clone())).await;
    let standing = house.over_with(1).await;
    let entries = house.entries(1);
    Played { house, standing, entries }
}

#[tokio::test(start_paused = true)]
async fn the_model_reads_a_page_once_and_then_what_changed() {
    let model = Talker::of([ADD, SCROLL, DETAILS, VIEW, FINISH]);
    let played = play(&Web::default(), order(1), &model).await;
    assert_eq!(played.ended(), (Status::Complete, "finished"));
    let whole = |turn: usize| model.told(turn).contains("[interactive]");
    // The first look, the page behind the link, and the look that was asked for.
    let wholes: Vec<_> = (0..5).map(whole).collect();
    assert_eq!(wholes, [true, false, false, true, true]);
    assert!(model.told(0).starts_with("The task:\ndo it\n\nThe page now:\n<page-data observation"));
    assert!(model.told(1).starts_with("<page-data result nonce"), "{}", model.told(1));
    assert!(model.told(1).contains("changed\nPOST /act → 200"), "{}", model.told(1));
    assert!(!model.told(1).contains("do it"));
}

#[tokio::test(start_paused = true)]
async fn what_was_told_is_told_again_word_for_word() {
    let model = Talker::of([ADD, SCROLL, VIEW, MISS, FINISH]);
    play(&Web::default(), order(1), &model).await;
    let asked = model.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 5);
    for (before, after) in asked.iter().zip(&asked[1..]) {
        assert_eq!(after.turns[..before.turns.len()], before.turns[..]);
        assert_eq!(after.turns[before.turns.len()].message, before.newest);
    }
    let nonces: std::collections::BTreeSet<_> = asked
        .iter()
        .map(|asked| asked.newest.text.split_once("nonce").unwrap().1[..4].to_owned())
        .collect();
    assert_eq!(nonces.len(), 5, "one for each message");
}

#[tokio::test(start_paused = true)]
async fn old_turns_are_folded_in_blocks() {
    let mut order = order(1);
    (order.context.fold_at, order.context.recent_steps) = (900, 3);
    let model = Talker::of(std::iter::repeat_n(VIEW, 13).chain([FINISH]));
    order.limits.without_progress = 99;
    let played = play(&Web::default(), order, &model).await;
    let folds: Vec<_> = played
        .entries
        .iter()
        .filter_map(|entry| match entry.what {
            Event::Folded { before } => Some(before),
            _ => None,
        })
        .collect();
    assert!(folds.len() >= 2, "{folds:?}");
    assert!(
        folds.windows(2).all(|pair| pair[1] > pair[0] + 1),
        "never a turn at a time: {folds:?}"
    );
    let asked = model.asked.lock().unwrap();
    let last = asked.last().unwrap();
    let folded =
        last.turns.iter().filter(|turn| turn.message.text.contains("(older; folded")).count();
    assert_eq!(folded, *folds.last().unwrap());
    assert!(last.turns[0].message.text.starts_with("The task:\ndo it"), "the task is never folded");
    let changed =
        asked.windows(2).filter(|pair| pair[1].turns[..pair[0].turns.len()] != pair[0].turns[..]);
    assert_eq!(changed.count(), folds.len(), "the cache loses only by a fold");
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_no_call_are_told_and_paid_for() {
    let model = Talker::of([Say::Fault, Say::Fault, ADD, FINISH]);
    let played = play(&Web::default(), order(1), &model).await;
    assert_eq!(played.outcomes(), ["no_call", "no_call", "changed", "finished"]);
    assert_eq!(played.ended().0, Status::Complete);
    assert_eq!(played.standing.usage.input, 4_000);
    assert!(
        model.told(1).contains("Your answer was no call that can be carried out: it is prose.")
    );
    assert!(!model.told(1).contains("page-data result"), "nothing was done that had a result");
    assert_eq!(model.asked.lock().unwrap()[1].turns[0].call, None);
    // For ever: the limit of errors ends it.
    let played = play(&Web::default(), order(1), &Talker::of([Say::Fault])).await;
    assert_eq!(played.ended(), (Status::Blocked, "5 steps in a row failed"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_call_is_not_bought_again_by_the_next_incarnation() {
    let first = play(&Web::default(), order(1), &Talker::of([Say::Fault, FINISH])).await;
    let lines = first.house.memory.lines(RunId(1));
    let answered = first.entries.iter().position(|e| matches!(e.what, Event::Answered { .. }));
    let memory = Memory::default();
    memory.leave(RunId(1), lines[..=answered.unwrap()].to_vec());
    let house = House::over(&Web::default(), memory).await;
    let model = Talker::of([ADD, FINISH]);
    house.begin_with(order(1), Arc::new(model.clone())).await;
    let standing = house.over_with(1).await;
    let outcomes: Vec<_> = standing.steps.iter().filter_map(|s| s.outcome.as_deref()).collect();
    assert_eq!(outcomes, ["no_call", "changed", "finished"]);
    assert_eq!((standing.resumed, model.asked.lock().unwrap().len()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn what_was_mended_in_an_answer_is_told() {
    let two = r#"{"tool":"browser_scroll_down"}"#;
    let model = Talker::of([Noted(two, "of two calls the first was done"), FINISH]);
    play(&Web::default(), order(1), &model).await;
    assert!(
        model.told(1).contains("Your last answer was mended: of two calls the first was done.")
    );
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_too_long_is_folded_and_told_once_more() {
    let too_long = || Error(ModelError::TooLong { detail: "200001 tokens".into() });
    let model = Talker::of([VIEW, VIEW, VIEW, too_long(), FINISH]);
    let played = play(&Web::default(), order(1), &model).await;
    assert_eq!(played.ended().0, Status::Complete);
    assert!(played.entries.iter().any(|entry| matches!(entry.what, Event::Folded { before: 2 })));
    assert_eq!(played.standing.usage.input, 5_000, "a try that failed is paid for too");
    let told = model.asked.lock().unwrap()[4].turns[0].message.text.clone();
    assert!(told.contains("(older; folded"), "{told}");
    let model = Talker::of([VIEW, too_long()]);
    let played = play(&Web::default(), order(1), &model).await;
    assert_eq!(played.ended().0, Status::Failed);
    assert!(played.ended().1.contains("longer than the model can read"), "{:?}", played.ended());
}

#[tokio::test(start_paused = true)]
async fn errors_of_the_service_end_the_run_with_their_reason() {
    for (error, why) in [
        (
            ModelError::Denied { status: 401, variable: "ANTHROPIC_API_KEY" },
            "refused the key (401)",
        ),
        (ModelError::Refused { detail: "no".into() }, "the model refused to answer"),
        (ModelError::Silent { seconds: 60 }, "sent nothing for 60 s"),
    ] {
        let played = play(&Web::default(), order(1), &Talker::of([SCROLL, Error(error)])).await;
        assert_eq!(played.ended().0, Status::Failed);
        assert!(played.ended().1.contains(why), "{:?}", played.ended());
        assert!(played.house.memory.file("report.md").unwrap().contains(why));
        assert_eq!(played.standing.usage.input, 2_000);
    }
}

#[tokio::test(start_paused = true)]
async fn budgets_end_a_run_before_they_are_passed() {
    let price = Price { input: 1.0, output: 10.0, cached: None, written: None };
    for (tokens, cost, why) in [
        (Some(12_000), None, "12000 tokens (limits.tokens)"),
        (None, Some(0.012), "0.012 USD (--max-cost)"),
    ] {
        let limits = Limits { tokens, cost, without_progress: 99, ..limits() };
        let order = RunOrder { limits, price: Some(price), ..order(1) };
        let played = play(&Web::default(), order, &Talker::of([SCROLL])).await;
        assert_eq!(played.ended().0, Status::Blocked);
        assert!(played.ended().1.contains(why), "{:?}", played.ended());
        assert!(!played.standing.steps.is_empty());
        assert!(played.standing.usage.tokens() <= tokens.unwrap_or(u64::MAX));
        assert!(price.of(played.standing.usage) <= cost.unwrap_or(f64::MAX));
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_thrice_is_told_the_ladder() {
    let model = Talker::of([MISS, MISS, MISS, FINISH]);
    let mut order = order(1);
    order.limits.without_progress = 99;
    play(&Web::default(), order, &model).await;
    let says = |turn: usize| model.told(turn).contains("Climb the ladder");
    assert_eq!([1, 2, 3].map(says), [false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn addresses_from_nowhere_are_not_opened() {
    let go = |url: &str| -> Say {
        let line = json!({ "tool": "browser_navigate", "args": { "url": url } }).to_string();
        Call(String::leak(line))
    };
    let model = Talker::of([
        go("http://shop.test/admin"),
        go("http://evil.test/"),
        go("http://named.test/"),
        go("http://shop.test/"),
        FINISH,
    ]);
    let web = Web::default();
    let order = RunOrder { task: "Look at named.test too".into(), ..order(1) };
    let played = play(&web, order, &model).await;
    assert_eq!(played.outcomes(), ["refused", "refused", "navigated", "navigated", "finished"]);
    let log = web.log();
    assert!(!log.iter().any(|line| line.contains("evil") || line.contains("admin")), "{log:?}");
    assert!(model.told(1).contains("neither named by the user nor seen as a link"));
    let new_tab = r#"{"tool":"browser_tabs","args":{"action":"new","url":"http://evil.test/"}}"#;
    let played = play(&web, self::order(1), &Talker::of([Call(new_tab), FINISH])).await;
    assert_eq!(played.outcomes()[0], "refused");
}

/// Begins a run whose only act is held, and lets a person decide once it waits.
async fn decided(on_hold: OnHold, approve: Option<bool>) -> (Played, Web) {
    let web = Web::default();
    let house = Arc::new(House::build(&web).await);
    let model = Talker::of([SEND, FINISH]);
    let order = RunOrder { on_hold, attended: true, ..order(1) };
    let mut feed = house.begin_with(order, Arc::new(model)).await;
    if let Some(approve) = approve {
        let hold = loop {
            let entry = tokio::time::timeout(MINUTE, feed.recv()).await.unwrap().unwrap();
            if let Event::Waiting { need: Need::Approval { hold, .. }, .. } = entry.what {
                break hold;
            }
        };
        decide(&house, hold, approve).await;
    }
    let standing = house.over_with(1).await;
    let entries = house.entries(1);
    (Played { house, standing, entries }, web)
}

async fn decide(house: &House, id: HoldId, approve: bool) {
    let guard = house.world.doors.guard.find(&()).unwrap();
    let decide = |reply| GuardMsg::Decide { id, approve, reply };
    guard.ask(decide, MINUTE).await.unwrap().unwrap();
    let run = house.world.doors.orchestrators.find(&RunId(1)).unwrap();
    let decided = |reply| RunMsg::Decided { hold: id, approved: approve, reply };
    assert_eq!(run.ask(decided, MINUTE).await.unwrap(), Ok(true));
}

fn sent(web: &Web) -> usize {
    web.log().iter().filter(|line| *line == "POST Send").count()
}

#[tokio::test(start_paused = true)]
async fn a_run_waits_for_an_approval_and_does_the_act_once() {
    let (played, web) = decided(OnHold::Ask, Some(true)).await;
    assert_eq!(played.outcomes(), ["changed", "finished"]);
    assert_eq!(played.ended(), (Status::Complete, "finished"));
    assert_eq!(sent(&web), 1);
    let report = played.house.memory.file("report.md").unwrap();
    assert!(!report.contains("Held for approval"), "{report}");
    let decisions = played.house.memory.file("guard.json").unwrap();
    assert!(decisions.contains("\"held\"") && decisions.contains("\"approved\""), "{decisions}");
}

#[tokio::test(start_paused = true)]
async fn what_is_denied_or_nobody_decides_on_is_not_done() {
    for (on_hold, approve) in [
        (OnHold::Ask, Some(false)),
        (OnHold::Wait(MINUTE), Some(false)),
        (OnHold::Wait(MINUTE), None),
        (OnHold::Skip, None),
    ] {
        let (played, web) = decided(on_hold, approve).await;
        assert_eq!(played.outcomes(), ["held", "finished"], "{on_hold:?}");
        assert_eq!(sent(&web), 0, "{on_hold:?}");
        assert_eq!(played.ended(), (Status::Partial, "it lacks nothing but 1 held act"));
        assert!(played.house.memory.file("report.md").unwrap().contains("Held for approval"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_changed_before_the_approval_is_not_acted_on() {
    let web = Web::default();
    let house = Arc::new(House::build(&web).await);
    let order = RunOrder { on_hold: OnHold::Ask, attended: true, ..order(1) };
    let mut feed = house.begin_with(order, Arc::new(Talker::of([SEND, FINISH]))).await;
    let hold = loop {
        let entry = tokio::time::timeout(MINUTE, feed.recv()).await.unwrap().unwrap();
        if let Event::Waiting { need: Need::Approval { hold, .. }, .. } = entry.what {
            break hold;
        }
    };
    let _ = web.clone().with(At::Call("resolve"), 1..=999, Fault::Retype);
    decide(&house, hold, true).await;
    let standing = house.over_with(1).await;
    assert_eq!(standing.steps[0].outcome.as_deref(), Some("refused"), "{:?}", standing.steps[0]);
    assert_eq!(sent(&web), 0);
}

#[tokio::test(start_paused = true)]
async fn questions_reach_a_person_who_is_there() {
    const ASK: Say = Call(r#"{"tool":"ask_user","args":{"question":"Red or blue?"}}"#);
    let house = Arc::new(House::build(&Web::default()).await);
    let model = Talker::of([ASK, FINISH]);
    let order = RunOrder { attended: true, ..order(1) };
    let mut feed = house.begin_with(order, Arc::new(model.clone())).await;
    loop {
        let entry = tokio::time::timeout(MINUTE, feed.recv()).await.unwrap().unwrap();
        if let Event::Waiting { need: Need::Answer { question }, .. } = entry.what {
            assert_eq!(question, "Red or blue?");
            break;
        }
    }
    let run = house.world.doors.orchestrators.find(&RunId(1)).unwrap();
    let reply = |reply| RunMsg::Reply { text: "Red, please".into(), reply };
    assert_eq!(run.ask(reply, MINUTE).await.unwrap(), Ok(true));
    let again = |reply| RunMsg::Reply { text: "Blue".into(), reply };
    tokio::time::sleep(SECOND / 100).await;
    assert_ne!(run.ask(again, MINUTE).await, Ok(Ok(true)), "it waits for nothing any more");
    let standing = house.over_with(1).await;
    assert_eq!(standing.steps[0].outcome.as_deref(), Some("answered"));
    assert!(model.told(1).contains("The user answers: Red, please"), "{}", model.told(1));
    // Nobody there: told at once.
    let model = Talker::of([ASK, FINISH]);
    let played = play(&Web::default(), self::order(1), &model).await;
    assert_eq!(played.outcomes(), ["refused", "finished"]);
    assert!(model.told(1).contains("nobody is there to answer"));
}

#[tokio::test(start_paused = true)]
async fn facts_need_a_page_that_was_opened() {
    let fact = |url: &str| -> Say {
        let args = json!({
            "claim": "The kettle costs 39", "entity": "Kettle", "attribute": "price",
            "value": "39", "url": url,
        });
        Call(String::leak(json!({ "tool": "record_fact", "args": args }).to_string()))
    };
    let model =
        Talker::of([fact("http://shop.test/details"), fact("http://shop.test/#top"), FINISH]);
    let order = RunOrder { expect: Some(1), ..order(1) };
    let played = play(&Web::default(), order, &model).await;
    assert_eq!(played.outcomes(), ["refused", "recorded", "finished"]);
    assert!(model.told(1).contains("was not opened in this run"));
    assert_eq!(played.ended(), (Status::Complete, "finished"));
    let report = played.house.memory.file("report.md").unwrap();
    assert!(
        report.contains("| Kettle | 39 |") && report.contains("**Entities Found:** 1/1"),
        "{report}"
    );
    let order = RunOrder { expect: Some(2), ..self::order(1) };
    let played =
        play(&Web::default(), order, &Talker::of([fact("http://shop.test/"), FINISH])).await;
    assert_eq!(played.ended(), (Status::Partial, "facts of 1 entities were recorded, of 2"));
}

#[tokio::test(start_paused = true)]
async fn files_stay_in_the_runs_folder() {
    let model = Talker::of([
        Call(r#"{"tool":"file_list"}"#),
        Call(r##"{"tool":"file_write","args":{"path":"notes/a.md","text":"# Hello\nworld"}}"##),
        Call(r#"{"tool":"file_read","args":{"path":"notes/a.md"}}"#),
        Call(r#"{"tool":"file_list"}"#),
        Call(r#"{"tool":"file_read","args":{"path":"../report.md"}}"#),
        Call(r#"{"tool":"file_read","args":{"path":"missing.md"}}"#),
        Call(r#"{"tool":"notify_user","args":{"text":"Half done"}}"#),
        FINISH,
    ]);
    let played = play(&Web::default(), order(1), &model).await;
    assert_eq!(
        played.outcomes(),
        ["listed", "written", "read", "listed", "refused", "refused", "told", "finished"]
    );
    assert_eq!(played.house.memory.file("files/notes/a.md").unwrap(), "# Hello\nworld");
    assert!(model.told(3).contains("# Hello\nworld"));
    assert!(model.told(4).contains("notes/a.md (13 bytes)"));
    assert!(
        played.entries.iter().any(
            |entry| matches!(&entry.what, Event::Notified { text, .. } if text == "Half done")
        )
    );
}

#[tokio::test(start_paused = true)]
async fn elements_are_found_by_words_and_acted_on() {
    let find = |description: &str, action: &str| -> Say {
        let args = json!({ "description": description, "action": action, "text": "Ann" });
        Call(String::leak(json!({ "tool": "browser_find", "args": args }).to_string()))
    };
    let model = Talker::of([
        find("the cart button", "none"),
        find("add to crat", "click"),
        find("to field", "input"),
        find("checkout", "click"),
        find("send button", "click"),
        FINISH,
    ]);
    let web = Web::default();
    let played = play(&web, order(1), &model).await;
    assert_eq!(played.outcomes(), ["found", "changed", "changed", "not_found", "held", "finished"]);
    assert!(model.told(1).contains("<button>Add to cart</button>"), "{}", model.told(1));
    let log = web.log();
    assert!(
        log.contains(&"POST Add to cart".into()) && log.contains(&"typed Ann".into()),
        "{log:?}"
    );
    assert!(!log.contains(&"POST Send".into()), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_has_its_own_tabs_and_touches_no_others() {
    let tabs = |args: &str| -> Say {
        Call(String::leak(format!(r#"{{"tool":"browser_tabs","args":{args}}}"#)))
    };
    let web = Web::default();
    let house = Arc::new(House::build(&web).await);
    let shell = house.new_tab("http://mine.test/").await;
    let model = Talker::of([
        tabs(r#"{"action":"list"}"#),
        tabs(&format!(r#"{{"action":"switch","tab":"{shell}"}}"#)),
        tabs(&format!(r#"{{"action":"close","tab":"{shell}"}}"#)),
        tabs(r#"{"action":"close"}"#),
        tabs(r#"{"action":"new","url":"http://shop.test/"}"#),
        tabs(r#"{"action":"close"}"#),
        FINISH,
    ]);
    house.begin_with(order(1), Arc::new(model.clone())).await;
    let standing = house.over_with(1).await;
    let outcomes: Vec<_> = standing.steps.iter().filter_map(|s| s.outcome.clone()).collect();
    assert_eq!(
        outcomes,
        ["listed", "refused", "refused", "refused", "navigated", "changed", "finished"]
    );
    assert!(!model.told(1).contains("mine.test"), "{}", model.told(1));
    let left: Vec<_> = house.tabs().await.iter().map(|line| line.id).collect();
    assert_eq!(left, [shell]);
}

#[tokio::test(start_paused = true)]
async fn a_page_is_extracted_and_its_console_read() {
    let model = Talker::of([
        Call(r#"{"tool":"browser_extract","args":{"query":"send","schema":{"type":"object"}}}"#),
        Call(r#"{"tool":"browser_console_view"}"#),
        Call(r#"{"tool":"browser_console_exec","args":{"javascript":"document.title"}}"#),
        Call(
            r#"{"tool":"browser_console_exec","args":{"javascript":"document.forms[0].submit()"}}"#,
        ),
        Call(r#"{"tool":"browser_move_mouse","args":{"coordinate_x":50,"coordinate_y":90}}"#),
        FINISH,
    ]);
    let web = Web::default();
    let played = play(&web, order(1), &model).await;
    let outcomes = played.outcomes();
    assert_eq!(outcomes[..2], ["extracted", "listed"]);
    assert!(model.told(1).contains("of http://shop.test/:"), "{}", model.told(1));
    assert!(model.told(3).contains("value: "), "{}", model.told(3));
    assert_eq!(outcomes[3], "held");
    assert!(web.log().iter().any(|line| line.starts_with("hover 50, 90")));
}

#[tokio::test(start_paused = true)]
async fn a_picture_is_kept_and_shown_to_a_model_that_sees() {
    let model = Talker::of([Call(r#"{"tool":"browser_screenshot"}"#), FINISH]);
    let played = play(&Web::default(), order(1), &model).await;
    assert_eq!(played.outcomes(), ["pictured", "finished"]);
    let name = played.standing.steps[0].picture.clone().unwrap();
    assert!(played.house.memory.file(&name).is_some(), "{name}");
    let asked = model.asked.lock().unwrap();
    assert!(asked[1].newest.picture.is_some() && asked[0].newest.picture.is_none());
}
