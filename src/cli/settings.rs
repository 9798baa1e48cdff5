//! `config show`: every setting, its value, and where it comes from.
use serde_json::{Map, Value, json};

use crate::config::Settings;
use crate::config::layers::{Origin, Setting};
use crate::control::answer::Answer;
use crate::control::verbs::{ConfigVerb, Verb};

pub fn show(settings: &Settings, verb: &Verb) -> Answer {
    let with_origin = matches!(verb, Verb::Config { action: ConfigVerb::Show { origin: true } });
    let rows: Vec<(&str, String, &Setting)> = settings
        .layers
        .iter()
        .map(|(key, setting)| (key, shown(&setting.value), setting))
        .collect();
    let width = rows.iter().map(|(key, value, _)| key.len() + value.len() + 3).max().unwrap_or(0);
    let line = |(key, value, setting): &(&str, String, &Setting)| {
        let pair = format!("{key} = {value}");
        if with_origin { format!("{pair:width$}  # {}", setting.origin) } else { pair }
    };
    let text = rows.iter().map(line).collect::<Vec<_>>().join("\n");
    Answer::told(text, json!({ "settings": data(settings, with_origin) }))
}

fn data(settings: &Settings, with_origin: bool) -> Map<String, Value> {
    let row = |(key, setting): (&str, &Setting)| {
        let value = serde_json::to_value(&setting.value).unwrap_or_default();
        let value = match (value, &setting.value) {
            (Value::String(_), toml) => json!(without_password(toml.as_str().unwrap_or_default())),
            (value, _) => value,
        };
        let row = if with_origin {
            json!({ "value": value, "origin": origin_word(&setting.origin), "from": setting.origin.to_string() })
        } else {
            value
        };
        (key.to_owned(), row)
    };
    settings.layers.iter().map(row).collect()
}

fn origin_word(origin: &Origin) -> &'static str {
    match origin {
        Origin::Default => "default",
        Origin::File(_) => "file",
        Origin::Environment(_) => "environment",
        Origin::DotEnv(..) => ".env",
        Origin::Flag(_) => "flag",
    }
}

fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => toml::Value::String(without_password(text)).to_string(),
        other => other.to_string(),
    }
}

/// Keys are no settings, but an address can hold a password.
fn without_password(text: &str) -> String {
    match url::Url::parse(text) {
        Ok(mut url) if url.password().is_some() => {
            let _ = url.set_password(Some("***"));
            url.to_string()
        }
        _ => text.to_owned(),
    }
}
