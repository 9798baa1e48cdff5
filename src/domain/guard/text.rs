//! One spelling for what can be written in many ways.
use icu_normalizer::ComposingNormalizerBorrowed;

/// Lower case, composed, full-width made narrow, invisible characters gone.
pub(super) fn fold(text: &str) -> String {
    let visible: String = text.chars().filter(|c| !invisible(*c)).collect();
    let composed = ComposingNormalizerBorrowed::new_nfkc().normalize(&visible).to_lowercase();
    composed.replace('ё', "е")
}

/// Everything but white space, for scripts that write words without it.
pub(super) fn squeeze(folded: &str) -> String {
    folded.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The words of a folded text; a number is a word of its own, also in `Pay20`.
pub(super) fn words(folded: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    for c in folded.chars() {
        let kind = c.is_alphanumeric().then(|| c.is_numeric());
        match (kind, words.last_mut()) {
            (Some(_), Some(word)) if kind == before => word.push(c),
            (Some(_), _) => words.push(c.to_string()),
            (None, _) => {}
        }
        before = kind;
    }
    for word in &mut words {
        unmask(word);
    }
    words
}

/// Characters of scripts that write words one after another.
pub(super) fn is_unparted(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Characters that show nothing: they only keep a word from being found.
fn invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Writes a word in Latin letters that has some of them and looks as if it had no others.
fn unmask(word: &mut String) {
    const LOOKS: &[(char, char)] = &[
        ('а', 'a'),
        ('с', 'c'),
        ('ԁ', 'd'),
        ('е', 'e'),
        ('һ', 'h'),
        ('і', 'i'),
        ('ј', 'j'),
        ('ӏ', 'l'),
        ('о', 'o'),
        ('р', 'p'),
        ('ѕ', 's'),
        ('υ', 'u'),
        ('ѵ', 'v'),
        ('х', 'x'),
        ('у', 'y'),
        ('α', 'a'),
        ('ο', 'o'),
        ('ρ', 'p'),
        ('ν', 'v'),
    ];
    if word.is_ascii() || !word.chars().any(|c| c.is_ascii_alphabetic()) {
        return;
    }
    let latin = |c: char| LOOKS.iter().find(|(look, _)| *look == c).map_or(c, |(_, latin)| *latin);
    let unmasked: String = word.chars().map(latin).collect();
    if unmasked.is_ascii() {
        *word = unmasked;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_word_become_one() {
        for (written, folded) in [
            ("LO\u{308}SCHEN", "löschen"),
            ("ＳＥＮＤ", "send"),
            ("S\u{200b}e\u{ad}n\u{2060}d", "send"),
            ("\u{1109}\u{1161}\u{11a8}\u{110c}\u{1166}", "삭제"),
            ("Удалённые", "удаленные"),
        ] {
            assert_eq!(fold(written), folded);
        }
        assert_eq!(squeeze("주문 내역\u{3000}보기"), "주문내역보기");
    }

    #[test]
    fn words_are_split_and_unmasked() {
        assert_eq!(words("pay$20 now—s'abonner"), ["pay", "20", "now", "s", "abonner"]);
        assert_eq!(words("pay20"), ["pay", "20"]);
        // Cyrillic s, e and d around a Latin n.
        assert_eq!(words("ѕеnԁ"), ["send"]);
        assert_eq!(words("отправить"), ["отправить"]);
        assert_eq!(words("größe"), ["größe"]);
        assert_eq!(words("…"), [""; 0]);
    }
}
