//! The program `strawmanus`.
use std::process::ExitCode;
use std::sync::Arc;

use strawmanus::config::Config;
use strawmanus::config::home::Home;
use strawmanus::control::answer::Failure;
use strawmanus::control::composition::{Composition, Probe};
use strawmanus::control::handler::Handler;

struct Program;

#[async_trait::async_trait]
impl Composition for Program {
    async fn handler(&self, _: &Home, _: &Config) -> Result<Arc<dyn Handler>, Failure> {
        Err(Failure::new("daemon", "this build has no browser"))
    }

    fn probe(&self, _: &Config) -> Arc<dyn Probe> {
        Arc::new(Self)
    }
}

#[async_trait::async_trait]
impl Probe for Program {
    fn locate(&self) -> Result<std::path::PathBuf, String> {
        Err("this build has no browser".to_owned())
    }

    async fn try_start(&self) -> Result<String, String> {
        self.locate().map(|path| path.display().to_string())
    }

    fn profile_holder(&self, _: &std::path::Path) -> Option<u32> {
        None
    }
}

fn main() -> ExitCode {
    strawmanus::cli::main(Program)
}
