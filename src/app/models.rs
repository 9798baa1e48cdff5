//! Which model decides, which reads pages, and how each is reached.

use std::sync::Arc;

use crate::app::told::{trouble, usage};
use crate::app::{Call, Told};
use crate::config::environment::Environment;
use crate::config::values::WireSetting;
use crate::config::{Config, ModelSettings};
use crate::control::answer::{Answer, Failure};
use crate::model::remote::{Remote, Setup};
use crate::model::script::Script;
use crate::model::service::{Key, Patience, Proxies};
use crate::model::wire::Wire;
use crate::ports::model::{Model, ModelError};

impl Call<'_> {
    /// Returns the model that decides, and its script's text where it is one.
    pub async fn model(&self) -> Told<(Arc<dyn Model>, Option<String>)> {
        let settings = &self.config.model;
        if let Some(path) = settings.orchestrator.strip_prefix("script:") {
            let path = self.request.context.folder.join(path);
            let text = match tokio::fs::read_to_string(&path).await {
                Ok(text) => text,
                Err(error) => {
                    return usage(format!("the script {} cannot be read: {error}", path.display()));
                }
            };
            return match Script::parse(&path.display().to_string(), &text) {
                Ok(script) => Ok((Arc::new(script), Some(text))),
                Err(error) => usage(error.to_string()),
            };
        }
        if let Some(why) = lacks_price(&self.config) {
            return usage(why);
        }
        match decider(settings, &self.request.context.environment) {
            Ok(model) => Ok((Arc::new(model), None)),
            Err(error) => no_model(&error),
        }
    }

    /// Whether a model of the user's own can be asked: there is a key, or a service is named.
    pub fn has_model(&self) -> bool {
        let settings = &self.config.model;
        let named = self.request.globals.base_url.is_some();
        let can = decider(settings, &self.request.context.environment).is_ok();
        !settings.orchestrator.starts_with("script:") && (named || can)
    }
}

/// Makes a model behind a Messages service on this machine.
///
/// # Errors
/// `Unreachable`, as [`Remote::new`].
pub fn behind(base_url: &str) -> Result<Remote, ModelError> {
    let setup = Setup {
        wire: Some(Wire::Anthropic),
        base_url: base_url.to_owned(),
        model: "practice-script".into(),
        sees: Some(false),
        key: None,
    };
    Remote::new(setup, Proxies::default())
}

fn no_model<T>(error: &ModelError) -> Told<T> {
    let ModelError::NoKey { variable } = error else {
        return trouble("model", error.to_string());
    };
    let hint = format!("set {variable}, or play a script with --model script:FILE");
    let failure = Failure::new("model", "no key for the model").hint(hint);
    Err(Box::new(Answer::failed(4, failure)))
}

/// Makes the model that decides.
///
/// # Errors
/// `NoKey` or `Unreachable`, as [`Remote::new`].
pub fn decider(settings: &ModelSettings, environment: &Environment) -> Result<Remote, ModelError> {
    remote(settings, &settings.orchestrator, environment)
}

/// Makes the smaller model that answers questions about a page.
///
/// # Errors
/// `NoKey` or `Unreachable`, as [`Remote::new`].
pub fn page_reader(
    settings: &ModelSettings,
    environment: &Environment,
) -> Result<Remote, ModelError> {
    remote(settings, &settings.page_reader, environment)
}

fn remote(
    settings: &ModelSettings,
    model: &str,
    environment: &Environment,
) -> Result<Remote, ModelError> {
    let wire = match settings.wire {
        WireSetting::Auto => Wire::of(&settings.base_url, model),
        WireSetting::Anthropic => Wire::Anthropic,
        WireSetting::OpenAi => Wire::OpenAi,
    };
    let setup = Setup {
        wire: Some(wire),
        base_url: settings.base_url.clone(),
        model: model.to_owned(),
        sees: settings.sees.0,
        key: environment.get(wire.key_variable()).map(Key::new),
    };
    let of = |names: [&str; 2]| names.iter().find_map(|name| environment.get(name));
    let proxies = Proxies {
        all: of(["HTTPS_PROXY", "https_proxy"]).or(of(["ALL_PROXY", "all_proxy"])),
        none: of(["NO_PROXY", "no_proxy"]),
    };
    let patience = Patience { stall: settings.stall.0, whole: settings.patience.0 };
    Ok(Remote::new(setup, proxies)?.with_patience(patience))
}

/// Says what to put into the settings where a limit of cost cannot be kept.
fn lacks_price(config: &Config) -> Option<String> {
    let model = &config.model.orchestrator;
    let free = config.limits.cost <= 0.0 || config.price_of(model).is_some();
    (!free).then(|| {
        format!(
            "a limit of cost needs the price of {model}; put it into config.toml of the home folder, \
             in US dollars a million tokens: [price.\"{model}\"] input = …, output = …"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(key: &str) -> Environment {
        [(key, "sk-test")].into_iter().collect()
    }

    #[test]
    fn both_models_are_made_by_the_settings() {
        let mut settings = Config::default().model;
        let anthropic = environment("ANTHROPIC_API_KEY");
        assert_eq!(decider(&settings, &anthropic).unwrap().name(), "claude-sonnet-5");
        assert_eq!(page_reader(&settings, &anthropic).unwrap().name(), "claude-haiku-4-5");
        assert!(page_reader(&settings, &anthropic).unwrap().sees());
        settings.page_reader = "gpt-5-mini".into();
        let error = page_reader(&settings, &anthropic).unwrap_err();
        assert_eq!(error, ModelError::NoKey { variable: "OPENAI_API_KEY" });
        assert!(page_reader(&settings, &environment("OPENAI_API_KEY")).is_ok());
        settings.wire = WireSetting::Anthropic;
        settings.sees.0 = Some(false);
        assert!(!page_reader(&settings, &anthropic).unwrap().sees());
        settings.base_url = "http://localhost:1/v1".into();
        assert!(page_reader(&settings, &Environment::default()).is_ok(), "it needs no key");
    }

    #[test]
    fn a_limit_of_cost_needs_a_price() {
        let mut config = Config::default();
        config.model.orchestrator = "my-model".into();
        assert_eq!(lacks_price(&config), None);
        config.limits.cost = 0.5;
        let why = lacks_price(&config).unwrap();
        assert!(why.contains("[price.\"my-model\"]"), "{why}");
        config.model.orchestrator = "claude-sonnet-5".into();
        assert_eq!(lacks_price(&config), None);
    }
}
