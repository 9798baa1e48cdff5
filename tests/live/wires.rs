//! One task by a model over HTTP, on both wires, by a service that slips all along the way.
use std::fs;
use std::time::Duration;

use strawmanus::practice::demo;
use strawmanus::practice::model::ModelService;
use strawmanus::practice::model::slips::Slip;
use strawmanus::practice::server::{Options, Practice};

use crate::support::pace::{Paced, median, steps};
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
/// What the runtime may add to a step, on any machine; `bench/agent` has the figure.
const OVERHEAD: Duration = Duration::from_millis(200);

/// What a run left.
struct Played {
    service: ModelService,
    report: String,
    trace: String,
}

fn plays(wire: &str, slips: &[Slip]) -> Played {
    let (practice, shell) = (Practice::start(Options::default()).unwrap(), Shell::new());
    let service = ModelService::start(&demo::script(&practice)).unwrap();
    // Every third answer is in good order.
    slips.iter().enumerate().for_each(|(at, slip)| service.slip_at(at + at / 2, *slip));
    let base = if wire == "anthropic" { service.anthropic() } else { service.openai() };
    let words = ["run", &demo::task(&practice), "--base-url", &base, "--model", "practice-script"];
    let done = shell.run(&words);
    assert_eq!((done.exit, done.word()), (3, "partial"), "{wire}: {done:#?}");
    assert_eq!(demo::verdict(&practice.ledger()), Ok(()), "{wire}: {done:#?}");
    let folder = done.data("folder").as_str().unwrap();
    let [report, trace] = ["report.md", "trace.json"]
        .map(|name| fs::read_to_string(format!("{folder}/{name}")).unwrap());
    Played { service, report, trace }
}

#[test]
fn the_task_is_done_on_both_wires_and_most_of_its_input_is_cached() {
    for wire in ["anthropic", "openai"] {
        let Played { service, report, trace } = plays(wire, &[]);
        let tokens = service.tokens();
        let share = tokens.cached * 100 / tokens.input;
        println!("{wire}: {tokens:?}, {share} % of the input from the cache");
        assert!(share >= CACHED, "{wire}: {tokens:?}");
        let told = format!("{} in ({} from the cache)", tokens.input, tokens.cached);
        assert!(report.contains(&told), "{wire} {told}: {report}");
        let steps = steps(&serde_json::from_str(&trace).unwrap());
        assert!(steps.iter().any(|step| step.page > step.model), "{wire}: no page: {steps:#?}");
        let own = median(steps.iter().map(Paced::overhead));
        assert!(own <= OVERHEAD, "{wire}: {own:?} a step: {steps:#?}");
    }
}

#[test]
fn the_task_is_done_on_both_wires_whatever_slips() {
    for wire in ["anthropic", "openai"] {
        let Played { service, .. } = plays(wire, &SLIPS);
        let asked = service.asked().len();
        let last = SLIPS.len() - 1;
        assert!(asked > last + last / 2, "{wire}: only {asked} requests, so not every slip came");
    }
}
