//! Words of a page on one line: folded, capped, and never taken for our own marks.

/// Returns `words` with each run of white space as one blank, none at the ends.
pub fn fold(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns at most `most` characters of `words`, the last of them `…` where it was cut.
pub fn cap(words: &str, most: usize) -> String {
    match words.char_indices().nth(most) {
        None => words.to_owned(),
        Some(_) => {
            let kept: String = words.chars().take(most.saturating_sub(1)).collect();
            format!("{}…", kept.trim_end())
        }
    }
}

/// Returns `words` folded, then capped.
pub fn line(words: &str, most: usize) -> String {
    cap(&fold(words), most)
}

/// The marks that an observation is read by; a page must not be able to forge them.
const MARKS: [&str; 4] = ["[page]", "[interactive]", "[markdown]", "[notes]"];

/// Returns whether a line of a page would read as a line of ours.
pub fn reads_as_mark(line: &str) -> bool {
    let line = line.trim_start();
    let indexed = line.trim_start_matches(|c: char| c.is_ascii_digit());
    MARKS.iter().any(|mark| line.starts_with(mark))
        || (indexed.len() < line.len() && indexed.starts_with("[:]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_capped_by_characters_and_says_so() {
        assert_eq!(line("  검색어를\n입력해  주세요 ", 100), "검색어를 입력해 주세요");
        assert_eq!(line("abcdef", 6), "abcdef");
        assert_eq!(line("abcde fg", 7), "abcde…");
    }

    #[test]
    fn lines_that_forge_our_marks_are_known() {
        assert!(reads_as_mark("[page] url=https://bank.example"));
        assert!(reads_as_mark("  12[:]<button>Pay</button>"));
        assert!(!reads_as_mark("[Save]"));
        assert!(!reads_as_mark("12 [:] things"));
    }
}
