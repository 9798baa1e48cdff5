//! Where each thing lies in the file, and how one change or one read is done.
use redb::ReadableDatabase;
use redb::ReadableTable;
use redb::TableDefinition;

use crate::domain::ids::RunId;
use crate::ports::store::{Counter, Table};
use crate::store::batch::WriteKind;

type Rows = TableDefinition<'static, &'static str, &'static str>;

/// Entries by run and number.
const JOURNAL: TableDefinition<(u32, u64), &str> = TableDefinition::new("journal");
const COUNTERS: TableDefinition<&str, u32> = TableDefinition::new("counters");

fn rows(table: Table) -> Rows {
    TableDefinition::new(match table {
        Table::Runs => "runs",
        Table::Selectors => "selectors",
        Table::Holds => "holds",
    })
}

fn name(counter: Counter) -> &'static str {
    match counter {
        Counter::Run => "run",
        Counter::Tab => "tab",
        Counter::Hold => "hold",
    }
}

/// Makes every table, so that reads find them; fails where one has another shape.
pub(super) fn make(transaction: &redb::WriteTransaction) -> Result<(), redb::Error> {
    transaction.open_table(JOURNAL)?;
    transaction.open_table(COUNTERS)?;
    for table in [Table::Runs, Table::Selectors, Table::Holds] {
        transaction.open_table(rows(table))?;
    }
    Ok(())
}

/// Does one change, and returns its number: of the entry, of the counter, or 0.
pub(super) fn write(
    transaction: &redb::WriteTransaction,
    kind: &WriteKind,
) -> Result<u64, redb::Error> {
    match kind {
        WriteKind::Append { run, entry } => {
            let mut journal = transaction.open_table(JOURNAL)?;
            let last = journal.range((run.0, 0)..=(run.0, u64::MAX))?.next_back().transpose()?;
            let number = last.map_or(0, |(key, _)| key.value().1 + 1);
            journal.insert((run.0, number), entry.as_str())?;
            Ok(number)
        }
        WriteKind::Put { table, key, value } => {
            transaction.open_table(rows(*table))?.insert(key.as_str(), value.as_str())?;
            Ok(0)
        }
        WriteKind::Delete { table, key } => {
            transaction.open_table(rows(*table))?.remove(key.as_str())?;
            Ok(0)
        }
        WriteKind::Next { counter } => {
            let mut counters = transaction.open_table(COUNTERS)?;
            let last = counters.get(name(*counter))?.map_or(0, |value| value.value());
            // The caller is told when it ran out; nothing is given twice.
            let Some(next) = last.checked_add(1) else { return Ok(u64::MAX) };
            counters.insert(name(*counter), next)?;
            Ok(u64::from(next))
        }
    }
}

pub(super) fn journal(db: &redb::Database, run: RunId) -> Result<Vec<String>, redb::Error> {
    let journal = db.begin_read()?.open_table(JOURNAL)?;
    let entries = journal.range((run.0, 0)..=(run.0, u64::MAX))?;
    entries.map(|entry| Ok(entry?.1.value().to_owned())).collect()
}

pub(super) fn get(
    db: &redb::Database,
    table: Table,
    key: &str,
) -> Result<Option<String>, redb::Error> {
    let rows = db.begin_read()?.open_table(rows(table))?;
    Ok(rows.get(key)?.map(|value| value.value().to_owned()))
}

pub(super) fn all(db: &redb::Database, table: Table) -> Result<Vec<(String, String)>, redb::Error> {
    let rows = db.begin_read()?.open_table(rows(table))?;
    let pair = |row: Result<(redb::AccessGuard<&str>, redb::AccessGuard<&str>), _>| {
        row.map(|(key, value)| (key.value().to_owned(), value.value().to_owned()))
    };
    Ok(rows.iter()?.map(pair).collect::<Result<_, _>>()?)
}
