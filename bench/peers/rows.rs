//! The table that is printed, in Markdown.
use std::fmt;

use crate::support::shell::Done;

#[derive(Default)]
pub struct Rows(Vec<Row>);

struct Row {
    what: String,
    unit: &'static str,
    /// Ours and theirs: median and worst.
    sides: [(f64, f64); 2],
}

impl Rows {
    /// Adds how long both took, round by round.
    pub fn times(&mut self, what: &str, rounds: &[[Done; 2]]) {
        let side = |at: usize| {
            let mut times: Vec<_> =
                rounds.iter().map(|both| both[at].took.as_secs_f64() * 1e3).collect();
            times.sort_by(f64::total_cmp);
            let worst = times.last().copied().unwrap_or(f64::NAN);
            (times.get(times.len() / 2).copied().unwrap_or(f64::NAN), worst)
        };
        self.add(Row { what: what.to_owned(), unit: "ms", sides: [side(0), side(1)] });
    }

    pub fn values(&mut self, what: &str, unit: &'static str, sides: [f64; 2]) {
        let sides = sides.map(|value| (value, value));
        self.add(Row { what: what.to_owned(), unit, sides });
    }

    fn add(&mut self, row: Row) {
        // Each row is shown when it is there: the whole takes minutes.
        eprintln!("{row}");
        self.0.push(row);
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, unit, sides: [ours, theirs] } = self;
        let ratio = ours.0 / theirs.0;
        let side = |(median, worst): (f64, f64)| {
            let worst = if median == worst { String::new() } else { format!(" ({worst:.0})") };
            format!("{median:.0}{worst} {unit}")
        };
        write!(f, "| {what} | {} | {} | {ratio:.2} |", side(*ours), side(*theirs))
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| | strawmanus | agent-browser | ratio |\n|---|---|---|---|")?;
        self.0.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}
