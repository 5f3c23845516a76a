//! Servers as written in `glyphoxa.yaml`. Entry types: [`Written`], [`Origin`].

use std::{collections::BTreeMap, path::Path};

use serde_json::Value as Json;

use super::super::{files::Source, keys};
use crate::{
    tools::connection::{Facts, ServerOptions},
    yaml::{Entry, Fields, Node, Problems, Shape, Value, nearest, quoted},
};

/// Context in which servers are read.
pub struct Origin<'a> {
    /// Base of relative paths.
    pub folder: &'a Path,
    /// `None`: the server's author does not run the bot, and may not choose what it can reach.
    pub data_dir: Option<&'a Path>,
    pub source: Source,
    /// Identities of manifests' tools.
    pub manifests: &'a [String],
    /// Values for `${data.*}`.
    pub global_data: &'a BTreeMap<String, Json>,
}

#[derive(Clone, Copy)]
pub struct Written<'a> {
    pub fields: Fields<'a>,
    /// Its key, which is its name; `None`: a member of a list.
    pub key: Option<&'a Entry>,
}

impl<'a> Written<'a> {
    pub fn all(file: &Fields<'a>) -> Vec<Self> {
        let listed =
            file.map("mcp", &keys::mcp::MCP).map(|mcp| mcp.items("servers")).unwrap_or_default();
        let named = file.get("mcp_servers");
        let behind = named.into_iter().chain(file.get("mcpServers")).flat_map(Node::entries);
        let unnamed = named.map(Node::items).unwrap_or_default();
        let listed = listed.iter().filter_map(Self::entry);
        let unnamed = unnamed.iter().filter_map(|node| Self::of(node, &keys::mcp::LISTED_SERVER));
        listed.chain(behind.filter_map(Self::named)).chain(unnamed).collect()
    }

    pub fn entry(node: &'a Node) -> Option<Self> {
        Self::of(node, &keys::mcp::SERVER)
    }

    /// A server behind its name.
    fn named(entry: &'a Entry) -> Option<Self> {
        let written = Self::of(&entry.node, &keys::mcp::NAMED_SERVER)?;
        Some(Self { key: Some(entry), ..written })
    }

    fn of(node: &'a Node, shape: &'static Shape) -> Option<Self> {
        let is_map = matches!(node.value, Value::Map(_));
        is_map.then(|| Self { fields: Fields::new(node, shape), key: None })
    }
}

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
