//! Tools written down in files: canned answers and HTTP addresses.
//!
//! Entry types: [`Manifest`], [`offer`]. **Never**: reads files; `config` has read and checked
//! them.

mod address;
mod clients;
mod error;
mod http;
mod live;
mod mapping;
mod mock;
mod pieces;
mod sample;
mod template;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use serde_json::{Map, Value};

pub use self::{
    address::Address,
    http::{Header, Http, Verb},
    mapping::Mapping,
    mock::Mock,
};
use self::{
    clients::{Clients, NoClient},
    live::Live,
};
use super::{
    Declared, Definition, Handler, ServerKey, SideEffects, SourceKind, ToolHost, names,
    schema::{self, Schema, SchemaError},
};

/// A tool as its file describes it; every part is checked.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The server's part of its identity.
    pub namespace: String,
    /// The tool's part of its identity.
    pub name: String,
    /// Its purpose, for the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input: Value,
    /// JSON Schema of the result.
    pub output: Option<Value>,
    /// Declarations about it.
    pub declared: Declared,
    /// Handling of its calls.
    pub behaviour: Behaviour,
}

/// Handling of the calls of a manifest's tool.
#[derive(Clone)]
pub enum Behaviour {
    /// Answers what its file says.
    Mock(Mock),
    /// Asks a server.
    Live(Arc<Http>),
}

impl fmt::Debug for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mock(_) => f.write_str("Mock"),
            Self::Live(http) => http.fmt(f),
        }
    }
}

/// Problem of the canned answers of a tool.
#[derive(Debug)]
pub struct MockProblem {
    /// The failure, for a person.
    pub what: String,
    /// With other arguments it might not fail.
    pub is_uncertain: bool,
}

impl Manifest {
    /// The tool's identity, `namespace.name`.
    pub fn identity(&self) -> String {
        names::identity(&self.namespace, &self.name)
    }

    /// The tool as the host takes it.
    ///
    /// # Errors
    /// Its server cannot be spoken to.
    fn definition(&self, clients: &mut Clients) -> Result<Definition, NoClient> {
        let (handler, usual): (Arc<dyn Handler>, Declared) = match &self.behaviour {
            Behaviour::Mock(mock) => (Arc::new(mock.clone()), usual_of_mock()),
            Behaviour::Live(http) => {
                let client = clients.of(&http.address)?;
                let said = &self.declared;
                let says_nothing = said.read_only.is_none() && said.destructive.is_none();
                // A GET only reads, unless the file says otherwise.
                let reads = (http.verb == Verb::Get && says_nothing).then_some(SideEffects::None);
                let usual = Declared { max: http.timeout, effects: reads, ..Declared::default() };
                (Arc::new(Live { http: Arc::clone(http), client }), usual)
            }
        };
        Ok(Definition {
            name: self.name.clone(),
            description: self.description.clone(),
            input: self.input.clone(),
            output: self.output.clone(),
            declared: self.declared.clone().over(usual),
            handler,
        })
    }
}

/// Declarations that hold for every canned answer.
fn usual_of_mock() -> Declared {
    Declared {
        estimated: Some(Duration::from_millis(1)),
        max: Some(Duration::from_millis(100)),
        idempotent: Some(true),
        read_only: Some(true),
        open_world: Some(false),
        ..Declared::default()
    }
}

/// Offers these tools in place of those of all manifests before.
pub fn offer(host: &ToolHost, manifests: &[Manifest]) {
    let (mut clients, mut servers) = (Clients::default(), BTreeMap::<&str, Vec<_>>::new());
    for manifest in manifests {
        let tools = servers.entry(&manifest.namespace).or_default();
        match manifest.definition(&mut clients) {
            Ok(definition) => tools.push(definition),
            Err(reason) => {
                tracing::error!(
                    tool = manifest.identity(),
                    %reason,
                    "tool of a manifest left out"
                );
            }
        }
    }
    let before = host.snapshot();
    let gone = before.all().iter().map(|entry| &entry.tool);
    for tool in gone.filter(|tool| tool.source == SourceKind::Manifest) {
        if !servers.contains_key(tool.server()) {
            host.catalog().withdraw(&ServerKey::installed(tool.server()), SourceKind::Manifest);
        }
    }
    for (server, tools) in servers {
        for refused in host.offer(server, SourceKind::Manifest, tools) {
            tracing::error!(
                tool = refused.tool,
                reason = refused.reason,
                "tool of a manifest left out"
            );
        }
    }
}

/// Problem that keeps models from using a tool with this input schema.
pub fn input_problem(input: &Value) -> Option<SchemaError> {
    schema::for_model(input).and_then(|_| Schema::new(input)).err()
}

/// Problem that keeps results from being checked against this schema.
pub fn output_problem(output: &Value) -> Option<SchemaError> {
    Schema::new(output).err()
}

/// Tries `mock` with arguments as `input` would have them.
///
/// # Errors
/// `mock` fails on them, or its answer does not match `output`.
pub fn try_mock(mock: &Mock, input: &Value, output: Option<&Value>) -> Result<(), MockProblem> {
    let arguments: Map<String, Value> = sample::arguments(input);
    let value = mock
        .answer(&arguments)
        .map_err(|error| MockProblem { what: error.to_string(), is_uncertain: false })?;
    let Some(schema) = output.and_then(|output| Schema::new(output).ok()) else {
        return Ok(());
    };
    // Words are no JSON; the template makes them whatever the arguments are.
    let is_uncertain = !matches!(mock, Mock::Fixed(_)) && !value.is_string();
    let checked = schema.check_here(value).map(drop);
    checked.map_err(|mismatch| MockProblem { what: mismatch.to_string(), is_uncertain })
}
