//! `doctor`: is everything here that is needed, does it work, and if not, what helps.
mod browser;
mod fonts;
mod home;

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use crate::config::environment::{Environment, MODEL_KEYS};
use crate::config::home::Home;
use crate::config::layers::ConfigError;
use crate::config::{Config, Settings};
use crate::control::answer::{Answer, Failure};
use crate::control::composition::{Composition, Probe};

/// What is looked at.
pub struct Visit {
    pub home: Home,
    pub environment: Environment,
    pub settings: Result<Settings, ConfigError>,
}

/// What one look found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    pub check: &'static str,
    pub state: State,
    pub found: String,
    /// What the user can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// What `--fix` can do about it.
    #[serde(skip)]
    pub cure: Option<Cure>,
    /// Whether `--fix` has mended it.
    pub fixed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    Warning,
    Broken,
}

/// What can be mended without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cure {
    PrepareHome,
    CloseHome,
    RemoveFiles(Vec<std::path::PathBuf>),
    /// Debian packages.
    Install(&'static [&'static str]),
}

impl Finding {
    fn new(check: &'static str, state: State, found: impl Into<String>) -> Self {
        Self { check, state, found: found.into(), remedy: None, cure: None, fixed: false }
    }

    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(check, State::Ok, found)
    }

    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    fn cure(mut self, cure: Cure) -> Self {
        self.cure = Some(cure);
        self
    }

    fn line(&self) -> String {
        let state = match self.state {
            _ if self.fixed => "fixed",
            State::Ok => "ok",
            State::Warning => "warning",
            State::Broken => "broken",
        };
        let remedy = self.remedy.as_ref().filter(|_| !self.fixed);
        let remedy = remedy.map_or_else(String::new, |remedy| format!("\n{:18}→ {remedy}", ""));
        format!("{state:8}{:10}{}{remedy}", self.check, self.found)
    }
}

/// One look, at one corner.
#[derive(Debug, Clone, Copy)]
enum Look {
    Settings,
    Home,
    Browser,
    Fonts,
    Key,
}

impl Look {
    async fn look(self, room: &Room<'_>) -> Vec<Finding> {
        match self {
            Self::Settings => vec![settings(room.visit)],
            Self::Home => home::look(room).await,
            Self::Browser => browser::look(room).await,
            Self::Fonts => vec![fonts::look()],
            Self::Key => vec![key(room.visit)],
        }
    }
}

/// Looks at everything, mends what it may, and reports.
pub async fn examine(app: &impl Composition, visit: Visit, fix: bool) -> Answer {
    let config = visit.settings.as_ref().map_or_else(|_| Config::default(), |it| it.config.clone());
    let probe = app.probe(&config);
    let room = Room { visit: &visit, config: &config, probe };
    let mut findings = Vec::new();
    for look in [Look::Settings, Look::Home, Look::Browser, Look::Fonts, Look::Key] {
        let mut found = look.look(&room).await;
        if fix && mend(&room, &mut found) {
            found = after(found, look.look(&room).await);
        }
        findings.append(&mut found);
    }
    report(&findings)
}

/// Tells what a second look saw, and of what was mended that it was.
fn after(before: Vec<Finding>, mut now: Vec<Finding>) -> Vec<Finding> {
    for mended in before.into_iter().filter(|finding| finding.fixed) {
        // Files that were removed are not seen again; a second look cannot tell of them.
        let removed = matches!(mended.cure, Some(Cure::RemoveFiles(_)));
        match now.iter_mut().find(|finding| finding.check == mended.check && !removed) {
            Some(finding) => finding.fixed = finding.state == State::Ok,
            None => now.push(Finding { state: State::Ok, remedy: None, ..mended }),
        }
    }
    now
}

/// What every look is given.
struct Room<'a> {
    visit: &'a Visit,
    config: &'a Config,
    probe: Arc<dyn Probe>,
}

/// Carries out the cures of `findings`; says whether any worked.
fn mend(room: &Room<'_>, findings: &mut [Finding]) -> bool {
    for finding in findings.iter_mut() {
        let Some(cure) = finding.cure.clone() else { continue };
        match carry_out(room, &cure) {
            Ok(()) => finding.fixed = true,
            Err(why) => finding.remedy = Some(format!("could not be mended: {why}")),
        }
    }
    findings.iter().any(|finding| finding.fixed)
}

fn carry_out(room: &Room<'_>, cure: &Cure) -> Result<(), String> {
    let home = &room.visit.home;
    match cure {
        Cure::PrepareHome => home.clone().prepare().map(drop).map_err(|error| error.to_string()),
        Cure::CloseHome => home.close_to_others().map_err(|error| error.to_string()),
        Cure::RemoveFiles(files) => files
            .iter()
            .filter(|file| crate::cli::exists(file))
            .try_for_each(std::fs::remove_file)
            .map_err(|error| error.to_string()),
        Cure::Install(packages) => browser::install(packages),
    }
}

fn settings(visit: &Visit) -> Finding {
    match &visit.settings {
        Ok(_) => {
            let file = visit.home.config_file();
            let found =
                if file.exists() { file.display().to_string() } else { "the defaults".into() };
            Finding::ok("settings", found)
        }
        Err(error) => Finding::new("settings", State::Broken, error.to_string())
            .remedy(format!("mend {} or the environment", visit.home.config_file().display())),
    }
}

fn key(visit: &Visit) -> Finding {
    let set = MODEL_KEYS.into_iter().filter(|name| visit.environment.get(name).is_some());
    let set: Vec<_> = set.collect();
    if set.is_empty() {
        let found = format!("neither {} is set", MODEL_KEYS.join(" nor "));
        return Finding::new("model key", State::Warning, found).remedy(
            "`run` needs one, a --base-url of this machine, or --model script:FILE; everything else \
             works without",
        );
    }
    Finding::ok("model key", format!("{} is set", set.join(" and ")))
}

fn report(findings: &[Finding]) -> Answer {
    let text = findings.iter().map(Finding::line).collect::<Vec<_>>().join("\n");
    let mut answer = Answer::told(text, json!({ "checks": findings }));
    let broken: Vec<_> = findings.iter().filter(|it| it.state == State::Broken).collect();
    if let Some(first) = broken.iter().find(|it| it.check == "browser").or(broken.first()) {
        answer.exit = if first.check == "browser" { 4 } else { 1 };
        let kind = if first.check == "browser" { "browser" } else { "doctor" };
        let mut failure = Failure::new(kind, format!("{}: {}", first.check, first.found));
        failure.hint.clone_from(&first.remedy);
        answer.error = Some(failure);
    }
    answer
}
