//! What a person sees of a row of commands, with what differs from day to day taken out.
use std::fmt::Write;

use crate::support::shell::{Done, Shell};

/// Commands and what they said, to be compared with a snapshot.
pub struct Transcript<'a> {
    shell: &'a Shell,
    hidden: Vec<(String, &'static str)>,
    text: String,
}

impl<'a> Transcript<'a> {
    pub fn new(shell: &'a Shell) -> Self {
        let folder = shell.folder().canonicalize().unwrap();
        let hidden = vec![
            (shell.home().display().to_string(), "HOME"),
            (folder.display().to_string(), "FOLDER"),
        ];
        Self { shell, hidden, text: String::new() }
    }

    /// Shows `words` as `name`.
    pub fn hiding(mut self, words: impl ToString, name: &'static str) -> Self {
        self.hidden.push((words.to_string(), name));
        self
    }

    /// Runs a command as a person would, and writes down what was seen of it.
    pub fn run(&mut self, words: &[&str]) -> Done {
        let done = self.shell.plain(words);
        self.note(words, &done);
        done
    }

    pub fn note(&mut self, words: &[&str], done: &Done) {
        let quoted = |word: &&str| match word.contains([' ', '"', '\'', '\n']) || word.is_empty() {
            true => format!("'{word}'"),
            false => (*word).to_owned(),
        };
        let line = words.iter().map(quoted).collect::<Vec<_>>().join(" ");
        let exit = if done.exit == 0 { String::new() } else { format!("   [exit {}]", done.exit) };
        let mut text = format!("$ {line}{exit}\n");
        for line in done.out.lines() {
            writeln!(text, "  {line}").unwrap();
        }
        for line in done.err.lines() {
            writeln!(text, "! {line}").unwrap();
        }
        self.text.push_str(&self.redacted(&text));
        self.text.push('\n');
    }

    /// Writes a heading between commands.
    pub fn say(&mut self, words: &str) {
        writeln!(self.text, "== {words}\n").unwrap();
    }

    pub fn redacted(&self, text: &str) -> String {
        let hide = |text: String, (words, name): &(String, &str)| text.replace(words, name);
        let text = self.hidden.iter().fold(text.to_owned(), hide);
        let text = without_numbers(&text, ":", 4, "PORT");
        let text = without_numbers(&text, "pid ", 1, "PID");
        let text = without_numbers(&text, "process ", 1, "PID");
        let text = without_numbers(&text, "Chrome/", 1, "VERSION");
        let text = without_numbers(&text, "**Duration:** ", 1, "N");
        without_dates(&text)
    }

    pub fn text(self) -> String {
        self.text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }
}

/// Puts `name` in place of numbers (with dots) of at least `least` characters after `mark`.
fn without_numbers(text: &str, mark: &str, least: usize, name: &str) -> String {
    let mut parts = text.split(mark);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(part.len());
        let number = part[..end].trim_end_matches('.');
        out.push_str(mark);
        if number.len() >= least {
            out.push_str(name);
            out.push_str(&part[number.len()..]);
        } else {
            out.push_str(part);
        }
    }
    out
}

/// `20261130-164512` and `2026-11-30 16:45`, and times after them.
fn without_dates(text: &str) -> String {
    let (mut out, letters) = (String::new(), text.chars().collect::<Vec<_>>());
    let shape = |at: usize, shape: &str| {
        let fits = |(offset, wanted): (usize, char)| {
            letters.get(at + offset).is_some_and(|letter| match wanted {
                '0' => letter.is_ascii_digit(),
                other => *letter == other,
            })
        };
        shape.chars().enumerate().all(fits)
    };
    let mut at = 0;
    while at < letters.len() {
        match ["00000000-000000", "0000-00-00 00:00"].iter().find(|known| shape(at, known)) {
            Some(known) => {
                out.push_str("DATE");
                at += known.len();
            }
            None => {
                out.push(letters[at]);
                at += 1;
            }
        }
    }
    out
}
