//! Settings of tools: approvals, the policy of NPCs, and single tools of any source.

use std::time::Duration;

use super::{keys, reading::Notes, whitelist};
use crate::{
    campaign::{ApprovalOptions, NotifyOptions},
    domain::{Policy, ToolChoice},
    provider::base_url,
    tools::{Declared, SideEffects},
    yaml::{Fields, Node, Problems},
};

/// Reads the settings under `tools`.
pub fn approvals(tools: Option<&Fields>, notes: &mut Notes) -> ApprovalOptions {
    let mut options = ApprovalOptions::default();
    let fields = tools.and_then(|tools| tools.map("approvals", &keys::app::APPROVALS));
    let Some(fields) = fields else { return options };
    if let Some(seconds) = fields.whole("expire_seconds") {
        options.expires = Duration::from_secs(seconds);
    }
    let notify = fields.map("notify", &keys::app::NOTIFY);
    options.notify = notify.and_then(|notify| self::notify(&notify, notes));
    options
}

fn notify(fields: &Fields, notes: &mut Notes) -> Option<NotifyOptions> {
    let url = fields.text("url")?.trim();
    let secret = fields.text("secret")?.to_owned();
    let (path, _) = url.split_once('?').unwrap_or((url, ""));
    match base_url(path) {
        Ok(address) => {
            if !address.private && !address.encrypted {
                let message = "notifications are sent unencrypted to another network";
                notes.warnings.add(fields.place("url"), message, "use https://");
            }
            Some(NotifyOptions { url: url.to_owned(), secret })
        }
        Err(way_out) => {
            let message = format!("'url' is {}", fields.shown("url"));
            notes.problems.add(fields.place("url"), message, way_out);
            None
        }
    }
}

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

/// Reads `fields`, whose keys are those of `keys::declared`; `floor` is the key of the lowest tier.
/// Warns if the declared duration needs a higher tier.
pub fn declared(fields: &Fields, floor: &str, warnings: &mut Problems) -> Declared {
    let duration = |key, unit: f64| {
        fields.number(key).and_then(|number| Duration::try_from_secs_f64(number * unit).ok())
    };
    let fillers = fields.texts("fillers");
    let declared = Declared {
        estimated: duration("estimated_duration_ms", 1e-3),
        max: duration("max_duration_ms", 1e-3),
        measured: duration("measured_duration_ms", 1e-3),
        measured_p99: duration("measured_p99_ms", 1e-3),
        idempotent: fields.flag("idempotent"),
        read_only: fields.flag("read_only"),
        destructive: fields.flag("destructive"),
        open_world: fields.flag("open_world"),
        effects: fields.text("effects").and_then(SideEffects::named),
        cacheable: duration("cacheable_seconds", 1.0),
        categories: fields.texts("category").iter().map(|it| it.trim().to_owned()).collect(),
        floor: fields.text(floor).and_then(|tier| tier.parse().ok()),
        follow_up: fields.text("late").map(|late| late == "follow_up"),
        urgent: fields.flag("urgent"),
        records: fields.flag("records"),
        approval: fields.text("approval").map(|approval| approval == "dm"),
        fillers: (!fillers.is_empty()).then_some(fillers),
        description: None,
        parameters: None,
        probe: fields.get("probe").map(Node::to_json).and_then(|it| it.as_object().cloned()),
    };
    if let Some((takes, needed)) = declared.floor_without_effect() {
        let message = format!(
            "'{floor}' is {}, but a call of {} ms needs {needed}",
            fields.shown(floor),
            takes.as_millis()
        );
        let way_out = format!("write {floor}: {needed}, or correct the duration");
        warnings.add(fields.place(floor), message, way_out);
    }
    declared
}
