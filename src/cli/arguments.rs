//! The command line, as clap reads it, and what is said when it cannot be read.
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::cli::print::Printer;
use crate::control::answer::{Answer, Failure};
use crate::control::flags::Globals;
use crate::control::verbs::{Reading, Verb};

const AFTER: &str = "\
A TARGET is e12 (a number from an observation), words that the page shows, bare CSS, css=…, xpath=…,
role=button[name=\"Send\"], text=…, label=…, placeholder=… or testid=…; parts chain with >>.

Exit codes: 0 done, 1 not done or not as wanted, 2 usage or settings, 3 held for a person, 4 no
browser, daemon, disk or key. With --json the answer is one JSON value on standard output.";

/// A browser agent with supervised sessions
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(name = "strawmanus", version, after_help = AFTER, max_term_width = 100)]
#[command(disable_help_subcommand = true)]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub struct Arguments {
    #[command(flatten)]
    pub globals: Globals,
    #[command(subcommand)]
    pub verb: Verb,
}

/// Why a line is no command.
#[derive(Debug)]
pub enum Misread {
    /// It asks for help or for the version; this is the text.
    Help(String),
    Usage(Misuse),
}

/// A line that cannot be read.
#[derive(Debug)]
pub struct Misuse {
    error: clap::Error,
    json: bool,
}

impl Arguments {
    /// Reads a line; the first word is the program's name.
    pub fn read(line: &[OsString]) -> Result<Self, Misread> {
        let parsed = Self::try_parse_from(line).and_then(Self::checked);
        parsed.map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                Misread::Help(error.render().ansi().to_string())
            }
            _ => Misread::Usage(Misuse { error, json: asks_for_json(line) }),
        })
    }

    /// What clap cannot say in its table.
    fn checked(self) -> Result<Self, clap::Error> {
        if let Verb::Get { what, target, name } = &self.verb {
            let given = usize::from(target.is_some()) + usize::from(name.is_some());
            let (least, most) = what.words();
            if given < least {
                let missing = if given == 0 { "a TARGET" } else { "the attribute's NAME" };
                return Err(misuse(
                    ErrorKind::MissingRequiredArgument,
                    *what,
                    &format!("needs {missing}"),
                ));
            }
            if given > most {
                let problem = if most == 0 { "takes no TARGET" } else { "takes no NAME" };
                return Err(misuse(ErrorKind::TooManyValues, *what, problem));
            }
        }
        Ok(self)
    }
}

fn misuse(kind: ErrorKind, what: Reading, problem: &str) -> clap::Error {
    let word = serde_json::to_value(what).unwrap_or_default();
    let message = format!("`get {}` {problem}", word.as_str().unwrap_or_default());
    let mut command = Arguments::command();
    command.build();
    match command.find_subcommand_mut("get") {
        Some(get) => get.error(kind, message),
        None => command.error(kind, message),
    }
}

/// clap could not tell, for it stopped at the error.
fn asks_for_json(line: &[OsString]) -> bool {
    let mut words =
        line.iter().map(OsString::as_os_str).take_while(|word| *word != OsStr::new("--"));
    words.any(|word| word == OsStr::new("--json"))
}

impl Misuse {
    /// Prints it as the caller wants it, and returns exit code 2.
    pub fn print(&self) -> ExitCode {
        if self.json {
            return Printer::json().answer(&self.answer());
        }
        Printer::default().misuse(&self.text());
        ExitCode::from(2)
    }

    /// What clap says, in our words: what it calls a subcommand is a verb here.
    fn text(&self) -> String {
        let text = self.error.render().ansi().to_string();
        let words = [
            ("unrecognized subcommand", "there is no verb"),
            ("similar subcommand exists", "similar verb exists"),
            ("similar subcommands exist", "similar verbs exist"),
        ];
        words.into_iter().fold(text, |text, (theirs, ours)| text.replace(theirs, ours))
    }

    /// Returns it as an answer, for programs.
    pub fn answer(&self) -> Answer {
        let text = anstream::adapter::strip_str(&self.text()).to_string();
        let whole: String =
            text.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        let message =
            whole.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ");
        let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
        let missing = self.error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
        let message = if missing { "a verb is missing".to_owned() } else { message };
        let failure = Failure::new("usage", message).hint(tip.unwrap_or("see `strawmanus --help`"));
        Answer::failed(2, failure)
    }
}
