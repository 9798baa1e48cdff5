use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use proptest::prelude::{Strategy, prop};
use strawmanus::domain::ids::RunId;
use strawmanus::ports::store::{Counter, Durability, Store, StoreError, Table};
use strawmanus::store::Redb;

use Durability::{Soon, Synced};

async fn open(path: &Path) -> Redb {
    let opened = Redb::open(path).await.unwrap();
    assert_eq!(opened.warning, None);
    opened.store
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    (folder, path)
}

#[tokio::test]
async fn what_was_written_is_there_after_opening_again() {
    let (_folder, path) = folder();
    let store = open(&path).await;
    assert_eq!(store.append(RunId(1), "a".into(), Synced).await, Ok(0));
    assert_eq!(store.append(RunId(2), "x".into(), Soon).await, Ok(0));
    assert_eq!(store.append(RunId(1), "b".into(), Soon).await, Ok(1));
    store.put(Table::Holds, "t1".into(), "{}".into(), Soon).await.unwrap();
    assert_eq!(store.next(Counter::Tab).await, Ok(1));
    drop(store);

    let store = open(&path).await;
    assert_eq!(store.journal(RunId(1)).await.unwrap(), ["a", "b"]);
    assert_eq!(store.journal(RunId(2)).await.unwrap(), ["x"]);
    assert_eq!(store.journal(RunId(3)).await.unwrap(), [""; 0]);
    assert_eq!(store.append(RunId(1), "c".into(), Synced).await, Ok(2));
    assert_eq!(store.get(Table::Holds, "t1").await, Ok(Some("{}".into())));
    assert_eq!(store.next(Counter::Tab).await, Ok(2));
}

#[tokio::test]
async fn tables_and_counters_keep_apart() {
    let (_folder, path) = folder();
    let store = open(&path).await;
    for (table, value) in [(Table::Runs, "run"), (Table::Holds, "hold"), (Table::Selectors, "s")] {
        store.put(table, "1".into(), value.into(), Soon).await.unwrap();
    }
    store.put(Table::Runs, "0".into(), "first".into(), Synced).await.unwrap();
    store.put(Table::Runs, "1".into(), "changed".into(), Soon).await.unwrap();
    assert_eq!(store.get(Table::Holds, "1").await, Ok(Some("hold".into())));
    assert_eq!(store.get(Table::Holds, "0").await, Ok(None));
    let runs = store.all(Table::Runs).await.unwrap();
    assert_eq!(runs, [("0", "first"), ("1", "changed")].map(|(k, v)| (k.into(), v.into())));

    store.delete(Table::Runs, "1").await.unwrap();
    store.delete(Table::Runs, "never there").await.unwrap();
    assert_eq!(store.all(Table::Runs).await.unwrap().len(), 1);
    assert_eq!(store.next(Counter::Run).await, Ok(1));
    assert_eq!(store.next(Counter::Hold).await, Ok(1));
    assert_eq!(store.next(Counter::Run).await, Ok(2));
}

#[tokio::test]
async fn a_store_has_one_owner_at_a_time() {
    let (_folder, path) = folder();
    let store = open(&path).await;
    let refused = Redb::open(&path).await.unwrap_err();
    assert_eq!(refused, StoreError::Locked { path: path.display().to_string() });
    drop(store);
    open(&path).await;
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_said() {
    let (folder, _) = folder();
    let refused = Redb::open(folder.path().join("no/store.redb")).await.unwrap_err();
    assert!(matches!(refused, StoreError::Disk { .. }), "{refused}");
}

#[tokio::test]
async fn a_damaged_file_is_moved_aside_and_said() {
    let (_folder, path) = folder();
    let garbage = b"this was never a store".repeat(1_000);
    for number in 1..=2 {
        std::fs::write(&path, &garbage).unwrap();
        let opened = Redb::open(&path).await.unwrap();
        let aside = format!("{}.damaged-{number}", path.display());
        let warning = opened.warning.unwrap();
        assert!(warning.contains(&aside), "{warning}");
        assert_eq!(std::fs::read(&aside).unwrap(), garbage);
        assert_eq!(opened.store.append(RunId(1), "new".into(), Synced).await, Ok(0));
    }
}

#[tokio::test]
async fn a_file_cut_in_half_is_moved_aside_and_said() {
    let (_folder, path) = folder();
    let store = open(&path).await;
    for _ in 0..50 {
        store.append(RunId(1), "x".repeat(20_000), Soon).await.unwrap();
    }
    drop(store);
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    let opened = Redb::open(&path).await.unwrap();
    assert!(opened.warning.is_some());
    assert_eq!(opened.store.journal(RunId(1)).await.unwrap(), [""; 0]);
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = folder();
    let _store = open(&path).await;
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn any_interleaving_of_appends_keeps_order_and_numbers() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let appends = prop::collection::vec((0_u32..4, prop::bool::ANY), 1..60);
    let settings =
        proptest::test_runner::Config { cases: 12, failure_persistence: None, ..<_>::default() };
    let mut runner = proptest::test_runner::TestRunner::new(settings);
    let case = appends.prop_map(|appends| {
        let mut runs = vec![Vec::new(); 4];
        for (run, synced) in appends {
            runs[run as usize].push(if synced { Synced } else { Soon });
        }
        runs
    });
    let outcome = runner.run(&case, |runs| {
        runtime.block_on(race(runs));
        Ok(())
    });
    outcome.unwrap();
}

/// Each run appends its own entries in order, all runs at once.
async fn race(runs: Vec<Vec<Durability>>) {
    let (_folder, path) = folder();
    let store = std::sync::Arc::new(open(&path).await);
    let tasks: Vec<_> = (0_u32..)
        .zip(runs.clone())
        .map(|(run, appends)| {
            let store = std::sync::Arc::clone(&store);
            tokio::spawn(async move {
                for (number, how) in appends.into_iter().enumerate() {
                    let entry = format!("{run}/{number}");
                    let given = store.append(RunId(run), entry, how).await.unwrap();
                    assert_eq!(given, number as u64);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    drop(store);
    let store = open(&path).await;
    for (run, appends) in (0_u32..).zip(runs) {
        let wanted: Vec<_> = (0..appends.len()).map(|number| format!("{run}/{number}")).collect();
        assert_eq!(store.journal(RunId(run)).await.unwrap(), wanted);
    }
}

/// The process that the next test kills: appends for ever, and prints the number of each entry that
/// it was told is on disk. Does nothing without a path on its standard input.
#[test]
#[ignore = "run by `what_was_synced_survives_a_kill`, which ends it"]
fn the_writer_that_is_killed() {
    let mut path = String::new();
    std::io::stdin().read_line(&mut path).unwrap();
    if path.is_empty() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = open(Path::new(path.trim())).await;
        loop {
            store.append(RunId(2), "soon".into(), Soon).await.unwrap();
            let number = store.append(RunId(1), "x".repeat(500), Synced).await.unwrap();
            println!("synced {number}");
            let _ = std::io::stdout().flush();
        }
    });
}

#[tokio::test]
async fn what_was_synced_survives_a_kill() {
    let (_folder, path) = folder();
    let mut told = 0;
    for round in 1..=3 {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::the_writer_that_is_killed", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        writeln!(writer.stdin.take().unwrap(), "{}", path.display()).unwrap();
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines().map_while(Result::ok);
        // The harness may print on the line of the first number.
        let numbers = lines.filter_map(|line| line.split("synced ").nth(1)?.parse::<u64>().ok());
        told = numbers.take(40 * round).last().unwrap();
        writer.kill().unwrap();
        writer.wait().unwrap();

        let begun = tokio::time::Instant::now();
        let store = open(&path).await;
        assert!(begun.elapsed() < Duration::from_secs(1), "took {:?}", begun.elapsed());
        let entries = store.journal(RunId(1)).await.unwrap();
        assert!(entries.len() as u64 > told, "told {told}, found {}", entries.len());
        assert!(entries.iter().all(|entry| entry.len() == 500));
    }
    assert!(told >= 100);
}

#[tokio::test]
async fn what_was_written_soon_gets_to_disk_by_itself() {
    let (folder, path) = folder();
    let store = open(&path).await;
    store.append(RunId(1), "soon".into(), Soon).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    // What a power cut would leave.
    let left = folder.path().join("left.redb");
    std::fs::copy(&path, &left).unwrap();
    assert_eq!(open(&left).await.journal(RunId(1)).await.unwrap(), ["soon"]);
    drop(store);
}
