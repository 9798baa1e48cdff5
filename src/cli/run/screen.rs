//! Where live steps are written: standard error. The last line is only for now, and is written anew.
use std::io::Write;

use ratatui::crossterm::terminal;

use crate::cli::plain::{fitted, harmless};
use crate::cli::print::Printer;
use crate::cli::run::face::Tail;
use crate::cli::run::steps::StepLine;

/// What is assumed of a terminal that does not say its size.
const USUAL: usize = 80;

pub struct Screen {
    printer: Printer,
    /// Somebody sees it: steps are laid out in one line each.
    terminal: bool,
    tail: Tail,
    /// How many columns the last line takes.
    width: usize,
}

impl Screen {
    pub fn new(printer: Printer, terminal: bool) -> Self {
        Self { printer, terminal, tail: Tail::Nothing, width: 0 }
    }

    /// Elsewhere than on a terminal, everything stays as the daemon told it, and when.
    pub fn told(&self, told: &str) {
        if !self.terminal {
            self.printer.step(told);
        }
    }

    /// Writes a step in one line, on a terminal.
    pub fn step(&mut self, line: &StepLine) {
        if self.terminal && self.printer.shows_steps() {
            self.clear();
            self.parts(&line.parts(columns()), "\n");
        }
    }

    /// Writes something that the person must know.
    pub fn say(&mut self, text: &str) {
        if !self.printer.is_json() {
            self.clear();
            self.printer.notice(&harmless(text));
        }
    }

    /// The person ended the last line by Enter.
    pub fn typed(&mut self) {
        (self.tail, self.width) = (Tail::Nothing, 0);
    }

    /// Shows what stands below the last line.
    pub fn tail(&mut self, tail: Tail) {
        if !self.terminal || (self.tail == tail && self.width > 0) {
            return;
        }
        self.clear();
        match &tail {
            Tail::Doing(line) if self.printer.shows_steps() => {
                // The last column stays free, or some terminals go to the next line.
                self.width = columns().saturating_sub(1);
                self.parts(&line.parts(self.width), "");
            }
            Tail::Prompt(text) => {
                self.width = columns().saturating_sub(1);
                self.parts(&[fitted(text, self.width), String::new(), String::new()], "");
            }
            Tail::Nothing | Tail::Doing(_) => {}
        }
        self.tail = tail;
    }

    fn parts(&self, [what, came, spent]: &[String; 3], end: &str) {
        self.printer.parts([what, came, spent], end);
    }

    /// Takes the last line away, by spaces: also where no colours are wanted.
    pub fn clear(&mut self) {
        if self.width > 0 {
            let blank = " ".repeat(self.width);
            let mut to = std::io::stderr();
            let _ = to.write_all(format!("\r{blank}\r").as_bytes()).and_then(|()| to.flush());
            (self.tail, self.width) = (Tail::Nothing, 0);
        }
    }
}

fn columns() -> usize {
    terminal::size().map_or(USUAL, |(columns, _)| usize::from(columns)).max(20)
}
