//! How well the guard's table tells what must be held from what only looks like it, on labelled
//! controls. `bench-guard [tuning|held-out] [--misses]`: whoever tunes the table looks at the misses
//! of the tuning half alone.
#[path = "guard/corpus.rs"]
mod corpus;

use std::collections::BTreeSet;

use corpus::{Entry, Figures, Half, entries, words};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asked = |word: &str| arguments.iter().any(|argument| argument == word);
    let one = asked("tuning") || asked("held-out");
    for (half, name) in [(Half::Tuning, "tuning"), (Half::HeldOut, "held-out")] {
        if !one || asked(name) {
            show(half, name, asked("--misses"));
        }
    }
}

fn show(half: Half, name: &str, misses: bool) {
    let (all, words) = (entries(), words());
    let mine: Vec<&Entry> = all.iter().filter(|entry| entry.half == half).collect();
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
