//! A tool as the host keeps it, its fingerprint, and its catalog entry.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    Declared, Definition, Handler, Latency, NamedBy, ServerKey, SideEffects, SourceKind,
    figures::Endpoint,
    names,
    output::{framed, framed_inline},
    schema::{self, Schema, SchemaError},
    select,
};
use crate::domain::{Owner, Tier, ToolSpec, fnv1a, hex};

/// Longest description, in bytes: models read it in every request.
const LONGEST_DESCRIPTION: usize = 32 << 10;
/// Default hard limit of a call.
const MAX: Duration = Tier::Deep.ceiling();
/// Default hard limit of a call whose result may come after the turn.
const MAX_LATE: Duration = Duration::from_secs(60);

/// Reason a tool cannot be offered to any model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableTool {
    #[error("its description has {0} bytes (at most {most} are read)", most = LONGEST_DESCRIPTION)]
    Description(usize),
    #[error(transparent)]
    ForModel(SchemaError),
    #[error("its input schema: {0}")]
    Input(SchemaError),
    #[error("its output schema: {0}")]
    Output(SchemaError),
}

/// Source of a tool.
pub(super) struct Origin<'a> {
    pub server: &'a ServerKey,
    pub kind: SourceKind,
    pub endpoint: &'a Arc<Endpoint>,
}

pub struct Tool {
    /// Its owner; `None`: installed for everyone.
    pub owner: Option<Owner>,
    /// `server.tool`.
    pub identity: Arc<str>,
    pub source: SourceKind,
    pub endpoint: Arc<Endpoint>,
    pub declared: Declared,
    /// Kept when its source offers it again unchanged.
    pub latency: Arc<Latency>,
    /// Checks arguments.
    pub input: Schema,
    /// Checks structured results.
    pub output: Option<Schema>,
    pub handler: Arc<dyn Handler>,
    /// Hash of name, description and schemas, on which a model relies.
    pub hash: u64,
    /// Hash of these, the declared effects and the endpoint; collision-resistant.
    pub fingerprint: Arc<str>,
    /// Its description and schema are a server's words.
    pub described_outside: bool,
    /// Description in the source's words.
    pub(super) about: Arc<str>,
    /// Description as a model reads it.
    pub(super) description: Arc<str>,
    pub(super) parameters: Arc<serde_json::Value>,
    /// Words it is found by.
    pub(super) words: Arc<str>,
}

impl Tool {
    pub const fn named_by(&self) -> NamedBy {
        match self.owner {
            None => NamedBy::Operator,
            Some(_) => NamedBy::Owner,
        }
    }

    /// Server part of its identity.
    pub fn server(&self) -> &str {
        self.identity.split_once('.').map_or("", |(server, _)| server)
    }

    pub(super) fn is_of(&self, server: &ServerKey) -> bool {
        self.owner == server.owner && self.server() == server.name
    }

    /// Parts of its schemas, as a measure of memory.
    pub(super) fn parts(&self) -> usize {
        self.input.parts() + self.output.as_ref().map_or(0, Schema::parts)
    }

    pub fn bare_name(&self) -> &str {
        names::bare(&self.identity)
    }

    /// Categories, most important first; by default the server's name.
    pub fn categories(&self) -> impl Iterator<Item = &str> {
        let server = self.declared.categories.is_empty().then(|| self.server());
        self.declared.categories.iter().map(String::as_str).chain(server)
    }

    /// Loads in advance what its first call needs. Cancel safe.
    pub fn prepare(&self) -> BoxFuture<'static, ()> {
        self.handler.prepare()
    }

    pub fn max(&self) -> Duration {
        let late = self.declared.follow_up == Some(true);
        self.declared.max.unwrap_or(if late { MAX_LATE } else { MAX })
    }

    /// True if `other`'s figures apply: the same tool at the same endpoint.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.identity == other.identity
            && self.hash == other.hash
            && self.endpoint == other.endpoint
    }

    /// Fails on a description or schema no model can use.
    pub(super) fn new(origin: &Origin<'_>, definition: Definition) -> Result<Self, UnusableTool> {
        let declared = definition.declared;
        let input = declared.parameters.as_ref().unwrap_or(&definition.input);
        let description = declared.description.clone().unwrap_or(definition.description);
        // Before anything is derived from it.
        if description.len() > LONGEST_DESCRIPTION {
            return Err(UnusableTool::Description(description.len()));
        }
        let server = &*origin.server.name;
        let identity = names::identity(server, &definition.name);
        let is_ours = declared.parameters.is_some() && declared.description.is_some();
        let described_outside = origin.kind == SourceKind::Server && !is_ours;
        let fingerprint = fingerprint(&json!({
            "tool": identity,
            "endpoint": origin.endpoint.key(),
            "description": description,
            "input": input,
            "output": definition.output,
            "effects": declared.effects.map(SideEffects::name),
            "read_only": declared.read_only,
            "destructive": declared.destructive,
            "open_world": declared.open_world,
        }));
        let pinned = format!("{identity}\n{description}\n{input}\n{:?}", definition.output);
        let categories = match declared.categories.as_slice() {
            [] => server.to_owned(),
            several => several.join(" "),
        };
        let parameters = schema::for_model(input).map_err(UnusableTool::ForModel)?;
        let checked = Schema::new(input).map_err(UnusableTool::Input)?;
        let words = select::words_of(&identity, &description, &categories, input);
        Ok(Self {
            parameters: match described_outside {
                true => Arc::new(described(parameters, server)),
                false => parameters,
            },
            input: checked,
            output: definition
                .output
                .map(|schema| Schema::new(&schema))
                .transpose()
                .map_err(UnusableTool::Output)?,
            owner: origin.server.owner,
            identity: Arc::from(identity),
            source: origin.kind,
            endpoint: Arc::clone(origin.endpoint),
            latency: Arc::default(),
            handler: definition.handler,
            hash: fnv1a(pinned.bytes()),
            fingerprint: Arc::from(fingerprint),
            description: Arc::from(match described_outside {
                true => framed(server, &description),
                false => description.clone(),
            }),
            about: Arc::from(description),
            described_outside,
            declared,
            words: Arc::from(words),
        })
    }
}

/// Marks a schema's descriptions as words of `server`.
fn described(schema: Arc<Value>, server: &str) -> Value {
    let mut schema = Arc::unwrap_or_clone(schema);
    mark(&mut schema, server);
    schema
}

fn mark(schema: &mut Value, server: &str) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("description" | "title" | "$comment", Value::String(text)) => {
                        *text = framed_inline(server, text);
                    }
                    // Values, not descriptions.
                    ("enum" | "const" | "default" | "examples", _) => {}
                    (_, value) => mark(value, server),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mark(item, server)),
        _ => {}
    }
}

/// A tool in one snapshot.
pub struct CatalogEntry {
    /// Shared with other snapshots.
    pub tool: Arc<Tool>,
    /// As a model reads it, with its model-facing name.
    pub spec: ToolSpec,
    /// Lowest tier it is offered in; `None`: withheld.
    pub tier: Option<Tier>,
    /// Duration to plan with.
    pub expected: Duration,
}

impl CatalogEntry {
    /// True if a call runs in the background and its answer comes after the turn.
    pub fn outlasts(&self, left: Duration) -> bool {
        self.tool.declared.follow_up == Some(true) && self.expected > left
    }
}

/// A rejected tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub tool: String,
    /// Worded for a person.
    pub reason: String,
}

/// Collision-resistant hash of a definition: SHA-256 of a JSON value in hex, independent of the
/// order of keys.
pub fn fingerprint(value: &Value) -> String {
    hex(&Sha256::digest(sorted(value.clone()).to_string()))
}

/// The value with sorted keys.
pub fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.into_iter().collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(members.into_iter().map(|(key, it)| (key, sorted(it))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn order_of_keys_is_no_change() {
        let one = json!({"a": [{"x": 1, "y": 2}], "b": null});
        let same: Value = serde_json::from_str(r#"{"b":null,"a":[{"y":2,"x":1}]}"#).unwrap();
        assert_eq!(fingerprint(&one), fingerprint(&same));
        assert_eq!(fingerprint(&one).len(), 64);
        assert_ne!(fingerprint(&one), fingerprint(&json!({"a": [{"x": 1, "y": 3}], "b": null})));
        assert_ne!(fingerprint(&json!([1, 2])), fingerprint(&json!([2, 1])));
    }
}
