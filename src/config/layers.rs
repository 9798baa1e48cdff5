//! Settings by dotted key, laid over one another, each with where it comes from.
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::config::environment::{Environment, MODEL_KEYS, PREFIX};

/// Keys of the environment that are no settings: where the home folder is, and what is logged.
const NO_SETTINGS: &[&str] = &["STRAWMANUS_HOME", "STRAWMANUS_LOG"];
/// What the `.env` of some folder must not decide: which program is started, and with what.
const NOT_FROM_A_FOLDER: &[&str] = &["browser.executable", "browser.arguments"];

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// `config.toml` of the home folder.
    File(PathBuf),
    /// A key of the environment.
    Environment(String),
    /// A key of a `.env`.
    DotEnv(String, PathBuf),
    /// A flag, such as `--max-steps`.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(key) => write!(f, "environment {key}"),
            Self::DotEnv(key, path) => write!(f, "{key} in {}", path.display()),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// Why the settings cannot be used. Each names the place and the next thing to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("unknown setting `{key}` ({origin}); {}", nearest(.near))]
    UnknownKey { key: String, origin: Origin, near: Option<String> },
    #[error("the setting `{key}` ({origin}) cannot be used: {why}")]
    BadValue { key: String, origin: Origin, why: String },
    #[error("{path} is no valid TOML: {why}")]
    BadFile { path: String, why: String },
    #[error("{path} cannot be read: {why}")]
    Unreadable { path: String, why: String },
    #[error("`{key}` may not come from {path}; set it in config.toml of the home folder instead")]
    NotFromAFolder { key: String, path: String },
}

fn nearest(near: &Option<String>) -> String {
    near.as_ref().map_or_else(
        || "see `strawmanus config show`".to_owned(),
        |near| format!("did you mean `{near}`?"),
    )
}

/// One setting as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub value: Value,
    pub origin: Origin,
}

/// All settings, by dotted key.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers(BTreeMap<String, Setting>);

impl Layers {
    /// Starts with a table that has every key.
    pub fn new(defaults: &Table) -> Self {
        let mut flat = Vec::new();
        flatten("", defaults, &mut flat);
        let settings =
            flat.into_iter().map(|(key, value)| (key, Setting { value, origin: Origin::Default }));
        Self(settings.collect())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.0.iter().map(|(key, setting)| (key.as_str(), setting))
    }

    /// Lays the text of a `config.toml` on top.
    pub fn add_file(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let bad = |error: toml::de::Error| ConfigError::BadFile {
            path: path.display().to_string(),
            why: error.to_string().trim().to_owned(),
        };
        let mut flat = Vec::new();
        flatten("", &text.parse::<Table>().map_err(bad)?, &mut flat);
        flat.into_iter()
            .try_for_each(|(key, value)| self.set(key, value, Origin::File(path.to_owned())))
    }

    /// Lays a caller's environment on top: `STRAWMANUS_LIMITS__ACTION` is `limits.action`.
    pub fn add_environment(&mut self, environment: &Environment) -> Result<(), ConfigError> {
        let ours = environment.iter().filter(|(name, value)| {
            name.starts_with(PREFIX) && !NO_SETTINGS.contains(name) && !value.is_empty()
        });
        for (name, text) in ours {
            let key = name[PREFIX.len()..].to_ascii_lowercase().replace("__", ".");
            let origin = match environment.file_of(name) {
                Some(file) => {
                    refuse_from_folder(&key, file, environment)?;
                    Origin::DotEnv(name.to_owned(), file.to_owned())
                }
                None => Origin::Environment(name.to_owned()),
            };
            self.set_text(key, text, origin)?;
        }
        Ok(())
    }

    /// Lays one value, written as text, on top; the default's type says how it is read.
    pub fn set_text(&mut self, key: String, text: &str, origin: Origin) -> Result<(), ConfigError> {
        let known = self.0.get(&key).map(|setting| &setting.value);
        let free = Value::Float(0.0);
        let value = match known.or_else(|| Self::is_price(&key).then_some(&free)) {
            Some(Value::Integer(_)) => match text.trim().parse() {
                Ok(number) => Value::Integer(number),
                Err(_) => {
                    let why = format!("`{text}` is no whole number");
                    return Err(ConfigError::BadValue { key, origin, why });
                }
            },
            Some(Value::Float(_)) => match text.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => Value::Float(number),
                Ok(_) | Err(_) => {
                    let why = format!("`{text}` is no number");
                    return Err(ConfigError::BadValue { key, origin, why });
                }
            },
            Some(Value::Array(_)) => Value::Array(
                text.split_whitespace().map(|word| Value::String(word.to_owned())).collect(),
            ),
            _ => Value::String(text.to_owned()),
        };
        self.set(key, value, origin)
    }

    fn set(&mut self, key: String, value: Value, origin: Origin) -> Result<(), ConfigError> {
        // `[limits]` with nothing below it sets nothing.
        if value == Value::Table(Table::new()) && self.has_table(&key) {
            return Ok(());
        }
        if !self.0.contains_key(&key) && !Self::is_price(&key) {
            return Err(ConfigError::UnknownKey { near: self.nearest(&key), key, origin });
        }
        self.0.insert(key, Setting { value, origin });
        Ok(())
    }

    fn has_table(&self, key: &str) -> bool {
        self.0.keys().any(|known| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
    }

    /// Returns the known key that looks most like `key`: as a whole, or by its last part.
    fn nearest(&self, key: &str) -> Option<String> {
        let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
        let likeness = |known: &str| {
            let whole = strsim::jaro_winkler(known, key);
            let part = if last(known) == last(key) { 0.95 } else { 0.0 };
            whole.max(part)
        };
        let scored = self.0.keys().map(|known| (likeness(known), known));
        let best = scored.max_by(|left, right| left.0.total_cmp(&right.0))?;
        (best.0 > 0.8).then(|| best.1.clone())
    }

    /// Whether `key` is of a price: those of any model may be set.
    fn is_price(key: &str) -> bool {
        price(key).is_some_and(|(_, field)| PRICE_FIELDS.contains(&field))
    }

    /// Returns the settings as one nested table.
    pub fn table(&self) -> Table {
        let mut table = Table::new();
        for (key, setting) in &self.0 {
            put(&mut table, key, setting.value.clone());
        }
        table
    }

    /// Returns the defaults with only `key` set, so that an error there can be told from others.
    pub fn alone(&self, defaults: &Table, key: &str) -> Table {
        let mut table = defaults.clone();
        // A price is whole or none.
        let together = |other: &str| match (price(key), price(other)) {
            (Some((model, _)), Some((of, _))) => model == of,
            _ => other == key,
        };
        for (other, setting) in self.0.iter().filter(|(other, _)| together(other)) {
            put(&mut table, other, setting.value.clone());
        }
        table
    }
}

/// What a price says.
const PRICE_FIELDS: [&str; 4] = ["input", "output", "cached", "written"];

/// Reads a key of a price: the model, whose name may have dots, and the field.
fn price(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix("price.")?.rsplit_once('.').filter(|(model, _)| !model.is_empty())
}

/// A folder's `.env` may come with a download. It must not start programs, nor send a key that is
/// not its own to a server of its choice.
fn refuse_from_folder(
    key: &str,
    file: &Path,
    environment: &Environment,
) -> Result<(), ConfigError> {
    let mut keys = MODEL_KEYS.iter().filter(|name| environment.get(name).is_some()).peekable();
    let brings_key = keys.peek().is_some() && keys.all(|name| environment.file_of(name).is_some());
    if NOT_FROM_A_FOLDER.contains(&key) || (key == "model.base_url" && !brings_key) {
        return Err(ConfigError::NotFromAFolder {
            key: key.to_owned(),
            path: file.display().to_string(),
        });
    }
    Ok(())
}

fn flatten(prefix: &str, table: &Table, into: &mut Vec<(String, Value)>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) if !inner.is_empty() => flatten(&key, inner, into),
            value => into.push((key, value.clone())),
        }
    }
}

fn put(table: &mut Table, key: &str, value: Value) {
    if let Some((model, field)) = price(key) {
        let prices = table.entry("price").or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(prices) = prices else { return };
        let of = prices.entry(model).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(of) = of {
            of.insert(field.to_owned(), value);
        }
        return;
    }
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}
