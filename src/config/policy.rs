//! Limits on tool use.

use super::{keys, reading::Notes, whitelist};
use crate::{
    domain::{Policy, ToolChoice},
    yaml::{Fields, Node, Problems},
};

/// The policy in `node`, over `default`.
pub fn policy(node: &Node, default: &Policy, tools: &[&str], notes: &mut Notes) -> Policy {
    let fields = Fields::new(node, &keys::npc::POLICY);
    let identities = |key, default: &[String], notes: &mut Notes| {
        if fields.get(key).is_none() {
            return default.to_vec();
        }
        whitelist::resolve_all(fields.items(key), tools, notes)
    };
    let count = |key, default| fields.whole(key).unwrap_or(default);
    Policy {
        tool_choice: tool_choice(&fields, tools, &mut notes.problems)
            .unwrap_or_else(|| default.tool_choice.clone()),
        max_rounds: count("max_rounds", default.max_rounds),
        max_calls_per_turn: count("max_calls_per_turn", default.max_calls_per_turn),
        max_parallel: count("max_parallel", default.max_parallel),
        max_calls_per_session: count("max_calls_per_session", default.max_calls_per_session),
        max_calls_per_minute: count("max_calls_per_minute", default.max_calls_per_minute),
        max_identical: count("max_identical", default.max_identical),
        blocklist: identities("blocklist", &default.blocklist, notes),
        stop_on_tool: identities("stop_on_tool", &default.stop_on_tool, notes),
        max_cost: fields.number("max_cost").or(default.max_cost),
    }
}

/// `None`: absent or unknown.
fn tool_choice(fields: &Fields, tools: &[&str], problems: &mut Problems) -> Option<ToolChoice> {
    let named = |name, problems: &mut Problems| match whitelist::resolve(name, tools) {
        Ok(identity) => Some(ToolChoice::Named(identity)),
        Err((message, way_out)) => {
            let way_out = format!("use auto, required, none or a tool; {way_out}");
            problems.add(fields.place("tool_choice"), message, way_out);
            None
        }
    };
    match fields.text("tool_choice")? {
        "auto" => Some(ToolChoice::Auto),
        "required" => Some(ToolChoice::Required),
        "none" => Some(ToolChoice::None),
        name => named(name, problems),
    }
}
