//! Measures a run of 20 steps on the practice sites, on a real Chromium: `bench/agent`.
//!
//! The model is a script behind real HTTP, so what is left of a step besides its answer and the page
//! is the runtime's own: from one outcome in the run's journal to the next, less what the journal
//! says was waited for the model and for the page. Tokens are reckoned by the service from the
//! requests that it received, by four bytes, and its cache by the breakpoints in them.
#[path = "turns/micro.rs"]
mod micro;
#[expect(dead_code, reason = "tests use more of it")]
#[path = "faults/support.rs"]
mod support;

use std::process::ExitCode;
use std::time::Duration;

use strawmanus::practice::model::ModelService;
use strawmanus::practice::server::{Options, Practice};

use crate::support::pace::{Paced, median, steps};
use crate::support::shell::Shell;

const STEPS: &str = include_str!("turns/steps.jsonl");
const TASK: &str = "Find out in The Harbour Paper which lamp the repair café chose, put one into the \
                    cart at Finch & Fern, and write to Mira Holt about it. Do not send the message.";
/// What the runtime may add to a step, and how much of the input a cache must be able to serve.
const OVERHEAD: Duration = Duration::from_millis(20);
const CACHED: f64 = 80.0;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds = match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Some(5),
        ["--rounds", rounds] => rounds.parse().ok().filter(|rounds| *rounds > 0),
        _ => None,
    };
    let Some(rounds) = rounds else {
        eprintln!("usage: bench/agent [--rounds N]");
        return ExitCode::from(2);
    };
    let before = load();
    let runs: Vec<_> = (0..rounds).map(|_| run()).collect();
    println!("{rounds} rounds, dev profile; load {before} before, {} after\n", load());
    by_step(&runs);
    summed_up(&runs);
    micro::table();
    ExitCode::SUCCESS
}

fn run() -> Vec<Paced> {
    let (practice, shell) = (Practice::start(Options::default()).unwrap(), Shell::new());
    let place = |text: String, site: &str| {
        text.replace(&format!("{{{{{site}}}}}"), &practice.url(site, ""))
    };
    let script = ["news", "shop", "mail"].into_iter().fold(STEPS.to_owned(), place);
    let service = ModelService::start(&script).expect("a script");
    let task = ["news", "shop", "mail"].map(|site| practice.url(site, "/")).join(" ");
    let task = format!("{TASK} Their addresses: {task}");
    let words = ["run", &task, "--base-url", &service.anthropic(), "--model", "practice-script"];
    // The browser runs already, as it does for whoever works with it.
    shell.run(&["open", &practice.url("test", "/t/blank")]).good();
    let done = shell.run(&words).good();
    let folder = done.data("folder").as_str().expect("a folder").to_owned();
    let trace = std::fs::read_to_string(format!("{folder}/trace.json")).expect("a trace");
    let steps = steps(&serde_json::from_str(&trace).expect("a trace in JSON"));
    let told: u64 = steps.iter().map(|step| step.input).sum();
    assert_eq!(told, service.tokens().input, "the journal holds what the service counted");
    steps
}

fn by_step(runs: &[Vec<Paced>]) {
    println!("| step | | whole ms | model | page | overhead | input tokens | from the cache |");
    println!("|---|---|---|---|---|---|---|---|");
    let longest = runs.iter().map(Vec::len).max().unwrap_or_default();
    for at in 0..longest {
        let rows: Vec<&Paced> = runs.iter().filter_map(|run| run.get(at)).collect();
        let middle = |part: fn(&Paced) -> Duration| ms(median(rows.iter().map(|step| part(step))));
        let (whole, model) = (middle(|step| step.whole), middle(|step| step.model));
        let (page, own) = (middle(|step| step.page), middle(Paced::overhead));
        let Paced { tool, input, cached, .. } = rows[0];
        let number = at + 1;
        println!(
            "| {number} | {tool} | {whole:.1} | {model:.1} | {page:.1} | {own:.1} | {input} | {cached} |"
        );
    }
}

fn summed_up(runs: &[Vec<Paced>]) {
    let all = || runs.iter().flatten();
    let own = median(all().map(Paced::overhead));
    let worst = all().map(Paced::overhead).max().unwrap_or_default();
    let model = median(all().map(|step| step.model));
    println!("\noverhead of a step: median {:.1} ms, worst {:.1} ms", ms(own), ms(worst));
    println!("the model's answer, HTTP and all: median {:.1} ms", ms(model));
    verdict("the overhead", own <= OVERHEAD, "20 ms");
    let run = &runs[0];
    let input: u64 = run.iter().map(|step| step.input).sum();
    let cached: u64 = run.iter().map(|step| step.cached).sum();
    let share = percent(cached, input);
    let steps = run.len();
    println!("{steps} steps: {input} input tokens, {:.0} a step", input as f64 / steps as f64);
    println!("of them a prompt cache serves {cached}: {share:.1} %");
    verdict("the share", share >= CACHED, "80 %");
}

fn verdict(what: &str, holds: bool, goal: &str) {
    let word = if holds { "within" } else { "BEYOND" };
    println!("{what} is {word} its goal of {goal}");
}

fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}

pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// How busy the machine is: processes that want a core, over 1, 5 and 15 minutes.
fn load() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<_> = load.split_whitespace().take(3).collect();
    format!("{} on {cores} cores", load.join(" "))
}
