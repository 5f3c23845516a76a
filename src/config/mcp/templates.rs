//! Placeholders in servers' headers and resource variables. Entry function: [`check`].

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::{
    tools::connection::{Facts, ServerOptions},
    yaml::{Entry, Fields, Node, Problems, nearest, quoted},
};

/// Reports placeholders that no data provides. `fields` are those of `servers`, in order.
pub fn check(
    fields: &[Fields],
    servers: &[ServerOptions],
    global_data: &BTreeMap<String, Json>,
    problems: &mut Problems,
) {
    for (index, fields) in fields.iter().enumerate() {
        let mut others = servers.iter().enumerate().filter(|(other, _)| *other != index);
        let has_server = others.any(|(_, other)| other.resources);
        let is_given = |path: &str| {
            let first = path.split('.').next().unwrap_or_default();
            has_server || [path, first].iter().any(|key| global_data.contains_key(*key))
        };
        for key in ["headers", "resource_vars"] {
            for entry in fields.get(key).map(Node::entries).unwrap_or_default() {
                check_one(key, entry, &is_given, problems);
            }
        }
    }
}

/// Reports problems of `entry` under `key`; `is_given` says if data has a value at a path.
fn check_one(key: &str, entry: &Entry, is_given: &dyn Fn(&str) -> bool, problems: &mut Problems) {
    let Some(value) = entry.node.text() else { return };
    let what = match key {
        "headers" => format!("the header '{}'", entry.key.to_ascii_lowercase()),
        _ => quoted(&format!("{key}.{}", entry.key)),
    };
    if let Some(unknown) = Facts::unknown(value) {
        let near = nearest(&unknown, Facts::FIXED.iter().copied());
        let way_out = near.map_or_else(
            || format!("use {} or data.KEY", Facts::FIXED.join(", ")),
            |near| format!("did you mean '{near}'?"),
        );
        problems.add(entry.node.at, format!("{what} names '{unknown}'"), way_out);
    } else if let Some(data) = Facts::names(value)
        .find(|name| name.strip_prefix("data.").is_some_and(|path| !is_given(path)))
    {
        let message = format!("{what} names '{data}', which no other server provides");
        let way_out =
            "set resources: true at the server that provides it, or write it under global_data";
        problems.add(entry.node.at, message, way_out);
    }
}
