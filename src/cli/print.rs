//! What is written, and where: answers to standard output, the rest to standard error.
use std::io::{self, Write};
use std::process::ExitCode;

use crate::cli::plain::harmless;
use crate::control::answer::{Answer, Failure};
use crate::control::flags::Globals;

/// How one caller wants to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Printer {
    json: bool,
    quiet: bool,
}

/// One answer, laid out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// For standard output.
    pub out: String,
    /// For standard error.
    pub err: String,
}

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const CYAN: &str = "\x1b[1;36m";
const DIM: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

impl Printer {
    pub fn of(globals: &Globals) -> Self {
        Self { json: globals.json, quiet: globals.quiet }
    }

    pub fn json() -> Self {
        Self { json: true, quiet: false }
    }

    /// Prints an answer and returns its exit code. Nobody reading is no error.
    pub fn answer(&self, answer: &Answer) -> ExitCode {
        let page = self.lay_out(answer);
        write_all(anstream::stdout(), &page.out);
        write_all(anstream::stderr(), &page.err);
        ExitCode::from(answer.exit)
    }

    /// Prints a live step of work under way.
    pub fn step(&self, text: &str) {
        if !self.json && !self.quiet {
            write_all(anstream::stderr(), &format!("{}\n", painted(&harmless(text))));
        }
    }

    /// Whether live steps are wanted.
    pub fn shows_steps(&self) -> bool {
        !self.json && !self.quiet
    }

    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Writes a line in parts: what is done, what came of it in its mark's colour, and what is less
    /// important.
    pub fn parts(&self, [what, came, less]: [&str; 3], end: &str) {
        let less = if less.is_empty() { String::new() } else { format!("{DIM}{less}{PLAIN}") };
        let line = format!("{}{}{less}{end}", painted(what), painted(came));
        write_all(anstream::stderr(), &line);
    }

    /// Writes what a person must know while work is under way.
    pub fn notice(&self, text: &str) {
        write_all(anstream::stderr(), &format!("{}\n", painted(text)));
    }

    pub fn help(&self, text: &str) -> ExitCode {
        write_all(anstream::stdout(), text);
        ExitCode::SUCCESS
    }

    /// Prints why a line cannot be read, where errors go.
    pub fn misuse(&self, text: &str) {
        write_all(anstream::stderr(), text);
    }

    /// Lays an answer out; colours are stripped later where they cannot be shown.
    pub fn lay_out(&self, answer: &Answer) -> Page {
        if self.json {
            return Page { out: format!("{}\n", answer.envelope()), err: String::new() };
        }
        let mut page = Page::default();
        let word = answer.outcome.as_deref().filter(|_| answer.exit == 0).unwrap_or_default();
        let text = if answer.text.is_empty() { word } else { &answer.text };
        if !text.is_empty() {
            page.out = format!("{}\n", harmless(text.trim_end_matches('\n')));
        }
        if !self.quiet {
            page.out.extend(answer.delta.iter().map(|line| format!("  {}\n", harmless(line))));
            let warnings = answer.warnings.iter();
            page.err.extend(warnings.map(|line| format!("{YELLOW}warning{PLAIN}: {line}\n")));
        }
        if let Some(Failure { message, hint, .. }) = &answer.error {
            page.err.push_str(&format!("{RED}error{PLAIN}: {}\n", harmless(message)));
            if let Some(hint) = hint {
                page.err.push_str(&format!("{CYAN}hint{PLAIN}: {hint}\n"));
            }
        }
        page
    }
}

/// Colours a live step by the mark that it begins with.
fn painted(text: &str) -> String {
    let colour = match text.trim_start().chars().next() {
        Some('→') => DIM,
        Some('⚠') => YELLOW,
        Some('✗') => RED,
        Some('↻') => CYAN,
        Some('─') => BOLD,
        _ => return text.to_owned(),
    };
    format!("{colour}{text}{PLAIN}")
}

fn write_all(mut to: impl Write, text: &str) {
    // A reader that has gone, as in `| head -1`, has what it wanted.
    let _: io::Result<()> = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_only_shown() {
        let title = "Shop\x1b]0;owned\x07\r\x1b[2J\u{9b}31m";
        let answer = Answer { text: title.into(), delta: vec![title.into()], ..Answer::default() };
        let page = Printer::default().lay_out(&answer);
        assert!(!page.out.contains(['\x1b', '\x07', '\r', '\u{9b}']), "{page:?}");
        assert!(page.out.contains("Shop\u{fffd}]0;owned"));
    }

    #[test]
    fn steps_are_coloured_by_their_mark() {
        assert_eq!(painted("     → changed"), format!("{DIM}     → changed{PLAIN}"));
        assert_eq!(painted("  1  click"), "  1  click");
    }
}
