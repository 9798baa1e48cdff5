//! One task by a model over HTTP, on both wires, by a service that slips all along the way.
use std::fs;

use strawmanus::practice::demo;
use strawmanus::practice::model::ModelService;
use strawmanus::practice::model::slips::Slip;
use strawmanus::practice::server::{Options, Practice};

use crate::support::shell::Shell;

/// What a local server does that knows tools only so so, and a service on a bad day.
const SLIPS: [Slip; 12] = [
    Slip::StringValues,
    Slip::ErrorEvent,
    Slip::TwoCalls,
    Slip::NoIds,
    Slip::Prose,
    Slip::ObjectArguments,
    Slip::CutShort,
    Slip::Fenced,
    Slip::UnknownTool,
    Slip::ProseAndCall,
    Slip::EndedEarly,
    Slip::Plain,
];

/// The share of the input that a prompt cache must be able to serve, in percent.
const CACHED: u64 = 80;

fn plays(wire: &str, slips: &[Slip]) -> (Practice, ModelService, String) {
    let (practice, shell) = (Practice::start(Options::default()).unwrap(), Shell::new());
    let service = ModelService::start(&demo::script(&practice)).unwrap();
    // Every third answer is in good order.
    slips.iter().enumerate().for_each(|(at, slip)| service.slip_at(at + at / 2, *slip));
    let base = if wire == "anthropic" { service.anthropic() } else { service.openai() };
    let words = ["run", &demo::task(&practice), "--base-url", &base, "--model", "practice-script"];
    let done = shell.run(&words);
    assert_eq!((done.exit, done.word()), (3, "partial"), "{wire}: {done:#?}");
    assert_eq!(demo::verdict(&practice.ledger()), Ok(()), "{wire}: {done:#?}");
    let report = fs::read_to_string(done.data("report").as_str().unwrap()).unwrap();
    (practice, service, report)
}

#[test]
fn the_task_is_done_on_both_wires_and_most_of_its_input_is_cached() {
    for wire in ["anthropic", "openai"] {
        let (_practice, service, report) = plays(wire, &[]);
        let tokens = service.tokens();
        let share = tokens.cached * 100 / tokens.input;
        println!("{wire}: {tokens:?}, {share} % of the input from the cache");
        assert!(share >= CACHED, "{wire}: {tokens:?}");
        let told = format!("{} in ({} from the cache)", tokens.input, tokens.cached);
        assert!(report.contains(&told), "{wire} {told}: {report}");
    }
}

#[test]
fn the_task_is_done_on_both_wires_whatever_slips() {
    for wire in ["anthropic", "openai"] {
        let (_practice, service, _) = plays(wire, &SLIPS);
        let asked = service.asked().len();
        let last = SLIPS.len() - 1;
        assert!(asked > last + last / 2, "{wire}: only {asked} requests, so not every slip came");
    }
}
