//! Tools defined by YAML files: canned answers and HTTP addresses. `config` reads and checks the
//! files.

mod address;
mod error;
mod http;
mod live;
mod mapping;
mod mock;
mod pieces;
mod template;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use serde_json::{Map, Value};

use self::live::{Clients, Live, NoClient};
pub use self::{
    address::Address,
    http::{Header, Http, Verb},
    mapping::{Mapping, MappingError},
    mock::Mock,
};
use super::{
    Declared, Definition, Handler, ServerKey, SideEffects, SourceKind, ToolHost, names,
    schema::{self, Schema, SchemaError},
};

/// A checked tool definition.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub namespace: String,
    pub name: String,
    pub description: String,
    pub input: Value,
    pub output: Option<Value>,
    pub declared: Declared,
    pub behaviour: Behaviour,
}

#[derive(Clone)]
pub enum Behaviour {
    Mock(Mock),
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

/// Problem of a tool's canned answer.
#[derive(Debug)]
pub struct MockProblem {
    /// Worded for a person.
    pub what: String,
    /// Other arguments might not fail.
    pub is_uncertain: bool,
}

impl Manifest {
    /// `namespace.name`.
    pub fn identity(&self) -> String {
        names::identity(&self.namespace, &self.name)
    }

    /// The definition for the host. Fails if its server cannot be contacted.
    fn definition(&self, clients: &mut Clients) -> Result<Definition, NoClient> {
        let (handler, usual): (Arc<dyn Handler>, Declared) = match &self.behaviour {
            Behaviour::Mock(mock) => (Arc::new(mock.clone()), usual_of_mock()),
            Behaviour::Live(http) => {
                let client = clients.of(&http.address)?;
                let said = &self.declared;
                let says_nothing = said.read_only.is_none() && said.destructive.is_none();
                // A GET counts as read-only unless declared otherwise.
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

/// Declarations of every canned answer.
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

/// Replaces the tools of all manifests.
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

/// Reason models cannot use this input schema.
pub fn input_problem(input: &Value) -> Option<SchemaError> {
    schema::for_model(input).and_then(|_| Schema::new(input)).err()
}

/// Reason results cannot be checked with this schema.
pub fn output_problem(output: &Value) -> Option<SchemaError> {
    Schema::new(output).err()
}

/// Tries `mock` with arguments made from `input`; fails if it does, or if its answer does not match
/// `output`.
pub fn try_mock(mock: &Mock, input: &Value, output: Option<&Value>) -> Result<(), MockProblem> {
    let arguments: Map<String, Value> = mock::sample_arguments(input);
    let value = mock
        .answer(&arguments)
        .map_err(|error| MockProblem { what: error.to_string(), is_uncertain: false })?;
    let Some(schema) = output.and_then(|output| Schema::new(output).ok()) else {
        return Ok(());
    };
    // A template that yields words does so for any arguments.
    let is_uncertain = !matches!(mock, Mock::Fixed(_)) && !value.is_string();
    let checked = schema.check_here(value).map(drop);
    checked.map_err(|mismatch| MockProblem { what: mismatch.to_string(), is_uncertain })
}
