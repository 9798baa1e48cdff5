//! The table that is printed.
use std::fmt;
use std::time::Duration;

#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
    notes: Vec<String>,
}

struct Row {
    what: String,
    unit: &'static str,
    /// What the median must not exceed.
    goal: Option<f64>,
    values: Vec<f64>,
}

impl Table {
    /// Adds times, as milliseconds.
    pub fn times(&mut self, what: &str, goal: Option<u64>, times: &[Duration]) {
        let values: Vec<_> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        self.values(what, "ms", goal.map(|goal| goal as f64), &values);
    }

    pub fn values(&mut self, what: &str, unit: &'static str, goal: Option<f64>, values: &[f64]) {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let row = Row { what: what.to_owned(), unit, goal, values };
        // Each row is shown when it is there: the whole takes minutes.
        eprintln!("{row}");
        self.rows.push(row);
    }

    pub fn note(&mut self, note: &str) {
        eprintln!("{note}");
        self.notes.push(note.to_owned());
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, unit, goal, values } = self;
        let at = |part: f64| {
            let last = values.len().saturating_sub(1) as f64;
            values.get((last * part).round() as usize).copied().unwrap_or(f64::NAN)
        };
        let (least, median, most) = (at(0.0), at(0.5), at(1.0));
        let goal_text = goal.map_or_else(|| "-".into(), |goal| format!("{goal:.0}"));
        let mark = if goal.is_some_and(|goal| median > goal) { "  beyond its goal" } else { "" };
        write!(
            f,
            "{what:<52} {median:>8.1} {least:>8.1} {most:>8.1} {goal_text:>6} {unit:<4} {:>4}{mark}",
            values.len()
        )
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        writeln!(
            f,
            "{:<52} {:>8} {:>8} {:>8} {:>6} {:<4} {:>4}",
            "", "median", "least", "most", "goal", "", "n"
        )?;
        self.rows.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}
