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
