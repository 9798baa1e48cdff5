//! The part of a caller's environment that a command may use. Only this folder reads the process's.
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Keys to models' services.
pub const MODEL_KEYS: [&str; 2] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"];

/// What goes over the socket besides `STRAWMANUS_…` and the models' keys: where programs are looked for,
/// proxies, and where a window can be shown.
const TAKEN: &[&str] = &[
    "PATH",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
];

/// How our own keys begin.
pub const PREFIX: &str = "STRAWMANUS_";

/// Keys and values of one caller. Its `Debug` shows the keys alone, for the values hold secrets.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Environment {
    values: BTreeMap<String, String>,
    /// Which values came from a `.env`; only told to the caller, so it stays here.
    #[serde(skip)]
    from_file: BTreeMap<String, PathBuf>,
}

impl Environment {
    /// Reads the process's environment; values that are no Unicode are left out.
    pub fn of_process() -> Self {
        #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
        let all = std::env::vars_os();
        let text = all
            .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
        text.filter(|(key, _)| is_taken(key)).collect()
    }

    /// Adds what the `.env` of `folder` has of the models' keys and `STRAWMANUS_…`, where the
    /// environment itself says nothing.
    pub fn with_file_of(mut self, folder: &Path) -> Self {
        let file = folder.join(".env");
        if let Ok(text) = fs::read_to_string(&file) {
            self.add_file(&file, &text);
        }
        self
    }

    fn add_file(&mut self, file: &Path, text: &str) {
        let ours = |key: &str| MODEL_KEYS.contains(&key) || key.starts_with(PREFIX);
        for (key, value) in text.lines().filter_map(pair).filter(|(key, _)| ours(key)) {
            if !self.values.contains_key(&key) {
                self.from_file.insert(key.clone(), file.to_owned());
                self.values.insert(key, value);
            }
        }
    }

    /// Returns a value; an empty one counts as none.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Returns the `.env` that a value came from, if it came from one.
    pub fn file_of(&self, key: &str) -> Option<&Path> {
        self.from_file.get(key).map(PathBuf::as_path)
    }

    /// Returns the folders in which programs are looked for.
    pub fn search_path(&self) -> Vec<PathBuf> {
        self.get("PATH").map(|path| std::env::split_paths(path).collect()).unwrap_or_default()
    }

    /// Returns what a program needs to show a window.
    pub fn screen(&self) -> Vec<(String, String)> {
        let keys = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];
        let set = |key: &str| Some((key.to_owned(), self.get(key)?.to_owned()));
        keys.iter().filter_map(|key| set(key)).collect()
    }

    /// Whether a window could be shown.
    pub fn has_display(&self) -> bool {
        cfg!(target_os = "macos")
            || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|key| self.get(key).is_some())
    }
}

/// Whether a key of the process's environment may go over the socket.
pub fn is_taken(key: &str) -> bool {
    key.starts_with(PREFIX) || MODEL_KEYS.contains(&key) || TAKEN.contains(&key)
}

/// Reads one line of a `.env`: `KEY=value`, also with `export` and with quotes. Nothing is expanded.
fn pair(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    if key.starts_with('#') || key.is_empty() {
        return None;
    }
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            let inside = rest.split_once(quote).map_or(rest, |(inside, _)| inside);
            return Some((key.to_owned(), inside.to_owned()));
        }
    }
    let bare = value.split_once(" #").map_or(value, |(bare, _)| bare.trim_end());
    Some((key.to_owned(), bare.to_owned()))
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let values = pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Self { values, from_file: BTreeMap::new() }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_fills_what_the_environment_leaves_open_and_brings_nothing_foreign() {
        let mut environment: Environment = [("STRAWMANUS_TAB__QUEUE", "3")].into_iter().collect();
        let text = "# comment\nexport ANTHROPIC_API_KEY='a b#c' # mine\nSTRAWMANUS_TAB__QUEUE=9\n\
            STRAWMANUS_LIMITS__ACTION = 5s # short\nHTTP_PROXY=http://x\nPATH=/evil\nrubbish\n=\n\
            STRAWMANUS_MODEL__PAGE_READER=\"x\"";
        environment.add_file(Path::new("/p/.env"), text);
        let found: Vec<_> = environment.iter().collect();
        let wanted = [
            ("ANTHROPIC_API_KEY", "a b#c"),
            ("STRAWMANUS_LIMITS__ACTION", "5s"),
            ("STRAWMANUS_MODEL__PAGE_READER", "x"),
            ("STRAWMANUS_TAB__QUEUE", "3"),
        ];
        assert_eq!(found, wanted);
        assert!(environment.file_of("ANTHROPIC_API_KEY").is_some());
        assert!(environment.file_of("STRAWMANUS_TAB__QUEUE").is_none());
    }

    #[test]
    fn debug_shows_no_value() {
        let environment: Environment = [("ANTHROPIC_API_KEY", "sk-secret")].into_iter().collect();
        assert_eq!(format!("{environment:?}"), "{\"ANTHROPIC_API_KEY\"}");
    }
}
