//! The command line: one table of verbs, help, errors, envelopes and exit codes.
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;

use clap::CommandFactory;
use serde::de::{Deserialize, Deserializer, Visitor};
use serde_json::json;
use strawmanus::cli::arguments::{Arguments, Misread};
use strawmanus::cli::print::Printer;
use strawmanus::control::answer::{Answer, Failure};
use strawmanus::control::flags::Globals;
use strawmanus::control::verbs::{ConfigVerb, DialogVerb, TabVerb, Verb};
use strawmanus::domain::outcome::OutcomeKind;

/// Asks a type for the names of its variants, as serde knows them.
struct Names<'a>(&'a mut BTreeSet<String>);

#[derive(Debug)]
struct Stop;

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enough")
    }
}

impl std::error::Error for Stop {}

impl serde::de::Error for Stop {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Stop;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Stop> {
        Err(Stop)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Stop> {
        self.0.extend(variants.iter().map(|name| (*name).to_owned()));
        Err(Stop)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

fn serde_names<'de, T: Deserialize<'de>>() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    assert!(T::deserialize(Names(&mut names)).is_err());
    names
}

fn clap_names(path: &[&str]) -> BTreeSet<String> {
    let mut command = &Arguments::command();
    for name in path {
        command = command.find_subcommand(name).unwrap();
    }
    command.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

#[test]
fn the_shell_and_the_socket_call_every_verb_the_same() {
    assert_eq!(clap_names(&[]), serde_names::<Verb>());
    assert_eq!(clap_names(&["tab"]), serde_names::<TabVerb>());
    assert_eq!(clap_names(&["dialog"]), serde_names::<DialogVerb>());
    assert_eq!(clap_names(&["config"]), serde_names::<ConfigVerb>());
    assert!(serde_names::<Verb>().len() > 15);
}

fn read(line: &str) -> Result<Arguments, Misread> {
    let words: Vec<OsString> = words(line).into_iter().map(OsString::from).collect();
    Arguments::read(&words)
}

/// Splits as a shell would, as far as these tests need it.
fn words(line: &str) -> Vec<String> {
    let parts = format!("strawmanus {line}");
    let quoted = parts.split('\'').enumerate();
    quoted
        .flat_map(|(number, part)| match number % 2 {
            1 => vec![part.to_owned()],
            _ => part.split_whitespace().map(str::to_owned).collect(),
        })
        .collect()
}

#[test]
fn every_form_of_every_verb_is_read_and_comes_back_from_the_wire() {
    let lines = [
        "run 'buy milk' --url shop.localhost --max-steps 3",
        "runs",
        "logs r7",
        "logs 7",
        "demo",
        "open example.com",
        "observe",
        "observe --url example.com",
        "snapshot -i --viewport --depth 3",
        "screenshot",
        "screenshot e4 --marks -o 'a page.png'",
        "screenshot --full-page",
        "find 'the send button'",
        "extract price --max-chars 500",
        "read",
        "tab list",
        "tab new",
        "tab new example.com",
        "tab switch t2",
        "tab close",
        "tab close 3",
        "click e12 --in 'Acme Ltd'",
        "fill e3 'a text' --press-enter",
        "fill e3 -5",
        "fill e3 '--not a flag'",
        "press Control+A",
        "eval '-1 + 2'",
        "get title",
        "get text",
        "get attr e3 href",
        "get cdp-url",
        "wait e3 --gone",
        "wait --text 'Thank you'",
        "wait --url-has /done",
        "dialog accept",
        "dialog accept 'my answer'",
        "dialog dismiss",
        "stop r7",
        "approve",
        "approve h3",
        "deny 3",
        "reply r7 'the blue one'",
        "close",
        "close --all",
        "attach",
        "attach --run r7",
        "doctor --fix",
        "config show --origin",
        "daemon",
    ];
    let mut seen = BTreeSet::new();
    let mut wire = Vec::new();
    for line in lines {
        let read = read(line).unwrap_or_else(|error| panic!("{line}: {error:?}"));
        let written = serde_json::to_string(&read.verb).unwrap();
        assert_eq!(serde_json::from_str::<Verb>(&written).unwrap(), read.verb, "{line}");
        seen.insert(read.verb.name());
        wire.push(format!("{line}\n    {written}"));
    }
    assert_eq!(seen, clap_names(&[]), "every verb has a line here");
    insta::assert_snapshot!(wire.join("\n"));
}

#[test]
fn global_flags_are_taken_before_and_after_the_verb() {
    let line = "--session work --json click e1 --profile fresh --headed --cdp localhost:9222 --model script:x \
        --base-url http://localhost:1 --max-steps 4 --max-minutes 5 --expect 6 --auto-approve --allow a.test,b.test \
        --allow c.test --timeout 1500ms --tab t3 -q";
    let globals = read(line).unwrap().globals;
    let written = serde_json::to_string(&globals).unwrap();
    assert_eq!(serde_json::from_str::<Globals>(&written).unwrap(), globals);
    insta::assert_snapshot!(written);
    assert_eq!(Globals::default().session().as_str(), "default");
}

#[test]
fn help_reads_well() {
    let mut command = Arguments::command().term_width(100);
    command.build();
    let mut pages = vec![command.render_long_help().to_string()];
    // The global flags are the same everywhere.
    let own = |page: String| {
        page.split("\nGlobal flags:").next().unwrap_or_default().to_owned()
            + page.split_once("\n\nExample").map_or("", |_| "\n…")
            + &page
                .split_once("\n\nExample")
                .map_or(String::new(), |(_, rest)| format!("\n\nExample{rest}"))
    };
    for verb in command.get_subcommands_mut() {
        pages.push(own(verb.render_long_help().to_string()));
        for inner in verb.get_subcommands_mut() {
            pages.push(own(inner.render_long_help().to_string()));
        }
    }
    let pages: Vec<_> = pages
        .iter()
        .map(|page| page.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"))
        .collect();
    insta::assert_snapshot!(pages.join("\n\n========\n\n"));
}

#[test]
fn every_verb_has_one_good_line() {
    for verb in Arguments::command().get_subcommands() {
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        let good = (10..=70).contains(&about.len()) && !about.ends_with('.');
        assert!(good, "{}: `{about}`", verb.get_name());
    }
}

#[test]
fn lines_that_cannot_be_read_are_explained() {
    let lines = [
        "",
        "clck e1",
        "click",
        "click e1 e2",
        "click e1 --fast",
        "--session 'a b' runs",
        "--profile mine runs",
        "--headless --headed runs",
        "--max-steps 0 runs",
        "--timeout soon runs",
        "--auto-approve runs",
        "tab",
        "tab switch x",
        "logs seven",
        "get",
        "get colour",
        "get attr e1",
        "get value",
        "get title e1",
        "get text e1 href",
        "wait",
        "wait e1 --text x",
        "wait --gone",
        "-q -v runs",
        "config",
    ];
    let explained = lines.map(|line| match read(line) {
        Err(Misread::Usage(misuse)) => {
            let answer = misuse.answer();
            assert_eq!(answer.exit, 2);
            format!("{line}\n    {}", answer.envelope())
        }
        other => panic!("{line}: {other:?}"),
    });
    insta::assert_snapshot!(explained.join("\n"));
}

fn page(printer: Printer, answer: &Answer) -> String {
    let page = printer.lay_out(answer);
    let plain = |text: &str| anstream::adapter::strip_str(text).to_string();
    format!("exit {}\n--- out\n{}--- err\n{}", answer.exit, plain(&page.out), plain(&page.err))
}

fn answers() -> Vec<(&'static str, Answer)> {
    let delta = vec!["+ dialog \"Sent\"".to_owned(), "url → /done".to_owned()];
    let mut warned =
        Answer::told("e1 button \"Send\"", json!({ "text": "e1 button \"Send\"", "refs": {} }));
    warned.warnings.push("no display; working headless".to_owned());
    let blocked = Answer::acted(OutcomeKind::BlockedBy, "e12 is covered by dialog \"Cookies\"");
    let partial = Answer {
        exit: 1,
        outcome: Some("partial".to_owned()),
        text: "Found 2 of 3 kettles.".to_owned(),
        data: json!({ "run": "r7" }),
        ..Answer::default()
    };
    vec![
        ("changed", Answer::acted(OutcomeKind::Changed, "clicked e12").with_delta(delta)),
        ("no effect, no words", Answer::acted(OutcomeKind::NoEffect, "")),
        ("told with a warning", warned),
        ("blocked", blocked.with_hint("close it first: `strawmanus click e3`")),
        (
            "held",
            Answer::acted(OutcomeKind::Held, "h4 needs a person")
                .with_data(json!({ "hold": "h4" })),
        ),
        ("partial", partial),
        ("daemon", Answer::failed(4, Failure::new("daemon", "the daemon does not answer"))),
    ]
}

#[test]
fn answers_for_people() {
    let pages = answers()
        .into_iter()
        .map(|(name, answer)| format!("# {name}\n{}", page(Printer::default(), &answer)));
    insta::assert_snapshot!(pages.collect::<Vec<_>>().join("\n"));
}

#[test]
fn envelopes_for_programs() {
    let pages = answers().into_iter().map(|(name, answer)| {
        assert_eq!(answer.envelope()["ok"], json!(answer.exit == 0), "{name}");
        format!("# {name}\n{}", page(Printer::json(), &answer))
    });
    insta::assert_snapshot!(pages.collect::<Vec<_>>().join("\n"));
}
