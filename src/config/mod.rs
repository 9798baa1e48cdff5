//! Settings, in layers: `config/default.toml`, which is compiled in, below `config.toml` of the home
//! folder, below the environment and a `.env`, below flags. Keys that nobody knows are errors.
pub mod environment;
pub mod home;
pub mod layers;
pub mod span;
pub mod values;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toml::Table;

use crate::config::environment::Environment;
use crate::config::home::Home;
use crate::config::layers::{ConfigError, Layers, Origin};
use crate::config::span::Span;
use crate::config::values::{Guess, Headless, Viewport, WireSetting};
use crate::domain::cost::Price;
use crate::ports::browser::ProfileMode;

const DEFAULTS: &str = include_str!("../../config/default.toml");

/// Every setting; `config/default.toml` says what each means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub browser: BrowserSettings,
    pub folders: Folders,
    pub limits: RunLimits,
    pub context: ContextSettings,
    pub model: ModelSettings,
    pub tab: TabSettings,
    pub guard: GuardSettings,
    pub daemon: DaemonSettings,
    /// What models cost, by the name they begin with; see [`Config::price_of`].
    pub price: BTreeMap<String, Price>,
}

impl Config {
    /// Returns the price of a model: of its exact name, else of the longest name that it goes on
    /// from after a `-`, `:` or `@`. A provider before the name does not count: `anthropic/claude-…`.
    pub fn price_of(&self, model: &str) -> Option<Price> {
        let bare = model.rsplit('/').next().unwrap_or(model);
        let goes_on = |name: &str| {
            let rest = bare.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '@']))
        };
        let exact = self.price.get(model).or_else(|| self.price.get(bare));
        let longest = || {
            let fits = self.price.iter().filter(|(name, _)| !name.is_empty() && goes_on(name));
            fits.max_by_key(|(name, _)| name.len()).map(|(_, price)| price)
        };
        exact.or_else(longest).copied()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrowserSettings {
    /// Empty: the program is looked for; see [`BrowserSettings::program`].
    executable: PathBuf,
    pub arguments: Vec<String>,
    pub headless: Headless,
    pub profile: ProfileMode,
    pub viewport: Viewport,
}

impl BrowserSettings {
    /// Returns the browser's program, if the user names one.
    pub fn program(&self) -> Option<PathBuf> {
        (!self.executable.as_os_str().is_empty()).then(|| self.executable.clone())
    }
}

/// Relative ones are below the home folder; see [`Home::below`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folders {
    pub profiles: PathBuf,
    pub screenshots: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunLimits {
    pub navigation: Span,
    pub action: Span,
    pub step: Span,
    pub steps: NonZeroU32,
    pub minutes: NonZeroU32,
    pub errors_in_a_row: NonZeroU32,
    pub without_progress: NonZeroU32,
    /// 0: no limit.
    pub tokens: u64,
    /// US dollars; 0: no limit.
    pub cost: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextSettings {
    pub recent_steps: NonZeroU32,
    /// In characters.
    pub text: NonZeroU32,
    /// In tokens.
    pub markdown: NonZeroU32,
    /// In tokens.
    pub fold_at: NonZeroU32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    pub orchestrator: String,
    pub page_reader: String,
    /// Empty: the service's own.
    pub base_url: String,
    pub wire: WireSetting,
    pub sees: Guess,
    /// How long the service may send nothing.
    pub stall: Span,
    /// How long one whole answer may take.
    pub patience: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TabSettings {
    pub queue: NonZeroU32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardSettings {
    pub approval: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DaemonSettings {
    pub idle_minutes: NonZeroU32,
}

/// One flag that sets a setting: its name, the key, the value as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagSetting {
    pub flag: &'static str,
    pub key: &'static str,
    pub value: String,
}

/// The settings of one command, and where each comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub config: Config,
    pub layers: Layers,
}

impl Settings {
    /// Reads and lays together every layer.
    pub fn load(
        home: &Home,
        environment: &Environment,
        flags: &[FlagSetting],
    ) -> Result<Self, ConfigError> {
        let path = home.config_file();
        let mut layers = Layers::new(&defaults());
        match fs::read_to_string(&path) {
            Ok(text) => layers.add_file(&path, &text)?,
            // A home that is no folder is told of by whoever needs the folder.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => {
                let path = path.display().to_string();
                return Err(ConfigError::Unreadable { path, why: error.to_string() });
            }
        }
        layers.add_environment(environment)?;
        for flag in flags {
            layers.set_text(flag.key.to_owned(), &flag.value, Origin::Flag(flag.flag))?;
        }
        Self::from_layers(layers)
    }

    fn from_layers(layers: Layers) -> Result<Self, ConfigError> {
        let set = layers.iter().filter(|(_, setting)| setting.origin != Origin::Default);
        for (key, setting) in set {
            if let Err(error) = layers.alone(&defaults(), key).try_into::<Config>() {
                let why = error.message().lines().next().unwrap_or_default().to_owned();
                let (key, origin) = (key.to_owned(), setting.origin.clone());
                return Err(ConfigError::BadValue { key, origin, why });
            }
        }
        // Each value fits by itself, and no two depend on one another.
        let whole = layers.table().try_into::<Config>();
        let config = whole.map_err(|error| ConfigError::BadFile {
            path: "the settings".to_owned(),
            why: error.message().to_owned(),
        })?;
        Ok(Self { config, layers })
    }
}

impl Default for Config {
    /// The compiled-in defaults alone.
    fn default() -> Self {
        defaults().try_into().expect("config/default.toml fits `Config`, by a test")
    }
}

fn defaults() -> Table {
    DEFAULTS.parse().expect("config/default.toml is TOML, by a test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_fit_and_every_key_has_a_comment() {
        let config = Config::default();
        assert_eq!(config.limits.steps.get(), 40);
        assert_eq!(config.browser.program(), None);
        let lines: Vec<&str> = DEFAULTS.lines().collect();
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| line.contains(" = ")) {
            let described = lines[number - 1].starts_with("# ");
            assert!(described || line.starts_with('#'), "no comment above `{line}`");
        }
    }

    #[test]
    fn a_price_is_found_by_the_longest_name() {
        let price = |input| Price { input, output: 1.0, cached: None, written: None };
        let prices = [("m", 1.0), ("m-5", 2.0), ("m-5-mini", 3.0), ("gpt-4.1", 4.0), ("a/m", 5.0)];
        let prices = prices.map(|(name, input)| (name.to_owned(), price(input)));
        let config = Config { price: prices.into_iter().collect(), ..Config::default() };
        for (model, input) in [
            ("m", Some(1.0)),
            ("m-4-20260101", Some(1.0)),
            ("m-5@latest", Some(2.0)),
            ("m-5-mini-2026", Some(3.0)),
            ("openai/gpt-4.1", Some(4.0)),
            ("gpt-4.1-nano", Some(4.0)),
            ("a/m", Some(5.0)),
            ("m5", None),
            ("gpt-4", None),
            ("m.1", None),
        ] {
            assert_eq!(config.price_of(model).map(|price| price.input), input, "{model}");
        }
    }

    #[test]
    fn the_type_writes_what_the_file_says() {
        let written = Table::try_from(Config::default()).unwrap();
        assert_eq!(written, defaults());
    }
}
