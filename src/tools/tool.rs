//! A tool as the host keeps it, and its place in one catalog.
//!
//! Entry types: [`Tool`], [`CatalogEntry`]. **Never**: knows who may use it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{
    Declared, Definition, Handler, Latency, ServerKey, SideEffects, SourceKind,
    figures::Endpoint,
    fingerprint::fingerprint,
    names,
    output::{framed, framed_inline},
    schema::{self, Schema, SchemaError},
    select,
};
use crate::domain::{Owner, Tier, ToolSpec, fnv1a};

/// Longest description of a tool, in bytes: models read it in every request.
const LONGEST_DESCRIPTION: usize = 32 << 10;
/// Hard limit of a call to a tool that declares none.
const MAX: Duration = Tier::Deep.ceiling();
/// Hard limit, where none is declared, of a call whose result may come after the turn.
const MAX_LATE: Duration = Duration::from_secs(60);

/// Reason a tool cannot be offered to any model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableTool {
    /// Its description is too long to be part of every request.
    #[error("its description has {0} bytes (at most {most} are read)", most = LONGEST_DESCRIPTION)]
    Description(usize),
    /// Its input schema cannot be a model's parameters.
    #[error(transparent)]
    ForModel(SchemaError),
    /// Its arguments could not be checked.
    #[error("its input schema: {0}")]
    Input(SchemaError),
    /// Its results could not be checked.
    #[error("its output schema: {0}")]
    Output(SchemaError),
}

/// Origin of a tool: its server, and the endpoint that answers its calls.
pub(super) struct Origin<'a> {
    /// The server that offers it.
    pub server: &'a ServerKey,
    /// Kind of its source.
    pub kind: SourceKind,
    /// Endpoint that answers its calls.
    pub endpoint: &'a Arc<Endpoint>,
}

/// A tool with its place in the catalog.
pub struct Tool {
    /// The owner who added it for itself; `None`: it is the installation's, and everybody's.
    pub owner: Option<Owner>,
    /// Its identity, `server.tool`.
    pub identity: Arc<str>,
    /// Kind of its source.
    pub source: SourceKind,
    /// Endpoint that answers its calls.
    pub endpoint: Arc<Endpoint>,
    /// Its declarations, all sources merged.
    pub declared: Declared,
    /// Figures of its calls; kept when its source offers it again unchanged.
    pub latency: Arc<Latency>,
    /// Schema that arguments are checked with.
    pub input: Schema,
    /// Schema that structured results are checked with.
    pub output: Option<Schema>,
    /// Answers its calls.
    pub handler: Arc<dyn Handler>,
    /// Hash of name, description and schemas: what a model relies on.
    pub hash: u64,
    /// Hash of these, of its declared effects and of its endpoint; no server can find another definition with
    /// this hash.
    pub fingerprint: Arc<str>,
    /// True if its words for the model are a server's own.
    pub described_outside: bool,
    /// Its purpose in the words of its source.
    pub(super) about: Arc<str>,
    /// Description and parameters as a model reads them.
    pub(super) description: Arc<str>,
    pub(super) parameters: Arc<serde_json::Value>,
    /// The words it is found by.
    pub(super) words: String,
}

impl Tool {
    /// The server's part of its identity.
    pub fn server(&self) -> &str {
        self.identity.split_once('.').map_or("", |(server, _)| server)
    }

    /// True if `server` offers it.
    pub(super) fn is_of(&self, server: &ServerKey) -> bool {
        self.owner == server.owner && self.server() == server.name
    }

    /// Parts of its schemas, the measure of what it takes to keep it.
    pub(super) fn parts(&self) -> usize {
        self.input.parts() + self.output.as_ref().map_or(0, Schema::parts)
    }

    /// Its identity without the server.
    pub fn bare_name(&self) -> &str {
        names::bare(&self.identity)
    }

    /// Its categories, the foremost first; without any, its server's name.
    pub fn categories(&self) -> impl Iterator<Item = &str> {
        let server = self.declared.categories.is_empty().then(|| self.server());
        self.declared.categories.iter().map(String::as_str).chain(server)
    }

    /// Hard limit of one call.
    pub fn max(&self) -> Duration {
        let late = self.declared.follow_up == Some(true);
        self.declared.max.unwrap_or(if late { MAX_LATE } else { MAX })
    }

    /// True if its figures are those of `other`: the same tool, at the same place.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.identity == other.identity
            && self.hash == other.hash
            && self.endpoint == other.endpoint
    }

    /// # Errors
    /// A schema cannot be used, so that no model can be offered the tool.
    pub(super) fn new(origin: &Origin<'_>, definition: Definition) -> Result<Self, UnusableTool> {
        let declared = definition.declared;
        let input = declared.parameters.as_ref().unwrap_or(&definition.input);
        let description = declared.description.clone().unwrap_or(definition.description);
        // Before anything is made of it.
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
            words,
        })
    }
}

/// A schema whose descriptions are marked as words of `server`.
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
                    // Values of arguments, not words about them.
                    ("enum" | "const" | "default" | "examples", _) => {}
                    (_, value) => mark(value, server),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mark(item, server)),
        _ => {}
    }
}

/// A tool as one snapshot places it.
pub struct CatalogEntry {
    /// The tool itself, shared with other snapshots.
    pub tool: Arc<Tool>,
    /// The parts that a model reads, its model-facing name included.
    pub spec: ToolSpec,
    /// Lowest tier it is offered in; `None`: withheld.
    pub tier: Option<Tier>,
    /// The duration to plan with.
    pub expected: Duration,
}

impl CatalogEntry {
    /// True if a call is begun in the background: its answer may come after the turn, and will.
    pub fn outlasts(&self, left: Duration) -> bool {
        self.tool.declared.follow_up == Some(true) && self.expected > left
    }
}

/// A tool that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Identity of the tool.
    pub tool: String,
    /// The reason, for a person.
    pub reason: String,
}
