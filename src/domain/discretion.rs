//! What a run may write down of a call: what is typed into a secret field stands nowhere. Pure.
use std::path::PathBuf;

use serde_json::Value;

use crate::domain::page::observation::Observation;
use crate::domain::tool::{Find, Index, Place, ToolCall};

/// Stands for what is not shown.
pub const SECRET: &str = "<secret>";

/// Names of secret fields, for one that the newest observation does not show.
const NAMES: &[&str] = &[
    "passwor",
    "passcode",
    "passphrase",
    "passwort",
    "kennwort",
    "mot de passe",
    "contraseña",
    "senha",
    "пароль",
    "비밀번호",
    "パスワード",
    "密码",
];

/// Returns what to write down of a call, and of the model's words that it came in.
pub fn discreet(raw: String, call: &ToolCall, seen: Option<&Observation>) -> (String, ToolCall) {
    let (text, kept) = match call {
        ToolCall::Input { place, text, press_enter } if is_secret(place, seen) => {
            let (place, press_enter) = (place.clone(), *press_enter);
            (text, ToolCall::Input { place, text: SECRET.into(), press_enter })
        }
        ToolCall::Find(find @ Find { text: Some(text), .. }) if is_secret_find(find, seen) => {
            (text, ToolCall::Find(Find { text: Some(SECRET.into()), ..find.clone() }))
        }
        _ => return (raw, call.clone()),
    };
    let raw = match serde_json::from_str(&raw) {
        Ok(mut value) => {
            hide(&mut value, text);
            value.to_string()
        }
        Err(_) => serde_json::to_string(&kept).unwrap_or_default(),
    };
    (raw, kept)
}

/// Whether a call was written down without its secret, so that it cannot be done from there.
pub fn is_hidden(call: &ToolCall) -> bool {
    match call {
        ToolCall::Input { text, .. } => text == SECRET,
        ToolCall::Find(find) => find.text.as_deref() == Some(SECRET),
        _ => false,
    }
}

/// A field that is described in words is secret if the words say so, or if it is what the words may
/// mean.
fn is_secret_find(find: &Find, seen: Option<&Observation>) -> bool {
    let words = find.description.to_lowercase();
    let place = Place { index: find.index.clone(), ..Place::default() };
    let shown = seen.iter().flat_map(|seen| &seen.elements).filter(|shown| shown.secret);
    is_secret(&place, seen)
        || NAMES.iter().any(|word| words.contains(word))
        || shown.into_iter().any(|shown| {
            let name = shown.name.to_lowercase();
            !name.is_empty() && (words.contains(&name) || name.contains(words.trim()))
        })
}

/// Why a name is no file of the run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no file of this run; use a plain name such as notes.md or data/prices.csv")]
pub struct BadPath(String);

/// Returns where a file of the agent's own lies, below the run's folder for them and nowhere else.
///
/// # Errors
/// For an absolute path, one that climbs, hides, or has odd characters.
pub fn safe_path(path: &str) -> Result<PathBuf, BadPath> {
    let parts: Vec<&str> = path.trim().split('/').collect();
    let odd =
        |c: char| c.is_control() || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    let good = |part: &&str| {
        !part.is_empty() && part.len() <= 100 && !part.starts_with('.') && !part.contains(odd)
    };
    if parts.len() <= 5 && parts.iter().all(good) {
        Ok(parts.iter().collect())
    } else {
        Err(BadPath(path.to_owned()))
    }
}

fn is_secret(place: &Place, seen: Option<&Observation>) -> bool {
    let mut shown = seen.iter().flat_map(|seen| &seen.elements);
    match &place.index {
        None => false,
        Some(Index::Number(id)) => shown.any(|shown| shown.secret && shown.id == *id),
        Some(Index::Named { role, name }) => {
            let name = name.to_lowercase();
            shown.any(|shown| {
                shown.secret && shown.role == *role && shown.name.to_lowercase() == name
            }) || NAMES.iter().any(|word| name.contains(word))
        }
    }
}

fn hide(value: &mut Value, secret: &str) {
    match value {
        Value::String(text) if text == secret => *text = SECRET.into(),
        // The model may repeat it in its words; a letter or two would be found everywhere.
        Value::String(text) if secret.len() >= 4 => *text = text.replace(secret, SECRET),
        Value::Array(list) => list.iter_mut().for_each(|value| hide(value, secret)),
        Value::Object(fields) => fields.values_mut().for_each(|value| hide(value, secret)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ElementId;
    use crate::domain::page::observation::Shown;
    use crate::domain::page::tree::DocumentId;

    fn page() -> Observation {
        let field = |id, name: &str, secret| Shown {
            id: ElementId(id),
            role: "textbox".into(),
            name: name.into(),
            secret,
            bounds: None,
            line: String::new(),
        };
        let elements = vec![field(3, "PIN", true), field(4, "Name", false)];
        let (document, empty) = (DocumentId("d".into()), String::new);
        let (url, title, text, links) = (empty(), empty(), empty(), vec![]);
        Observation { document, url, title, text, markdown: 0..0, elements, links }
    }

    fn kept(index: Value) -> (String, ToolCall) {
        let args = serde_json::json!({ "index": index, "text": "hunter2", "press_enter": false });
        let raw = serde_json::json!({ "tool": "browser_input", "args": args, "say": "hunter2!" });
        let call = ToolCall::parse("browser_input", &args).unwrap();
        discreet(raw.to_string(), &call, Some(&page()))
    }

    #[test]
    fn what_goes_into_a_secret_field_is_not_written_down() {
        let named = |name| serde_json::json!({ "role": "textbox", "name": name });
        for index in [3.into(), named("pin"), named("Your password")] {
            let (raw, call) = kept(index);
            assert!(!raw.contains("hunter2") && raw.contains("<secret>!"), "{raw}");
            assert!(is_hidden(&call), "{call:?}");
        }
        for index in [4.into(), named("Name"), 9.into()] {
            let (raw, call) = kept(index);
            assert!(raw.contains("hunter2") && !is_hidden(&call), "{raw}");
        }
    }

    #[test]
    fn what_is_found_by_words_and_secret_is_not_written_down_either() {
        for (description, hidden) in
            [("the password field", true), ("PIN", true), ("my pin field", true), ("Name", false)]
        {
            let args = serde_json::json!({ "description": description, "action": "input", "text": "hunter2" });
            let call = ToolCall::parse("browser_find", &args).unwrap();
            let raw = serde_json::json!({ "tool": "browser_find", "args": args }).to_string();
            let (raw, kept) = discreet(raw, &call, Some(&page()));
            assert_eq!(
                (raw.contains("hunter2"), is_hidden(&kept)),
                (!hidden, hidden),
                "{description}"
            );
        }
    }

    #[test]
    fn files_stay_below_the_runs_folder() {
        for good in ["notes.md", "data/prices.csv", "a b.txt", "größe.md"] {
            assert_eq!(safe_path(good).unwrap(), PathBuf::from(good));
        }
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            ".ssh",
            "a//b",
            "a\\b",
            "C:x",
            "a\0b",
            "1/2/3/4/5/6",
        ] {
            assert!(safe_path(bad).is_err(), "{bad}");
        }
    }
}
