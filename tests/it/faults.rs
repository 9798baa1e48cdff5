//! Whatever goes wrong wherever: callers hear of it in time, and the house serves on.

use ractor::ActorStatus;
use strawmanus::domain::action::Action;
use strawmanus::domain::ids::TabId;
use strawmanus::messages::address::AskError;
use strawmanus::messages::session::{Owner, SessionMsg};
use strawmanus::messages::tab::{TabError, TabMsg, Until};
use tokio::time::{Instant, sleep};

use crate::support::house::{
    HOUR, House, MINUTE, SECOND, act, answer_dialog, click, evaluate, fill, get, name, named,
    navigate, observe, quiet, wait,
};
use crate::support::web::{At, Fault, Web};

const FAULTS: &[Fault] = &[
    Fault::Slow(SECOND),
    Fault::Slow(HOUR),
    Fault::Hang,
    Fault::Crash,
    Fault::CrashAnsweredFirst,
    Fault::Gone,
    Fault::Die,
    Fault::Garbage,
    Fault::Refuse,
    Fault::Dialog,
    Fault::Navigate,
    Fault::Panic,
    Fault::Rename,
];

const MOMENTS: &[At] = &[
    At::Launch,
    At::Cookies,
    At::Restore,
    At::Open,
    At::Navigate,
    At::Settled,
    At::Location,
    At::Evaluate,
    At::Click,
    At::Press,
    At::Insert,
    At::Dialog,
    At::Call("walk"),
    At::Call("resolve"),
    At::Call("probe"),
    At::Call("probe_focus"),
    At::Call("focus_for_fill"),
    At::Call("value_of"),
    At::Call("scroll"),
    At::Call("get"),
    At::Call("text_has"),
    At::Call("watch_begin"),
    At::Call("watch_peek"),
    At::Call("watch_end"),
];

/// What a tab is asked for, in turn.
const WORKS: &[&str] = &[
    "navigate", "observe", "click", "fill", "press", "scroll", "evaluate", "get", "wait", "dialog",
];

async fn ask(house: &House, id: TabId, work: &str) -> Result<Result<(), TabError>, AskError> {
    let Some(tab) = house.world.doors.tabs.find(&id) else {
        return Err(AskError::Stopped);
    };
    Ok(match work {
        "navigate" => navigate(&tab, "http://shop.test/next").await?.map(drop),
        "observe" => observe(&tab).await?.map(drop),
        "click" => act(&tab, click("Add to cart")).await?.map(drop),
        "fill" => act(&tab, fill("To", "Ann")).await?.map(drop),
        "press" => {
            let chord = "Escape".parse().unwrap();
            act(&tab, Action::Press { chord }).await?.map(drop)
        }
        "scroll" => {
            let way = strawmanus::domain::action::ScrollWay::Down;
            act(&tab, Action::Scroll { way }).await?.map(drop)
        }
        "evaluate" => evaluate(&tab, "1").await?.map(drop),
        "get" => get(&tab, named("textbox", "To")).await?.map(drop),
        "wait" => wait(&tab, Until::Text { words: "now".into() }).await?,
        "dialog" => {
            let card = tab.ask(|reply| TabMsg::Describe { reply }, MINUTE).await?;
            if let Some(page) = card.ok().filter(|card| house.web.pages().contains(&card.url)) {
                house.web.alert(&page.url, "hello");
                quiet().await;
            }
            answer_dialog(&tab, true).await?.map(drop)
        }
        other => panic!("nobody asks for {other}"),
    })
}

/// Makes a tab; there is none while there is no browser.
async fn new_tab(house: &House) -> Result<TabId, AskError> {
    if house.world.doors.sessions.find(&name()).is_none() {
        house.add_session("default").await.unwrap();
    }
    let new = |reply| {
        let url = Some("http://shop.test/".to_owned());
        SessionMsg::NewTab { url, owner: Owner::Shell, reply }
    };
    house.session().ask(new, MINUTE).await?.map_err(|_| AskError::Stopped)
}

/// Asks for everything, in a tab that is replaced when it is gone, and returns what went wrong.
async fn go_through(house: &House, name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut tab = Err(AskError::Stopped);
    for work in WORKS {
        let began = Instant::now();
        if tab.is_err() {
            tab = new_tab(house).await;
        }
        let answer = match tab {
            Ok(tab) => ask(house, tab, work).await,
            Err(error) => Err(error),
        };
        let took = began.elapsed();
        if answer == Err(AskError::TimedOut) || took > MINUTE {
            wrong.push(format!("{name}, {work}: {answer:?} after {took:?}"));
        }
        match (answer, tab) {
            (Err(AskError::Stopped) | Ok(Err(TabError::TargetGone)), _) => {
                tab = Err(AskError::Stopped);
            }
            (Ok(Err(TabError::DialogOpen { .. })), Ok(tab)) => {
                let _ = ask(house, tab, "dialog").await;
            }
            _ => {}
        }
    }
    wrong
}

/// The house is as before: it serves, and nobody waits for a call any more.
async fn look_after(house: &House, name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    sleep(2 * MINUTE).await;
    if house.web.under_way() > 0 {
        wrong.push(format!("{name}: {} calls are still waited for", house.web.under_way()));
    }
    if house.root.get_status() != ActorStatus::Running {
        wrong.push(format!("{name}: the root is {:?}", house.root.get_status()));
        return wrong;
    }
    let tab = house.tab(new_tab(house).await.unwrap());
    if let Err(error) = evaluate(&tab, "1").await.unwrap() {
        wrong.push(format!("{name}: it does not serve again: {error}"));
    }
    wrong
}

#[tokio::test(start_paused = true)]
async fn one_fault_at_any_moment_is_answered_in_time_and_got_over() {
    let mut wrong = Vec::new();
    for at in MOMENTS {
        for fault in FAULTS {
            let house = House::build(&Web::default().with(*at, 1..=1, *fault)).await;
            if *at == At::Restore {
                house.memory.seal("cookies-default", "jar");
            }
            let name = format!("{fault:?} at {at:?}");
            wrong.extend(go_through(&house, &name).await);
            wrong.extend(look_after(&house, &name).await);
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn faults_without_end_are_answered_in_time_and_harm_nobody_above() {
    let mut wrong = Vec::new();
    for at in MOMENTS {
        for fault in FAULTS {
            let web = Web::default().with(*at, 1..=usize::MAX, *fault);
            let house = House::build(&web).await;
            let name = format!("{fault:?} always at {at:?}");
            let answered = go_through(&house, &name).await;
            // A tab that never gets its page never lives: its callers' own patience ends their asks.
            if *at != At::Open {
                wrong.extend(answered);
            }
            house.web.heal();
            wrong.extend(look_after(&house, &name).await);
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
