//! A tool as its source offers it.
//!
//! Entry types: [`Definition`], [`Handler`]. **Never**: knows who may call it.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value};

use super::{CallContext, CallError, CallOutput, Declared};

/// A tool before it has a place in the catalog.
#[derive(Clone)]
pub struct Definition {
    /// Its name at its source, as it goes on the wire.
    pub name: String,
    /// Its purpose, for the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input: Value,
    /// JSON Schema of the structured result, if it declares one.
    pub output: Option<Value>,
    /// Declarations about it: durations, side effects, category.
    pub declared: Declared,
    /// Answers its calls.
    pub handler: Arc<dyn Handler>,
}

/// Runs one tool.
pub trait Handler: Send + Sync {
    /// Answers one call whose arguments have passed the schema. Cancel safe: dropping the future
    /// ends the call, over the wire too where there is one.
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>>;

    /// Reads what must be read before the first call and is no part of any. Cancel safe.
    fn prepare(&self) -> BoxFuture<'static, ()> {
        ready(()).boxed()
    }
}

/// Tools that answer at once are functions.
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

/// Kind of source that a tool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceKind {
    /// A handler of this program; its results are its own.
    BuiltIn,
    /// A YAML file; its results come from outside.
    Manifest,
    /// An MCP server; its results come from outside.
    Server,
}

impl SourceKind {
    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Manifest => "manifest",
            Self::Server => "server",
        }
    }
}
