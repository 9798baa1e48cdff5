//! How well the guard's table tells what must be held from what only looks like it, on labelled
//! controls. `bench-guard [first|blind] [tuning|held-out] [--misses]`: whoever tunes the table looks
//! at the misses of the tuning halves alone.
#[path = "guard/corpus.rs"]
mod corpus;

use std::collections::BTreeSet;

use corpus::{Corpus, Entry, Figures, Half, entries, words};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asked = |word: &str| arguments.iter().any(|argument| argument == word);
    let one_half = asked("tuning") || asked("held-out");
    let one_corpus = asked("first") || asked("blind");
    for (corpus, of) in [(Corpus::First, "first"), (Corpus::Blind, "blind")] {
        for (half, name) in [(Half::Tuning, "tuning"), (Half::HeldOut, "held-out")] {
            if (!one_half || asked(name)) && (!one_corpus || asked(of)) {
                println!("{of} corpus");
                show((corpus, half), name, asked("--misses"));
            }
        }
    }
}

fn show((corpus, half): (Corpus, Half), name: &str, misses: bool) {
    let (all, words) = (entries(), words());
    let of = |entry: &&Entry| entry.corpus == corpus && entry.half == half;
    let mine: Vec<&Entry> = all.iter().filter(of).collect();
    let languages: BTreeSet<&str> = mine.iter().map(|entry| entry.language.as_str()).collect();
    println!("{name} half        irreversible held    benign held");
    for language in languages {
        let own = mine.iter().filter(|entry| entry.language == language).copied();
        row(language, Figures::of(own, &words));
    }
    row("all", Figures::of(mine.iter().copied(), &words));
    if misses {
        for entry in mine {
            let (held, why) = entry.held(&words);
            if held != entry.irreversible {
                let what = if held { "held, and benign" } else { "passed, and irreversible" };
                println!("  {what}: {} {} ({why})", entry.language, entry.line);
            }
        }
    }
    println!();
}

fn row(name: &str, figures: Figures) {
    let Figures { irreversible, held, benign, held_falsely } = figures;
    let (recall, wrong) = (figures.recall(), figures.false_holds());
    println!(
        "{name:<16} {held:>4}/{irreversible:<4} {recall:>6.1} % {held_falsely:>6}/{benign:<4} {wrong:>5.1} %"
    );
}
