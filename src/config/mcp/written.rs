//! Servers as written in `glyphoxa.yaml`. Entry types: [`Written`], [`Origin`].

use std::{collections::BTreeMap, path::Path};

use serde_json::Value as Json;

use super::super::{files::Source, keys};
use crate::yaml::{Entry, Fields, Node, Shape, Value};

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
