//! Whose words are spoken with a service, and where it is.
use serde_json::Value;
use url::Url;

use crate::domain::cost::Usage;
use crate::model::failure::Failure;
use crate::model::repair::Said;
use crate::model::{anthropic, openai};
use crate::ports::model::{Conversation, ModelError};

/// A way to speak with a model over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic's Messages.
    Anthropic,
    /// Chat completions as OpenAI has them, and many servers after it.
    OpenAi,
}

/// What a request is made of.
pub(super) struct Asked<'a> {
    pub model: &'a str,
    pub conversation: &'a Conversation,
    /// Whether pictures are sent.
    pub sees: bool,
    /// Fields that this server does not take.
    pub without: &'a [&'static str],
}

impl Asked<'_> {
    pub fn takes(&self, field: &str) -> bool {
        !self.without.contains(&field)
    }
}

/// An answer that came whole: raw, and what is in it.
#[derive(Debug)]
pub(super) struct Heard {
    pub raw: Value,
    pub said: Said,
    pub stop: Stop,
    pub usage: Usage,
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    Done,
    Refused(String),
    /// The model's window was full.
    Full,
}

/// Puts an answer together.
pub(super) trait Gather: Send {
    /// Takes the data of one event; breaks when it was the last.
    fn take(&mut self, data: &str) -> Result<std::ops::ControlFlow<()>, Failure>;
    /// Takes the body of an answer that was not streamed.
    fn take_whole(&mut self, body: Value) -> Result<(), Failure>;
    /// Whether what came so far is a whole answer, should nothing more come.
    fn is_whole(&self) -> bool;
    /// What it cost so far, as far as the service said.
    fn usage(&self) -> Usage;
    fn heard(&self) -> Heard;
}

impl Wire {
    /// Guesses the wire of a model at `base_url`, which is empty for the service's own address.
    pub fn of(base_url: &str, model: &str) -> Self {
        let claude = bare(model).starts_with("claude");
        let Ok(url) = Url::parse(base_url.trim()) else {
            return if claude { Self::Anthropic } else { Self::OpenAi };
        };
        let path = url.path().trim_end_matches('/');
        let host = url.host_str().unwrap_or_default();
        let ours = host == "api.anthropic.com" || path.ends_with("/v1/messages");
        if ours || (claude && path.is_empty()) { Self::Anthropic } else { Self::OpenAi }
    }

    /// Where the service is, unless the user says another place.
    pub fn home(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }

    /// Where the key is looked for.
    pub fn key_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi => "OPENAI_API_KEY",
        }
    }

    /// Returns where requests go, for a base URL as people write it; empty: [`Wire::home`].
    ///
    /// # Errors
    /// `Unreachable` when it is no address of the web.
    pub fn endpoint(self, base_url: &str) -> Result<Url, ModelError> {
        let given = base_url.trim().trim_end_matches('/');
        let given = if given.is_empty() { self.home() } else { given };
        let bad = |why: &str| ModelError::Unreachable(format!("`{base_url}` is no address: {why}"));
        let mut url = Url::parse(given).map_err(|error| bad(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("it must begin with https:// or http://"));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&self.path(&path));
        Ok(url)
    }

    fn path(self, base: &str) -> String {
        match self {
            Self::Anthropic if base.ends_with("/messages") => base.to_owned(),
            Self::Anthropic => format!("{}/v1/messages", base.trim_end_matches("/v1")),
            Self::OpenAi if base.ends_with("/chat/completions") => base.to_owned(),
            Self::OpenAi if base.is_empty() => "/v1/chat/completions".to_owned(),
            Self::OpenAi => format!("{base}/chat/completions"),
        }
    }

    /// What a server may not know, and can be asked without.
    pub(super) fn spare_fields(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic => &["tool_choice", "cache_control", "stream"],
            Self::OpenAi => &openai::SPARE,
        }
    }

    pub(super) fn request(self, asked: &Asked<'_>) -> Value {
        match self {
            Self::Anthropic => anthropic::request(asked),
            Self::OpenAi => openai::request(asked),
        }
    }

    pub(super) fn gathering(self) -> Box<dyn Gather> {
        match self {
            Self::Anthropic => Box::<anthropic::gather::Gathering>::default(),
            Self::OpenAi => Box::<openai::gather::Gathering>::default(),
        }
    }
}

/// A model's name without the provider that some services put before it: `anthropic/claude-…`.
fn bare(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}

/// Guesses by its name whether pictures mean anything to a model.
pub fn sees(model: &str) -> bool {
    let name = bare(model).to_ascii_lowercase();
    ["claude", "gpt-4o", "gpt-4.1", "gpt-5"].iter().any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_is_guessed_by_address_and_name() {
        for (base, model, wire) in [
            ("", "claude-sonnet-5", Wire::Anthropic),
            ("", "gpt-5", Wire::OpenAi),
            ("https://api.anthropic.com", "gpt-5", Wire::Anthropic),
            ("http://127.0.0.1:1/v1/messages", "qwen3", Wire::Anthropic),
            ("http://127.0.0.1:1", "claude-test", Wire::Anthropic),
            ("http://127.0.0.1:1/v1", "claude-test", Wire::OpenAi),
            ("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-5", Wire::OpenAi),
            ("http://localhost:11434/v1", "qwen3", Wire::OpenAi),
        ] {
            assert_eq!(Wire::of(base, model), wire, "{base} {model}");
        }
    }

    #[test]
    fn the_address_is_made_of_the_base() {
        for (wire, base, url) in [
            (Wire::Anthropic, "", "https://api.anthropic.com/v1/messages"),
            (Wire::Anthropic, "https://p.example/x/v1/", "https://p.example/x/v1/messages"),
            (Wire::Anthropic, "http://[::1]:1/v1/messages", "http://[::1]:1/v1/messages"),
            (Wire::OpenAi, "", "https://api.openai.com/v1/chat/completions"),
            (Wire::OpenAi, "http://127.0.0.1:80", "http://127.0.0.1/v1/chat/completions"),
            (Wire::OpenAi, "http://a.localhost/v1/", "http://a.localhost/v1/chat/completions"),
            (
                Wire::OpenAi,
                "https://h.example/d/x/chat/completions?api-version=1",
                "https://h.example/d/x/chat/completions?api-version=1",
            ),
        ] {
            assert_eq!(wire.endpoint(base).unwrap().as_str(), url);
        }
        for base in ["ftp://x", "api"] {
            let endpoint = Wire::OpenAi.endpoint(base);
            assert!(matches!(endpoint, Err(ModelError::Unreachable(_))), "{base}");
        }
    }

    #[test]
    fn families_that_see_are_known() {
        for model in ["claude-haiku-4-5", "anthropic/Claude-x", "gpt-4o-mini", "gpt-5.1"] {
            assert!(sees(model), "{model}");
        }
        for model in ["gpt-4", "gpt-3.5-turbo", "qwen3", "llama-claude"] {
            assert!(!sees(model), "{model}");
        }
    }
}
