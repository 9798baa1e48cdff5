//! What a run may write down of a call: what is typed into a secret field stands nowhere. Pure.
use serde_json::Value;

use crate::domain::page::observation::Observation;
use crate::domain::tool::{Index, Place, ToolCall};

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
    let ToolCall::Input { place, text, press_enter } = call else {
        return (raw, call.clone());
    };
    if !is_secret(place, seen) {
        return (raw, call.clone());
    }
    let (place, press_enter) = (place.clone(), *press_enter);
    let kept = ToolCall::Input { place, text: SECRET.into(), press_enter };
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
    matches!(call, ToolCall::Input { text, .. } if text == SECRET)
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
}
