//! A tool as its source offers it.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value};

use super::{CallContext, CallError, CallOutput, Declared};

/// A tool before its entry in the catalog.
#[derive(Clone)]
pub struct Definition {
    /// Name at the source, as sent on the wire.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of arguments.
    pub input: Value,
    /// JSON Schema of structured results.
    pub output: Option<Value>,
    /// Durations, side effects, categories.
    pub declared: Declared,
    /// Answers its calls.
    pub handler: Arc<dyn Handler>,
}

/// Runs one tool.
pub trait Handler: Send + Sync {
    /// Answers one call with checked arguments. Cancel safe: dropping the future cancels the call,
    /// also at a server.
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>>;

    /// Loads data needed before the first call, outside its time limit. Cancel safe.
    fn prepare(&self) -> BoxFuture<'static, ()> {
        ready(()).boxed()
    }

    /// Address of the MCP server that answers, without credentials; `None`: none does.
    fn server_address(&self) -> Option<Arc<str>> {
        None
    }
}

/// A tool that answers at once can be a function.
impl<F> Handler for F
where
    F: Fn(&CallContext, &Map<String, Value>) -> Result<CallOutput, CallError> + Send + Sync,
{
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        ready(self(context, arguments)).boxed()
    }
}

/// Kind of a tool's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceKind {
    /// This program; results are its own words.
    BuiltIn,
    /// A YAML file; results are outside words.
    Manifest,
    /// An MCP server; results are outside words.
    Server,
}

impl SourceKind {
    /// Word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Manifest => "manifest",
            Self::Server => "server",
        }
    }
}
