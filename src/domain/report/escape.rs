//! Page text in Markdown that a person opens: it may say anything, and must do nothing.

/// One line of at most `most` characters that shows as it is written.
pub(super) fn line(text: &str, most: usize) -> String {
    let visible: String = text.chars().map(|c| if shows(c) { c } else { ' ' }).collect();
    let flat = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = flat.chars().count() > most;
    let kept: String = flat.chars().take(if cut { most.saturating_sub(1) } else { most }).collect();
    let mut safe = String::with_capacity(kept.len());
    // `+ heading` and `1. item` would begin a list.
    let number = kept.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if kept.starts_with(['+', '-', '=']) {
        safe.push('\\');
    }
    for (at, c) in kept.char_indices() {
        if at > 0 && at == kept.len() - number && matches!(c, '.' | ')') {
            safe.push('\\');
        }
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '#' | '&' | '!' | '$'
        ) {
            safe.push('\\');
        }
        safe.push(c);
    }
    if cut { safe + "…" } else { safe }
}

/// An address as code, so that nothing in it is a mark or a link.
pub(super) fn address(url: &str) -> String {
    let plain: String = url.chars().filter(|c| shows(*c) && !c.is_whitespace()).take(300).collect();
    format!("`{}`", plain.replace('`', "%60"))
}

/// The model's own Markdown: kept, but for what would load something or is no Markdown.
pub(super) fn answer(text: &str) -> String {
    let visible: String = text.chars().filter(|c| *c == '\n' || *c == '\t' || shows(*c)).collect();
    visible.trim().replace("![", "!\\[").replace('<', "\\<")
}

fn shows(c: char) -> bool {
    let hidden = matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    !c.is_control() && !hidden
}
