//! The face for shells: reads the line, asks the daemon, prints the answer.
pub mod arguments;
mod attach;
pub mod doctor;
mod plain;
pub mod print;
mod run;
mod serve;
mod settings;

use std::ffi::OsString;
use std::io::{IsTerminal, stderr, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::Value;

use crate::cli::arguments::{Arguments, Misread};
use crate::cli::print::Printer;
use crate::config::Settings;
use crate::config::environment::Environment;
use crate::config::home::Home;
use crate::control::answer::{Answer, Failure};
use crate::control::build::Build;
use crate::control::client::{Client, new_request_id};
use crate::control::composition::Composition;
use crate::control::protocol::{Context, PROTOCOL, Request};
use crate::control::starter::ProcessStarter;
use crate::control::verbs::Verb;

/// Carries out the process's command line and returns the exit code of the contract.
pub fn main(app: impl Composition) -> ExitCode {
    let line: Vec<OsString> = std::env::args_os().collect();
    let arguments = match Arguments::read(&line) {
        Ok(arguments) => arguments,
        Err(Misread::Help(text)) => return Printer::default().help(&text),
        Err(Misread::Usage(misuse)) => return misuse.print(),
    };
    let printer = Printer::of(&arguments.globals);
    if arguments.verb == (Verb::Daemon {}) {
        return serve::daemon(app);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let answer = match runtime {
        Ok(runtime) => runtime.block_on(carry_out(app, arguments, &printer)),
        Err(error) => Answer::failed(4, Failure::new("internal", format!("no runtime: {error}"))),
    };
    printer.answer(&answer)
}

/// Whoever calls: the folder and the environment.
struct Caller {
    folder: PathBuf,
    environment: Environment,
}

impl Caller {
    fn of_process() -> Self {
        let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        // The socket carries text; a folder with another name can hold no file that we are given.
        let folder = PathBuf::from(folder.to_string_lossy().into_owned());
        let environment = Environment::of_process().with_file_of(&folder);
        Self { folder, environment }
    }
}

async fn carry_out(app: impl Composition, arguments: Arguments, printer: &Printer) -> Answer {
    let caller = Caller::of_process();
    let home = match Home::find(&caller.environment, &caller.folder) {
        Ok(home) => home,
        Err(error) => return error.into(),
    };
    let flags = arguments.globals.settings();
    let settings = |home: &Home| Settings::load(home, &caller.environment, &flags);
    match &arguments.verb {
        Verb::Doctor { fix } => {
            let settings = settings(&home);
            let visit = doctor::Visit { home, environment: caller.environment, settings };
            doctor::examine(&app, visit, *fix).await
        }
        Verb::Config { .. } => match settings(&home) {
            Ok(settings) => settings::show(&settings, &arguments.verb),
            Err(error) => error.into(),
        },
        // A home that cannot be used says more than a setting in it that cannot be read.
        _ => match home.prepare() {
            Ok(home) => match settings(&home) {
                Ok(settings) => ask(home, caller, (arguments, settings), printer).await,
                Err(error) => error.into(),
            },
            Err(error) => error.into(),
        },
    }
}

async fn ask(
    home: Home,
    caller: Caller,
    (arguments, settings): (Arguments, Settings),
    printer: &Printer,
) -> Answer {
    let Arguments { globals, verb } = arguments;
    let build = Build::of_process();
    let starter = ProcessStarter::new(caller.environment.clone());
    let client = Client::new(home, build.clone(), Arc::new(starter));
    let terminal = stdin().is_terminal() && stderr().is_terminal();
    let Caller { folder, environment } = caller;
    let deadline = globals.timeout.or_else(|| verb.patience(&settings.config.limits));
    let context = Context { folder, environment, terminal };
    let id = new_request_id();
    let live = terminal && stdout().is_terminal() && !globals.json && !globals.quiet;
    let shows = if let Verb::Attach { run } = verb { Some(run) } else { None };
    let request = Request { v: PROTOCOL, id, build, verb, globals, context, deadline };
    if let (Some(run), true) = (shows, live) {
        return attach::show(client, request, run).await;
    }
    if let Verb::Run { .. } = request.verb {
        return run::follow(client, request, &settings.config.limits, *printer).await;
    }
    client.send(request, |text, _: &Value| printer.step(text)).await
}

/// Whether a file or folder is there, also when it is a dangling link.
fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
