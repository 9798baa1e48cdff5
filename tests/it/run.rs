use std::sync::Arc;

use strawmanus::domain::ids::RunId;
use strawmanus::domain::journal::{Entry, Event, Standing, Status, Verdict};
use strawmanus::domain::outcome::OutcomeKind;
use strawmanus::domain::run::{Consent, Limits, RunOrder};
use strawmanus::messages::orchestrator::RunMsg;
use strawmanus::messages::session::Owner;
use strawmanus::messages::supervisor::Seat;
use strawmanus::ports::store::Table;
use tokio::sync::broadcast::Receiver;

use crate::support::house::{
    House, LEDGER, MINUTE, ORCHESTRATOR, PERCEPTION, SECOND, limits, order, quiet,
};
use crate::support::memory::Memory;
use crate::support::model::{Heard, Mute};
use crate::support::web::{At, Fault, Web};

/// Fills, posts, follows a link, tries to send, and finishes.
const SCRIPT: &str = r#"
{"tool":"browser_view","args":{}}
{"tool":"browser_input","args":{"index":{"role":"textbox","name":"To"},"text":"Ann","press_enter":false}}
{"tool":"browser_click","args":{"index":{"role":"button","name":"Add to cart"}}}
{"tool":"browser_scroll_down","args":{"to_bottom":false}}
{"tool":"browser_click","args":{"index":{"role":"link","name":"Details"}}}
{"tool":"browser_input","args":{"index":{"role":"textbox","name":"To"},"text":"Bob","press_enter":false}}
{"tool":"browser_click","args":{"index":{"role":"button","name":"Send"}}}
{"tool":"finish","args":{"answer":"done"}}
"#;
const STEPS: u32 = 8;
/// How many entries the journal has when nothing goes wrong.
const ENTRIES: usize = 40;
/// The entry from which on the run no longer looks at its page.
const LAST: usize = 35;

fn click(name: &str) -> String {
    format!(r#"{{"tool":"browser_click","args":{{"index":{{"role":"button","name":"{name}"}}}}}}"#)
}

fn input(text: &str) -> String {
    let to = r#"{"role":"textbox","name":"To"}"#;
    format!(
        r#"{{"tool":"browser_input","args":{{"index":{to},"text":"{text}","press_enter":false}}}}"#
    )
}

const FINISH: &str = r#"{"tool":"finish","args":{"answer":"done"}}"#;

fn script(calls: &[String]) -> String {
    format!("{}\n{FINISH}", calls.join("\n"))
}

/// A run that is over.
struct Played {
    house: Arc<House>,
    model: Heard,
    entries: Vec<Entry>,
    standing: Standing,
    log: Vec<String>,
}

impl Played {
    fn outcome(&self, step: usize) -> &str {
        let step = self.standing.steps.get(step - 1);
        step.and_then(|step| step.outcome.as_deref()).unwrap_or("none")
    }

    fn status(&self) -> (Status, &str) {
        let ended = self.standing.ended.as_ref();
        ended.map_or((Status::Failed, "no end is in the journal"), |end| (end.status, &end.why))
    }

    fn done(&self, what: &str) -> usize {
        self.log.iter().filter(|line| *line == what).count()
    }
}

/// Plays a script, and lets something happen at entries of its journal as they are written.
async fn play_over(
    (web, memory): (&Web, Memory),
    script: &str,
    mut happens: impl FnMut(&House, usize, &Entry) + Send + 'static,
) -> Played {
    let house = Arc::new(House::over(web, memory).await);
    let model = Heard::script(script);
    let mut feed = house.begin_with(order(1), Arc::new(model.clone())).await;
    let witness = Arc::clone(&house);
    // A task of its own: the runtime lets it run in turn with the actors, not after them.
    let watch = tokio::spawn(async move {
        let mut seen = 0;
        while let Ok(entry) = feed.recv().await {
            happens(&witness, seen, &entry);
            seen += 1;
        }
    });
    let standing = house.over_with(1).await;
    watch.abort();
    let (entries, log) = (house.entries(1), web.log());
    Played { house, model, entries, standing, log }
}

async fn play(
    web: &Web,
    script: &str,
    happens: impl FnMut(&House, usize, &Entry) + Send + 'static,
) -> Played {
    play_over((web, Memory::default()), script, happens).await
}

fn word(event: &Event) -> &'static str {
    match event {
        Event::Began { .. } => "began",
        Event::Asked { .. } => "asked",
        Event::Answered { .. } => "answered",
        Event::Unanswered { .. } => "unanswered",
        Event::Folded { .. } => "folded",
        Event::Waiting { .. } => "waiting",
        Event::Met { .. } => "met",
        Event::Recorded { .. } => "recorded",
        Event::Notified { .. } => "notified",
        Event::Intended { .. } => "intended",
        Event::Judged { .. } => "judged",
        Event::Came { .. } => "came",
        Event::Restarted { .. } => "restarted",
        Event::Resumed { .. } => "resumed",
        Event::Ended { .. } => "ended",
    }
}

#[tokio::test(start_paused = true)]
async fn a_script_is_played_to_its_end_one_tool_a_turn() {
    let played = play(&Web::default(), SCRIPT, |_, _, _| {}).await;
    let words: Vec<_> = played.entries.iter().map(|entry| word(&entry.what)).collect();
    let mut expected = vec!["began"];
    for step in 1..=STEPS {
        expected.extend(["asked", "answered", "intended"]);
        expected.extend(if [1, 8].contains(&step) { vec!["came"] } else { vec!["judged", "came"] });
    }
    expected.push("ended");
    assert_eq!((words.len(), words), (ENTRIES, expected));
    assert_eq!(played.status(), (Status::Partial, "it lacks nothing but 1 held act"));
    let outcomes: Vec<_> = (1..=8).map(|step| played.outcome(step)).collect();
    assert_eq!(
        outcomes,
        ["observed", "changed", "changed", "changed", "navigated", "changed", "held", "finished"]
    );
    assert_eq!(
        played.log,
        [
            "open T1 about:blank",
            "navigate http://shop.test/",
            "typed Ann",
            "POST Add to cart",
            "typed Bob",
            // Its page stays: the held act may still be approved there.
        ]
    );
    let numbers: Vec<_> = played.model.asked().iter().map(|asked| asked.number).collect();
    assert_eq!(numbers, (0..8).collect::<Vec<_>>());
    assert_eq!(played.model.asked()[7].turns.len(), 7);
    assert!(played.model.asked()[7].newest.text.contains("held\nheld for a person as h1"));
}

#[tokio::test(start_paused = true)]
async fn a_run_leaves_three_files_and_nothing_else() {
    let played = play(&Web::default(), SCRIPT, |_, _, _| {}).await;
    let file = |name: &str| played.house.memory.file(name).unwrap_or_default();
    assert!(file("report.md").contains("**Status:** Partial"), "{}", file("report.md"));
    assert!(file("trace.json").contains(r#""event": "ended""#));
    assert!(file("guard.json").contains(r#""verdict": "held""#));
    let tabs: Vec<_> = played.house.tabs().await.iter().map(|line| line.owner).collect();
    assert_eq!(tabs, [Owner::Shell], "the page of the held act, and it is the person's now");
    assert!(played.house.world.doors.orchestrators.find(&RunId(1)).is_none());
    assert_eq!(played.house.memory.rows(Table::Holds), 1);
    let held: Vec<_> = played.standing.held().map(|(step, judged)| (step.number, judged)).collect();
    assert_eq!(held.len(), 1);
    assert!(matches!((held[0].0, &held[0].1.verdict), (7, Verdict::Held { .. })));
}

#[tokio::test(start_paused = true)]
async fn what_lacks_nothing_is_complete_and_what_is_allowed_is_done() {
    let house = House::build(&Web::default()).await;
    let consent = Consent { auto_approve: true, hosts: vec!["shop.test".into()] };
    let order = RunOrder { consent, ..order(1) };
    house.begin_with(order, Arc::new(Heard::script(SCRIPT))).await;
    let standing = house.over_with(1).await;
    let ended = standing.ended.unwrap();
    assert_eq!((ended.status, ended.answer.as_deref()), (Status::Complete, Some("done")));
    assert_eq!(standing.steps[6].judged[0].verdict, Verdict::Allowed);
    assert!(house.web.log().contains(&"POST Send".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_begin_is_blocked() {
    let web = Web::default().with(At::Launch, 1..=99, Fault::Refuse);
    let played = play(&web, FINISH, |_, _, _| {}).await;
    let (status, why) = played.status();
    assert_eq!(status, Status::Blocked);
    assert!(why.contains("the browser did not start"), "{why}");
    assert!(played.model.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_ends_the_run() {
    let played = play(&Web::default(), r#"{"tool":"browser_view","args":{}}"#, |_, _, _| {}).await;
    let (status, why) = played.status();
    assert_eq!(status, Status::Failed);
    assert!(why.contains("turn 2 has no line"), "{why}");
    assert!(played.house.memory.file("report.md").unwrap().contains("**Status:** Failed"));
}

#[tokio::test(start_paused = true)]
async fn each_limit_ends_a_run_with_its_name() {
    let all = limits();
    let view = r#"{"tool":"browser_view","args":{}}"#.to_owned();
    let looks = script(&vec![view; 50]);
    let misses = script(&vec![click("Nowhere"); 50]);
    let table = [
        (
            Limits { steps: 3, ..all },
            Some(&looks),
            "the limit of 3 steps was reached (--max-steps)",
        ),
        (Limits { errors_in_a_row: 2, ..all }, Some(&misses), "2 steps in a row failed"),
        (
            Limits { time: MINUTE / 2, ..all },
            None,
            "the limit of 0.5 min was reached (--max-minutes)",
        ),
    ];
    for (limits, script, why) in table {
        let house = House::build(&Web::default()).await;
        let order = RunOrder { limits, ..order(1) };
        match script {
            Some(script) => house.begin_with(order, Arc::new(Heard::script(script))).await,
            None => house.begin_with(order, Arc::new(Mute)).await,
        };
        let ended = house.over_with(1).await.ended.unwrap();
        assert_eq!((ended.status, ended.why.as_str()), (Status::Blocked, why));
        assert!(house.memory.file("report.md").unwrap().contains(why));
    }
}

#[tokio::test(start_paused = true)]
async fn limits_count_what_earlier_incarnations_did() {
    let all = limits();
    for (limits, why) in [
        (Limits { steps: 4, ..all }, "the limit of 4 steps"),
        (Limits { errors_in_a_row: 4, ..all }, "4 steps in a row failed"),
        (Limits { time: 11 * SECOND, ..all }, "the limit of 0.2 min"),
    ] {
        let web = Web::default().with(At::Call("walk"), 1..=99, Fault::Slow(2 * SECOND));
        let house = House::build(&web).await;
        let order = RunOrder { limits, ..order(1) };
        let misses = script(&vec![click("Nowhere"); 50]);
        let mut feed = house.begin_with(order, Arc::new(Heard::script(&misses))).await;
        for step in 1..=3 {
            while !came(&next(&mut feed).await, step) {}
            house.kill(ORCHESTRATOR);
        }
        let standing = house.over_with(1).await;
        let ended = standing.ended.clone().unwrap();
        assert!(ended.why.starts_with(why), "{why}: {}", ended.why);
        assert_eq!((standing.resumed, standing.steps.len() <= 4), (3, true), "{why}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_run_with_a_report() {
    // While the model thinks, and while an act is under way.
    for acting in [false, true] {
        let house = House::build(&Web::default().with(At::Click, 1..=1, Fault::Hang)).await;
        let model = Heard::script(&script(&[click("Add to cart")]));
        let mut feed = match acting {
            true => house.begin_with(order(1), Arc::new(model)).await,
            false => house.begin_with(order(1), Arc::new(Mute)).await,
        };
        while word(&next(&mut feed).await.what) != if acting { "intended" } else { "asked" } {}
        tokio::time::sleep(SECOND).await;
        let run = house.world.doors.orchestrators.find(&RunId(1)).unwrap();
        let stop = |reply| RunMsg::Stop { why: "stopped by a person".into(), reply };
        let began = tokio::time::Instant::now();
        run.ask(stop, MINUTE).await.unwrap().unwrap();
        let standing = house.over_with(1).await;
        assert!(began.elapsed() < SECOND, "{:?}", began.elapsed());
        let ended = standing.ended.clone().unwrap();
        assert_eq!((ended.status, &*ended.why), (Status::Partial, "stopped by a person"));
        assert_eq!(standing.in_doubt().count(), usize::from(acting));
        assert!(house.memory.file("report.md").unwrap().contains("stopped by a person"));
        assert_eq!((house.tabs().await, house.web.under_way()), (vec![], 0));
    }
}

fn came(entry: &Entry, number: u32) -> bool {
    matches!(entry.what, Event::Came { step, .. } if step == number)
}

async fn next(feed: &mut Receiver<Entry>) -> Entry {
    tokio::time::timeout(60 * MINUTE, feed.recv()).await.expect("another entry").unwrap()
}

/// What must be true of the script above, whatever happened on the way.
fn check(played: &Played, name: &str, faults: &mut Vec<String>) {
    let mut wrong = |is_wrong: bool, what: String| {
        if is_wrong {
            faults.push(format!("{name}: {what}"));
        }
    };
    let count = |wanted: &str, number: u32| {
        let fits = |entry: &&Entry| {
            word(&entry.what) == wanted
                && match entry.what {
                    Event::Asked { step, .. }
                    | Event::Answered { step, .. }
                    | Event::Came { step, .. } => step == number,
                    _ => true,
                }
        };
        played.entries.iter().filter(fits).count()
    };
    for step in 1..=STEPS {
        let answered = count("answered", step);
        wrong(answered != 1, format!("step {step} was answered {answered} times"));
        let came = count("came", step);
        wrong(came != 1, format!("step {step} came {came} times"));
        let asked = played.model.asked().iter().filter(|a| a.number as u32 + 1 == step).count();
        wrong(asked > count("asked", step), format!("step {step} was asked for {asked} times"));
    }
    let asked = played.model.asked().len();
    wrong(asked > STEPS as usize + 1, format!("the model was asked {asked} times"));
    wrong(count("ended", 0) != 1, "it did not end once".into());
    let doubt = OutcomeKind::InDoubt.word();
    let sure = |step: usize| played.outcome(step) != doubt;
    let posted = played.done("POST Add to cart");
    wrong(posted > 1 || (sure(3) && posted != 1), format!("posted {posted} times"));
    wrong(played.done("POST Send") > 0, "what is held was sent".into());
    // An act in doubt was told of, and looked for; the script does not mind.
    let (status, why) = played.status();
    let expected = if sure(7) { Status::Partial } else { Status::Complete };
    wrong(status != expected, format!("it ended {status:?}: {why}"));
    wrong(played.house.memory.file("report.md").is_none(), "it left no report".into());
    wrong(played.house.web.under_way() > 0, "calls are still waited for".into());
}

/// Lets something happen after every entry of the journal, each time to another run.
async fn at_every_point(name: &str, happens: fn(&House)) -> Vec<Played> {
    let (mut faults, mut all) = (Vec::new(), Vec::new());
    for point in 0..ENTRIES {
        let played = play(&Web::default(), SCRIPT, move |house, seen, _| {
            if seen == point {
                happens(house);
            }
        })
        .await;
        quiet().await;
        check(&played, &format!("{name} after entry {point}"), &mut faults);
        all.push(played);
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
    all
}

fn counted(played: &[Played], what: &str) -> Vec<u32> {
    let times = |played: &Played| played.standing.restarts.get(what).copied().unwrap_or_default();
    played.iter().map(times).collect()
}

#[tokio::test(start_paused = true)]
async fn an_orchestrator_that_is_killed_anywhere_goes_on_from_its_journal() {
    let all = at_every_point("killed", |house| house.kill(ORCHESTRATOR)).await;
    let resumed: Vec<_> = all.iter().map(|played| played.standing.resumed).collect();
    assert_eq!(resumed[..ENTRIES - 2], [1; ENTRIES - 2], "later, the end was written already");
    assert_eq!(counted(&all, "orchestrator")[..ENTRIES - 2], resumed[..ENTRIES - 2]);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_killed_before_it_went_anywhere_goes_there() {
    let house = House::build(&Web::default().with(At::Open, 1..=1, Fault::Slow(SECOND))).await;
    let model = Heard::script(FINISH);
    house.begin_with(order(1), Arc::new(model.clone())).await;
    tokio::time::sleep(SECOND / 2).await;
    house.kill(ORCHESTRATOR);
    assert_eq!(house.over_with(1).await.ended.unwrap().status, Status::Complete);
    let seen = &model.asked()[0].newest.text;
    assert!(seen.contains("url=http://shop.test/ "), "{seen}");
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_is_killed_anywhere_loses_nothing() {
    let all = at_every_point("ledger killed", |house| house.kill(LEDGER)).await;
    assert!(counted(&all, "ledger")[..ENTRIES - 1].iter().all(|times| *times == 1));
}

#[tokio::test(start_paused = true)]
async fn a_perception_that_is_killed_anywhere_is_not_missed() {
    let all = at_every_point("perception killed", |house| house.kill(PERCEPTION)).await;
    assert!(counted(&all, "perception")[2..LAST].iter().all(|times| *times == 1));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_crashes_anywhere_comes_back_with_what_was_filled() {
    let all = at_every_point("page crashed", |house| house.web.crash_all()).await;
    assert_eq!(counted(&all, "tab")[1..LAST], [1; LAST - 1]);
    // From when the field is filled until the page is left.
    let (filled, left) = (9, 19);
    for (point, played) in all.iter().enumerate().take(left).skip(filled) {
        assert_eq!(played.done("typed Ann"), 2, "after entry {point}: {:?}", played.log);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_closed_anywhere_is_opened_again() {
    let all = at_every_point("page closed", |house| house.web.close_all()).await;
    assert_eq!(counted(&all, "tab")[1..LAST], [1; LAST - 1]);
}

#[tokio::test(start_paused = true)]
async fn a_browser_that_dies_anywhere_is_started_again() {
    let all = at_every_point("browser killed", |house| house.web.kill_browser()).await;
    assert_eq!(counted(&all, "browser")[1..LAST], [1; LAST - 1]);
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_is_full_from_anywhere_ends_the_run_by_itself() {
    for point in 0..ENTRIES {
        let memory = Memory::default().full_from(point);
        let played = play_over((&Web::default(), memory), SCRIPT, |_, _, _| {}).await;
        quiet().await;
        assert_eq!(played.entries.len(), point);
        assert!(played.done("POST Add to cart") <= 1, "after {point}");
        assert!(played.house.world.doors.ledgers.find(&RunId(1)).is_none(), "after {point}");
        assert_eq!(played.house.card(&Seat::Runs).doing, "0 of 0 running");
        assert_eq!(played.house.web.under_way(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_that_cannot_be_written_ends_the_run_all_the_same() {
    let memory = Memory::default().without_files();
    let played = play_over((&Web::default(), memory), SCRIPT, |_, _, _| {}).await;
    assert_eq!(played.status().0, Status::Partial, "the journal has it");
    assert_eq!(played.done("POST Add to cart"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_field_that_a_crash_emptied_is_filled_again_and_the_model_is_told() {
    let played = play(&Web::default(), &script(&[input("Ann"), click("Add to cart")]), {
        |house, _, entry| {
            if came(entry, 1) {
                house.web.crash_all();
            }
        }
    })
    .await;
    let told = &played.model.asked()[1].newest.text;
    assert!(told.contains("! the tab was started again at http://shop.test/"), "{told}");
    assert!(told.contains("! 'To' was lost and filled again"), "{told}");
    assert_eq!(
        played.log[2..],
        ["typed Ann", "open T1 http://shop.test/", "typed Ann", "POST Add to cart", "close T1"]
    );
    assert_eq!(played.status().0, Status::Complete);
}

#[tokio::test(start_paused = true)]
async fn an_act_whose_page_dies_under_it_is_told_and_not_repeated() {
    for (at, times, outcome) in [
        (At::Call("resolve"), 1, "changed"),
        (At::Click, 0, "in_doubt"),
        (At::Call("watch_peek"), 1, "in_doubt"),
    ] {
        for fault in [Fault::Crash, Fault::Gone, Fault::Die] {
            let name = format!("{at:?} {fault:?}");
            let web = Web::default().with(at, 1..=1, fault);
            let played = play(&web, &script(&[click("Add to cart")]), |_, _, _| {}).await;
            assert_eq!(played.outcome(1), outcome, "{name}: {:?}", played.standing.steps);
            assert_eq!(played.done("POST Add to cart"), times, "{name}");
            assert_eq!(played.standing.restarts.values().sum::<u32>(), 1, "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_popup_that_closes_itself_gives_the_run_back_to_its_opener() {
    let calls = [click("Preview"), click("Preview"), click("Close"), input("Ann")];
    let played = play(&Web::default(), &script(&calls), |_, _, _| {}).await;
    assert_eq!(
        [1, 2, 3, 4].map(|step| played.outcome(step)),
        ["new_tab", "new_tab", "changed", "changed"]
    );
    let urls: Vec<_> = played.standing.steps.iter().map(|step| step.url.as_str()).collect();
    assert_eq!(urls[0], "http://shop.test/preview");
    assert_eq!(played.status().0, Status::Complete);
    let told = &played.model.asked()[3].newest.text;
    assert!(told.contains("! t3 was closed"), "{told}");
    assert_eq!(played.house.web.pages(), [""; 0], "what the run opened is closed");
}

#[tokio::test(start_paused = true)]
async fn what_was_meant_for_a_popup_is_not_done_to_its_opener() {
    let web = Web::default().with(At::Call("resolve"), 2..=2, Fault::Gone);
    let calls = [click("Preview"), click("Add to cart")];
    let played = play(&web, &script(&calls), |_, _, _| {}).await;
    assert_eq!((played.outcome(2), played.done("POST Add to cart")), ("target_gone", 0));
    assert_eq!(played.status().0, Status::Complete);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_closed_twice_blocks_the_run() {
    // The same call again and again would end the run by itself.
    let looks =
        [r#"{"tool":"browser_view","args":{}}"#, r#"{"tool":"browser_scroll_up","args":{}}"#];
    let looks: Vec<_> = looks.iter().cycle().take(20).map(|call| (*call).to_owned()).collect();
    let played = play(&Web::default(), &script(&looks), |house, _, entry| {
        if came(entry, 2) || came(entry, 5) {
            house.web.close_all();
        }
    })
    .await;
    let (status, why) = played.status();
    assert_eq!(status, Status::Blocked);
    assert!(why.contains("the tab was closed"), "{why}");
    assert_eq!(counted(&[played], "tab"), [1]);
}

#[tokio::test(start_paused = true)]
async fn a_look_that_fails_once_is_tried_again() {
    for fault in [Fault::Garbage, Fault::Refuse, Fault::Hang, Fault::Navigate, Fault::Dialog] {
        let web = Web::default().with(At::Call("walk"), 1..=2, fault);
        let played = play(&web, FINISH, |_, _, _| {}).await;
        assert_eq!(played.status().0, Status::Complete, "{fault:?}: {:?}", played.status());
    }
    let web = Web::default().with(At::Call("walk"), 1..=99, Fault::Garbage);
    let played = play(&web, FINISH, |_, _, _| {}).await;
    let (status, why) = played.status();
    assert_eq!(status, Status::Blocked, "{why}");
    assert!(why.contains("this is a bug, please report it"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn dialogs_are_answered_and_told() {
    let played = play(&Web::default(), &script(&[click("Ask")]), |_, _, _| {}).await;
    assert_eq!(played.outcome(1), "dialog_open");
    let told = &played.model.asked()[1].newest.text;
    assert!(told.contains("! confirm 'really?' was dismissed"), "{told}");
    assert!(played.log.contains(&"dialog dismissed".to_owned()));
}
