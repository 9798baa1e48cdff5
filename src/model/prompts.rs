//! What every model is told, and the tools it has. The texts lie in `prompts/`.
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

/// The rules of the work.
pub const SYSTEM: &str = include_str!("prompts/system.md");
const TOOLS: &str = include_str!("prompts/tools.json");

/// One tool, as models are told of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// A JSON schema of its arguments.
    pub input_schema: Value,
}

static TABLE: LazyLock<Vec<Tool>> =
    LazyLock::new(|| serde_json::from_str(TOOLS).expect("tools.json is a table, by a test"));

/// Returns every tool, in the order of the table: those of the browser first.
pub fn tools() -> &'static [Tool] {
    &TABLE
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::domain::tool::{BadCall, ToolCall};

    /// A value that fits an argument.
    fn fitting(name: &str, schema: &Value) -> Value {
        if let Some(words) = schema["enum"].as_array() {
            return words[0].clone();
        }
        match (schema["type"].as_str().unwrap(), name) {
            ("integer" | "number", _) => json!(1),
            ("boolean", _) => json!(true),
            ("object", _) => json!({}),
            ("string", "url") => json!("http://a.test/"),
            ("string", "key") => json!("Enter"),
            ("string", "tab") => json!("t2"),
            ("string", _) => json!("x"),
            (other, _) => panic!("{other} of {name}"),
        }
    }

    fn parts(tool: &Tool) -> (&Map<String, Value>, Vec<&str>) {
        let required = tool.input_schema["required"].as_array().unwrap();
        let required = required.iter().map(|name| name.as_str().unwrap()).collect();
        (tool.input_schema["properties"].as_object().unwrap(), required)
    }

    fn args(tool: &Tool, wanted: impl Fn(&str) -> bool) -> Value {
        let of = parts(tool).0.iter().filter(|(name, _)| wanted(name));
        Value::Object(of.map(|(name, schema)| (name.clone(), fitting(name, schema))).collect())
    }

    #[test]
    fn the_table_has_every_tool_in_order() {
        let names: Vec<_> = tools().iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ToolCall::NAMES);
        for tool in tools() {
            assert_eq!(tool.input_schema["type"], "object");
            let fields = tool.input_schema.as_object().unwrap().len();
            assert!(fields == 3 && !tool.description.is_empty(), "{}", tool.name);
        }
    }

    #[test]
    fn what_is_required_is_what_a_call_cannot_be_without() {
        for tool in tools() {
            let (properties, required) = parts(tool);
            for name in &required {
                assert!(properties.contains_key(*name), "{}: {name}", tool.name);
                let without = args(tool, |it| required.contains(&it) && it != *name);
                let error = ToolCall::parse(&tool.name, &without).unwrap_err();
                let missing = matches!(error, BadCall::Missing { field, .. } if field == *name)
                    || matches!(error, BadCall::NoPlace { .. });
                assert!(missing || error.to_string().contains(*name), "{}: {error}", tool.name);
            }
            let place = |it: &str| it == "index" && properties.contains_key("coordinate_x");
            let least = args(tool, |it| required.contains(&it) || place(it));
            ToolCall::parse(&tool.name, &least).unwrap();
        }
    }

    #[test]
    fn every_argument_is_known_and_of_its_type() {
        for tool in tools() {
            let (properties, required) = parts(tool);
            for (name, schema) in properties {
                let pair =
                    |it: &str| name.starts_with("coordinate") && it.starts_with("coordinate");
                let place = |it: &str| {
                    it == "index"
                        && properties.contains_key("coordinate_x")
                        && !name.starts_with("coordinate")
                };
                let wanted =
                    |it: &str| it == name || required.contains(&it) || pair(it) || place(it);
                let fine = args(tool, wanted);
                ToolCall::parse(&tool.name, &fine).unwrap_or_else(|it| panic!("{it}: {fine}"));
                let mut wrong = fine;
                wrong[name] = json!([[]]);
                let error = ToolCall::parse(&tool.name, &wrong).unwrap_err().to_string();
                assert!(error.contains(name.as_str()), "{error}");
                for word in schema["enum"].as_array().into_iter().flatten() {
                    // Those that need more than the rest say so, and are known.
                    wrong[name] = word.clone();
                    let read = ToolCall::parse(&tool.name, &wrong);
                    let more = matches!(read, Err(BadCall::Missing { .. }));
                    assert!(read.is_ok() || more, "{word}: {read:?}");
                }
            }
            let mut odd = args(tool, |it| required.contains(&it) || it == "index");
            odd["nobody_knows"] = json!(1);
            assert!(ToolCall::parse(&tool.name, &odd).is_err(), "{}", tool.name);
        }
    }

    #[test]
    fn the_table_is_small_in_every_turn() {
        // A token is about four bytes.
        let tokens = |tools: &[Tool]| {
            let size = |tool: &Tool| {
                tool.name.len() + tool.description.len() + tool.input_schema.to_string().len() + 50
            };
            tools.iter().map(size).sum::<usize>() / 4
        };
        assert!(tokens(tools()) <= 2_600, "{}", tokens(tools()));
        assert!(tokens(&tools()[..17]) <= 2_000, "{}", tokens(&tools()[..17]));
        assert!(SYSTEM.len() / 4 <= 1_000, "{}", SYSTEM.len() / 4);
    }
}
