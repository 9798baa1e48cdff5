//! A table of a page as a GitHub table: merged cells are repeated in every place they cover.

/// Columns that are written; what is beyond is said in a last cell.
const COLUMNS: usize = 40;
/// Rows that one cell may be merged over.
const SPAN: usize = 500;

/// A table while it is read, cell by cell.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
    /// For each column, what a cell above still covers, and for how many rows.
    covered: Vec<Option<(String, usize)>>,
}

#[derive(Debug, Default)]
struct Row {
    cells: Vec<String>,
    heads: usize,
    own: usize,
    wider: bool,
}

/// What a cell holds and how many places it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    pub columns: usize,
    pub rows: usize,
    pub head: bool,
}

impl Table {
    /// Begins the next row.
    pub fn row(&mut self) {
        self.finish_row();
        self.rows.push(Row::default());
    }

    /// Adds a cell to the row that was begun last.
    pub fn cell(&mut self, cell: Cell) {
        if self.rows.is_empty() {
            self.rows.push(Row::default());
        }
        self.take_covered();
        let Some(row) = self.rows.last_mut() else { return };
        row.own += 1;
        row.heads += usize::from(cell.head);
        for _ in 0..cell.columns.clamp(1, COLUMNS) {
            let at = row.cells.len();
            if at == COLUMNS {
                row.wider = true;
                break;
            }
            row.cells.push(cell.text.clone());
            if cell.rows > 1 {
                self.covered.resize(self.covered.len().max(at + 1), None);
                self.covered[at] = Some((cell.text.clone(), cell.rows.min(SPAN) - 1));
            }
        }
    }

    /// Fills the places, from where the row stands, that cells above cover.
    fn take_covered(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        while let Some(slot) = self.covered.get_mut(row.cells.len()) {
            let Some((text, left)) = slot.take() else { return };
            row.cells.push(text.clone());
            *slot = (left > 1).then_some((text, left - 1));
        }
    }

    fn finish_row(&mut self) {
        self.take_covered();
    }

    /// Returns the lines of the table; none for one without words.
    pub fn lines(mut self) -> Vec<String> {
        self.finish_row();
        self.rows.retain(|row| row.cells.iter().any(|cell| !cell.is_empty()));
        let width = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        if width == 0 {
            return Vec::new();
        }
        let headed = self.rows[0].own > 0 && self.rows[0].heads == self.rows[0].own;
        let head = if headed { self.rows.remove(0) } else { Row::default() };
        let mut lines = vec![written(&head, width), format!("|{}", " --- |".repeat(width))];
        lines.extend(self.rows.iter().map(|row| written(row, width)));
        lines
    }
}

fn written(row: &Row, width: usize) -> String {
    let mut line = String::from("|");
    for at in 0..width {
        let cell = row.cells.get(at).map_or("", String::as_str);
        line.push(' ');
        line.push_str(&cell.replace('|', "\\|"));
        if row.wider && at + 1 == width {
            line.push_str(" …");
        }
        line.push_str(" |");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str, columns: usize, rows: usize, head: bool) -> Cell {
        Cell { text: text.into(), columns, rows, head }
    }

    fn table(rows: &[&[Cell]]) -> String {
        let mut table = Table::default();
        for row in rows {
            table.row();
            row.iter().for_each(|cell| table.cell(cell.clone()));
        }
        table.lines().join("\n")
    }

    #[test]
    fn the_first_row_of_heads_is_the_head() {
        assert_eq!(
            table(&[
                &[cell("Name", 1, 1, true), cell("Total", 1, 1, true)],
                &[cell("Acme | Co", 1, 1, false), cell("$5", 1, 1, false)],
            ]),
            "| Name | Total |\n| --- | --- |\n| Acme \\| Co | $5 |"
        );
        assert_eq!(table(&[&[cell("a", 1, 1, false)]]), "|  |\n| --- |\n| a |");
    }

    #[test]
    fn merged_cells_are_repeated_where_they_cover() {
        assert_eq!(
            table(&[
                &[cell("Day", 1, 1, true), cell("Talks", 2, 1, true)],
                &[cell("Mon", 1, 2, false), cell("A", 1, 1, false), cell("B", 1, 3, false)],
                &[cell("C", 1, 1, false)],
                &[cell("Tue", 1, 1, false), cell("D", 1, 1, false)],
            ]),
            "| Day | Talks | Talks |\n| --- | --- | --- |\n| Mon | A | B |\n| Mon | C | B |\n| Tue | D | B |"
        );
    }

    #[test]
    fn absurd_spans_are_bounded() {
        let lines = table(&[&[cell("x", usize::MAX, usize::MAX, false)]]);
        assert_eq!(lines.matches('x').count(), COLUMNS);
    }

    #[test]
    fn a_table_without_words_is_left_out() {
        assert_eq!(table(&[&[cell("", 1, 1, false)], &[]]), "");
    }
}
