//! The flags that every verb takes, and the settings that some of them stand for.
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::{Deserialize, Serialize};

use crate::config::FlagSetting;
use crate::config::span::Span;
use crate::control::verbs::tab_id;
use crate::domain::ids::{SessionName, TabId};
use crate::domain::run::OnHold;
use crate::ports::browser::ProfileMode;

/// The flags that every verb takes.
#[derive(Debug, Clone, PartialEq, Default, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Global flags")]
pub struct Globals {
    /// The browser session to work in [default: default]
    #[arg(long, global = true, value_name = "NAME")]
    pub session: Option<SessionName>,
    /// Whose profile the browser runs on [default: cloned]
    #[arg(long, global = true, value_name = "MODE", value_parser = profiles())]
    pub profile: Option<ProfileMode>,
    /// Show no window
    #[arg(long, global = true, conflicts_with = "headed")]
    pub headless: bool,
    /// Show the window
    #[arg(long, global = true)]
    pub headed: bool,
    /// Use a browser that runs already, by its debugging address
    #[arg(long, global = true, value_name = "URL")]
    pub cdp: Option<String>,
    /// The model that decides, or script:FILE
    #[arg(long, global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// Where the model's service is
    #[arg(long, global = true, value_name = "URL")]
    pub base_url: Option<String>,
    /// End a run after this many steps
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,
    /// End a run after this many minutes
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_minutes: Option<u32>,
    /// End a run before it costs more than this; its model needs a price in the settings
    #[arg(long, global = true, value_name = "USD", value_parser = dollars)]
    pub max_cost: Option<f64>,
    /// How many entities the answer should have
    #[arg(long, global = true, value_name = "N")]
    pub expect: Option<u32>,
    /// Let acts that cannot be undone pass on the hosts of --allow, but for money and secrets
    #[arg(long, global = true, requires = "allow")]
    pub auto_approve: bool,
    /// Hosts on which --auto-approve counts
    #[arg(long, global = true, value_name = "DOMAIN", value_delimiter = ',')]
    pub allow: Vec<String>,
    /// What a run does about a held act: ask, skip it, or wait=30m for an approval
    /// [default: ask on a terminal, skip elsewhere]
    #[arg(long, global = true, value_name = "WHAT", value_parser = on_hold)]
    pub on_hold: Option<OnHold>,
    /// How long the command may take: 10s, 500ms, 2m
    #[arg(long, global = true, value_name = "TIME")]
    pub timeout: Option<Span>,
    /// Act on this tab without switching to it
    #[arg(long, global = true, value_name = "TAB", value_parser = tab_id)]
    pub tab: Option<TabId>,
    /// Answer in JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Print the result alone
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more; twice for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

fn dollars(text: &str) -> Result<f64, String> {
    let read = text.trim_start_matches('$').parse::<f64>().ok();
    let read = read.filter(|dollars| dollars.is_finite() && *dollars > 0.0);
    read.ok_or_else(|| "it must be a number of US dollars above 0, such as 0.5".into())
}

fn on_hold(word: &str) -> Result<OnHold, String> {
    let span = |span: &str| span.parse::<Span>().map(|span| OnHold::Wait(span.0)).ok();
    let read = match word.split_once('=') {
        Some(("wait", time)) => span(time),
        _ => match word {
            "ask" => Some(OnHold::Ask),
            "skip" => Some(OnHold::Skip),
            _ => None,
        },
    };
    read.ok_or_else(|| "say ask, skip, or how long to wait: wait=30m".into())
}

fn profiles() -> impl TypedValueParser<Value = ProfileMode> {
    PossibleValuesParser::new(["cloned", "fresh", "attach"]).map(|word| match word.as_str() {
        "fresh" => ProfileMode::Fresh,
        "attach" => ProfileMode::Attach,
        _ => ProfileMode::Cloned,
    })
}

impl Globals {
    /// Returns the session to work in.
    pub fn session(&self) -> SessionName {
        let default = || "default".parse().expect("`default` is a session name");
        self.session.clone().unwrap_or_else(default)
    }

    /// Returns the settings that flags were given for; they lie above every other layer.
    pub fn settings(&self) -> Vec<FlagSetting> {
        let profile = self.profile.map(|mode| match mode {
            ProfileMode::Cloned => "cloned".to_owned(),
            ProfileMode::Fresh => "fresh".to_owned(),
            ProfileMode::Attach => "attach".to_owned(),
        });
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let rows = [
            ("--profile", "browser.profile", profile),
            ("--headless", "browser.headless", self.headless.then(|| "true".to_owned())),
            ("--headed", "browser.headless", self.headed.then(|| "false".to_owned())),
            ("--model", "model.orchestrator", self.model.clone()),
            ("--base-url", "model.base_url", self.base_url.clone()),
            ("--max-steps", "limits.steps", number(self.max_steps)),
            ("--max-minutes", "limits.minutes", number(self.max_minutes)),
            ("--max-cost", "limits.cost", self.max_cost.map(|dollars| dollars.to_string())),
        ];
        let given = |(flag, key, value): (_, _, Option<String>)| {
            Some(FlagSetting { flag, key, value: value? })
        };
        rows.into_iter().filter_map(given).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_a_run_does_about_holds_is_read_and_comes_back_from_the_wire() {
        for (word, meant) in [
            ("ask", OnHold::Ask),
            ("skip", OnHold::Skip),
            ("wait=30m", OnHold::Wait(Duration::from_secs(1_800))),
        ] {
            assert_eq!(on_hold(word), Ok(meant), "{word}");
            let globals = Globals { on_hold: Some(meant), ..Globals::default() };
            let written = serde_json::to_string(&globals).unwrap();
            assert_eq!(serde_json::from_str::<Globals>(&written).unwrap(), globals);
        }
        for word in ["", "wait", "wait=", "wait=soon", "ask=1s", "never"] {
            assert!(on_hold(word).is_err(), "{word}");
        }
    }
}
