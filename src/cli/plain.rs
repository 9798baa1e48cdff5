//! Text of pages and models, made fit to be shown: a terminal must not obey it.
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Replaces what a terminal would obey, and what would turn a line's reading order around.
pub fn harmless(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() || turns(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The same in one line.
pub fn one_line(text: &str) -> String {
    harmless(text).replace(['\n', '\t'], " ")
}

/// Breaks one line into rows of at most `width` columns, at its spaces where that can be.
pub fn wrapped(line: &str, width: usize) -> Vec<String> {
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    for c in line.chars() {
        let columns = c.width().unwrap_or_default();
        if used + columns > width.max(2) {
            let at = row.rfind(' ').map(|at| at + 1).filter(|at| row[*at..].width() < width / 2);
            let rest = row.split_off(at.unwrap_or(row.len()));
            rows.push(std::mem::replace(&mut row, rest));
            used = row.width();
        }
        row.push(c);
        used += columns;
    }
    rows.push(row);
    rows
}

/// Cuts one line to `width` columns; what is cut ends with `…`.
pub fn fitted(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or_default();
        used <= width
    };
    let kept: String = line.chars().take_while(fits).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_only_shown() {
        let text = harmless("Shop\x1b]0;owned\x07\r\x1b[2J\u{9b}31m\u{202e}yaP\n");
        assert!(!text.contains(['\x1b', '\x07', '\r', '\u{9b}', '\u{202e}']), "{text:?}");
        assert!(text.starts_with("Shop\u{fffd}]0;owned") && text.ends_with("yaP\n"));
    }

    #[test]
    fn lines_are_broken_at_spaces_and_nothing_is_lost() {
        assert_eq!(wrapped("see you at the café", 10), ["see you ", "at the ", "café"]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("가격비교", 5), ["가격", "비교"]);
        for width in 0..30 {
            let text = "a bb ccc dddd eeeee ffffff 가격 비교 ggggggggggggggggggggggggggg h";
            let rows = wrapped(text, width);
            assert_eq!(rows.concat(), text, "{width}");
            assert!(rows.iter().all(|row| row.width() <= width.max(2)), "{width}: {rows:?}");
        }
    }

    #[test]
    fn lines_are_cut_at_columns() {
        assert_eq!(fitted("click", 5), "click");
        assert_eq!(fitted("click it", 5), "clic…");
        assert_eq!(fitted("가격 비교", 9), "가격 비교");
        assert_eq!(fitted("가격 비교", 6), "가격 …");
        assert_eq!(fitted("가격 비교", 4), "가…");
    }
}
