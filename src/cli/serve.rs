//! The hidden verb `daemon`.
use std::process::ExitCode;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use crate::config::Settings;
use crate::config::environment::Environment;
use crate::config::home::Home;
use crate::control::answer::{Answer, Failure};
use crate::control::composition::Composition;
use crate::control::daemon::{self, Claim};

/// Serves until there is no need any more. Whoever loses the race for the lock ends quietly.
pub fn daemon(app: impl Composition) -> ExitCode {
    daemon::detach();
    let environment = Environment::of_process();
    start_log(environment.get("STRAWMANUS_LOG"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let served = match runtime {
        Ok(runtime) => runtime.block_on(serve(app, environment)),
        Err(error) => Err(trouble(&error)),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(answer) => {
            // Standard error is the log, whose last lines the caller is shown.
            let failure = answer.error.unwrap_or_else(|| Failure::new("daemon", "it cannot live"));
            eprintln!("{}", failure.message);
            failure.hint.iter().for_each(|hint| eprintln!("hint: {hint}"));
            ExitCode::from(answer.exit)
        }
    }
}

async fn serve(app: impl Composition, environment: Environment) -> Result<(), Answer> {
    let folder = std::env::current_dir().map_err(|error| trouble(&error))?;
    let home = Home::find(&environment, &folder)?.prepare()?;
    let Some(claim) = Claim::take(&home).await.map_err(|error| trouble(&error))? else {
        return Ok(());
    };
    let config = Settings::load(&home, &environment, &[])?.config;
    let handler =
        app.handler(&home, &config).await.map_err(|failure| Answer::failed(4, failure))?;
    let idle = Duration::from_secs(60 * u64::from(config.daemon.idle_minutes.get()));
    daemon::serve(claim, handler, idle).await.map_err(|error| trouble(&error))
}

fn trouble(error: &dyn ToString) -> Answer {
    Answer::failed(4, Failure::new("daemon", error.to_string()))
}

fn start_log(filter: Option<&str>) {
    let filter = filter.and_then(|filter| EnvFilter::try_new(filter).ok());
    let filter = filter.unwrap_or_else(|| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    log.with_writer(std::io::stderr).init();
}
