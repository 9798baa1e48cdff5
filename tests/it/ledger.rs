use std::sync::Arc;

use strawmanus::domain::ids::RunId;
use strawmanus::domain::journal::{Entry, Event, VERSION};
use strawmanus::messages::address::{Address, AskError};
use strawmanus::messages::ledger::{LedgerError, LedgerMsg};

use crate::support::house::{House, LEDGER, MINUTE, order, quiet};
use crate::support::memory::Memory;
use crate::support::model::Mute;
use crate::support::web::Web;

const RUN: RunId = RunId(1);

type Asked<T> = Result<Result<T, LedgerError>, AskError>;

async fn record(ledger: &Address<LedgerMsg>, step: u32) -> Asked<Entry> {
    let event = Box::new(Event::Resumed { step });
    ledger.ask(|reply| LedgerMsg::Record { event, reply }, MINUTE).await
}

async fn replay(ledger: &Address<LedgerMsg>) -> Asked<Vec<Entry>> {
    ledger.ask(|reply| LedgerMsg::Replay { reply }, MINUTE).await
}

/// The steps that a test wrote, past what the run itself did.
fn steps(entries: &[Entry]) -> Vec<u32> {
    let step = |entry: &Entry| match entry.what {
        Event::Resumed { step } if step > 100 => Some(step),
        _ => None,
    };
    entries.iter().filter_map(step).collect()
}

/// A house with a run that waits for its model.
async fn waiting_run(memory: Memory) -> (House, Address<LedgerMsg>) {
    let house = House::over(&Web::default(), memory).await;
    house.begin_with(order(1), Arc::new(Mute)).await;
    tokio::time::sleep(MINUTE).await;
    let ledger = house.world.doors.ledgers.find(&RUN).unwrap();
    (house, ledger)
}

#[tokio::test(start_paused = true)]
async fn entries_keep_the_order_of_the_asks() {
    let (house, ledger) = waiting_run(Memory::default().slow()).await;
    let asks: Vec<_> = (101..=120)
        .map(|step| {
            let ledger = ledger.clone();
            tokio::spawn(async move { record(&ledger, step).await })
        })
        .collect();
    tokio::task::yield_now().await;
    let read = replay(&ledger).await.unwrap().unwrap();
    assert_eq!(steps(&read), (101..=120).collect::<Vec<_>>(), "a replay waits for what is ahead");
    for (asked, step) in asks.into_iter().zip(101..) {
        let entry = asked.await.unwrap().unwrap().unwrap();
        assert_eq!((entry.v, entry.what), (VERSION, Event::Resumed { step }));
    }
    drop(house);
}

#[tokio::test(start_paused = true)]
async fn what_was_answered_outlives_the_ledger() {
    let (house, ledger) = waiting_run(Memory::default()).await;
    record(&ledger, 101).await.unwrap().unwrap();
    house.cell(LEDGER).kill();
    quiet().await;
    record(&ledger, 102).await.unwrap().unwrap();
    assert_eq!(steps(&replay(&ledger).await.unwrap().unwrap()), [101, 102]);
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_and_a_journal_that_cannot_be_read_are_answers() {
    let (house, ledger) = waiting_run(Memory::default()).await;
    house.memory.clone().full_from(0);
    let error = record(&ledger, 101).await.unwrap().unwrap_err();
    assert!(error.to_string().starts_with("the journal could not be written: the disk"), "{error}");
    house.memory.leave(RUN, vec![r#"{"v":1}"#.into()]);
    let error = replay(&ledger).await.unwrap().unwrap_err();
    assert!(error.to_string().starts_with("entry 0 of the journal cannot be read"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn watchers_see_each_entry_once_it_is_written() {
    let house = House::build(&Web::default()).await;
    let mut feed = house.begin_with(order(1), Arc::new(Mute)).await;
    for number in 0..3 {
        let seen = serde_json::to_string(&feed.recv().await.unwrap()).unwrap();
        let lines = house.memory.lines(RUN);
        let written = lines.iter().filter(|line| **line == seen).count();
        assert_eq!((written, &lines[number]), (1, &seen));
        if number == 1 {
            house.cell(LEDGER).kill();
        }
    }
}
