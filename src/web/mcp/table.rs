//! All tools. Entry functions: [`all`], [`find`], [`listed`], [`named`], [`check`], [`as_listed`].

use std::{collections::BTreeMap, sync::LazyLock};

use rmcp::model::Tool;
use serde_json::Value;

use super::{
    incoming::ToolError,
    served::ServedTool,
    tools::{called, dice, health, memory, npcs, schedules, sessions, status, voice, workflows},
};
use crate::{domain::AccessRole, tools::Schema, web::McpOptions, yaml::nearest};

static TOOLS: [&ServedTool; 17] = [
    &voice::SPEAK,
    &voice::LISTEN,
    &health::HEALTH,
    &status::STATUS,
    &workflows::RUN,
    &workflows::LIST,
    &schedules::CREATE,
    &schedules::LIST,
    &schedules::CANCEL,
    &npcs::LIST,
    &npcs::ASK,
    &memory::SEARCH,
    &memory::ENTITY,
    &sessions::RECAP,
    &sessions::TRANSCRIPT,
    &dice::ROLL,
    &called::CALL,
];

/// Longest arguments of a call, in bytes of JSON.
const ARGUMENTS_MAX: usize = 64 * 1024;

/// Compiled input schemas, by tool; a test shows that all compile.
static INPUTS: LazyLock<BTreeMap<&'static str, Schema>> = LazyLock::new(|| {
    all().filter_map(|tool| Some((tool.name, Schema::new(&(tool.input)()).ok()?))).collect()
});

/// Descriptions for clients, by tool. `rmcp` asks for one at each call.
static DESCRIBED: LazyLock<BTreeMap<&'static str, Tool>> =
    LazyLock::new(|| all().map(|tool| (tool.name, tool.described())).collect());

/// In the order in which they are listed.
pub fn all() -> impl Iterator<Item = &'static ServedTool> {
    TOOLS.iter().copied()
}

/// Names of the tools for tokens of `role`, where listening is on.
pub fn names_for(role: AccessRole) -> Vec<&'static str> {
    all().filter(|tool| tool.rights.are_of(role, true)).map(|tool| tool.name).collect()
}

/// The tool of this name, with dots or underscores.
pub fn find(name: &str) -> Option<&'static ServedTool> {
    all().find(|tool| tool.is_called(name))
}

/// The description of `tool` for clients; `None` for a tool outside this table.
pub fn listed(tool: &ServedTool, options: &McpOptions) -> Option<Tool> {
    let mut listed = DESCRIBED.get(tool.name)?.clone();
    listed.name = tool.listed_name(options);
    Some(listed)
}

/// `text` with our tools called as clients know them.
pub fn as_listed(text: &str, options: &McpOptions) -> String {
    if !options.underscores {
        return text.to_owned();
    }
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_');
    let mut told = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c: char| !is_of_name(c)) {
        let word = piece.trim_end_matches(|c: char| !is_of_name(c)).trim_end_matches('.');
        match all().find(|tool| tool.name == word) {
            Some(tool) => {
                told.push_str(&tool.listed_name(options));
                told.push_str(piece.strip_prefix(word).unwrap_or_default());
            }
            None => told.push_str(piece),
        }
    }
    told
}

/// The name, with dots, of the tool that `name` means; fails with the nearest one.
pub fn named(name: &str) -> Result<&'static str, String> {
    if let Some(tool) = find(name) {
        return Ok(tool.name);
    }
    let names = || all().map(|tool| tool.name);
    let way_out = nearest(&name.replace('_', "."), names()).map_or_else(
        || format!("known tools: {}", names().collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean '{near}'?"),
    );
    Err(format!("unknown tool ({way_out})"))
}

/// `given`, checked against the tool's input schema.
pub async fn check(tool: &ServedTool, given: Value) -> Result<Value, ToolError> {
    let name = tool.name;
    let Some(schema) = INPUTS.get(name) else {
        return Err(format!("'{name}' has no usable schema (a fault of glyphoxa)").into());
    };
    // The check of longer ones may take too long to say what is wrong.
    if given.to_string().len() > ARGUMENTS_MAX {
        let what = format!("the arguments of '{name}' are longer than 64 KiB (send less)");
        return Err(what.into());
    }
    let checked = schema.check(given).await;
    checked.map_err(|why| format!("the arguments of '{name}' do not fit: {why}").into())
}
