//! The labelled controls: what must be held is, and little else.
#[path = "../../bench/guard/corpus.rs"]
mod controls;

use controls::{Corpus, Entry, Figures, Half, entries, words};

#[test]
fn the_corpus_is_large_and_mostly_of_what_only_looks_dangerous() {
    let all = entries();
    let benign = all.iter().filter(|entry| !entry.irreversible).count();
    assert!(all.len() >= 300 && 2 * benign >= all.len(), "{benign} of {}", all.len());
    for half in [Half::Tuning, Half::HeldOut] {
        let own = all.iter().filter(|entry| entry.half == half).count();
        assert!(2 * own > all.len() * 9 / 10, "{half:?}: {own} of {}", all.len());
    }
}

#[test]
fn all_that_cannot_be_undone_is_held_and_little_else() {
    let (all, words) = (entries(), words());
    for (corpus, half) in [
        (Corpus::First, Half::Tuning),
        (Corpus::First, Half::HeldOut),
        (Corpus::Blind, Half::Tuning),
        (Corpus::Blind, Half::HeldOut),
    ] {
        let of = |entry: &&Entry| (entry.corpus, entry.half) == (corpus, half);
        let own: Vec<&Entry> = all.iter().filter(of).collect();
        let missed = own.iter().filter(|entry| entry.irreversible && !entry.held(&words).0);
        let missed: Vec<_> = missed.map(|entry| (&entry.language, &entry.line)).collect();
        assert!(missed.is_empty(), "{corpus:?} {half:?} passed: {missed:?}");
        let figures = Figures::of(own, &words);
        assert!(
            figures.recall() >= 100.0 && figures.false_holds() <= 3.0,
            "{corpus:?} {half:?}: {figures:?}"
        );
    }
}
