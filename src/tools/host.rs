//! The door: what a model sees, and one call from arguments to record.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    CallContext, CallError, CallErrorKind, CallOutput, CallRecord, Catalog, Tool, VisibleTools,
};
use crate::domain::{Tier, ToolCall};

/// The embedded tool host.
#[derive(Clone)]
pub struct ToolHost {
    catalog: Arc<Catalog>,
}

impl ToolHost {
    /// A host over `catalog`.
    pub fn new(catalog: Catalog) -> Self {
        Self { catalog: Arc::new(catalog) }
    }

    /// What `npc` may call at `tier` with `left` of the turn's tool time.
    pub fn visible(&self, npc: &str, tier: Tier, left: Duration) -> Arc<VisibleTools> {
        let prepared = self.catalog.visible(npc, tier);
        if prepared.slowest <= left {
            return Arc::clone(prepared);
        }
        Arc::new(self.catalog.fitting(prepared, left))
    }

    /// Whether `name` changes nothing and may run before the utterance is final.
    pub fn is_read_only(&self, name: &str) -> bool {
        self.catalog.by_model_name(name).is_some_and(|tool| tool.read_only)
    }

    /// The identity behind a model-facing name; the name itself when there is no such tool.
    pub fn identity(&self, name: &str) -> String {
        let tool = self.catalog.by_model_name(name);
        tool.map_or_else(|| name.to_owned(), |tool| tool.spec.identity.clone())
    }

    /// Expected duration of `name`; zero for what does not exist.
    pub fn expected(&self, name: &str) -> Duration {
        self.catalog.by_model_name(name).map(|tool| tool.estimated).unwrap_or_default()
    }

    /// Runs one call and says what became of it. Cancel safe.
    pub async fn execute(&self, context: &CallContext, call: &ToolCall) -> CallRecord {
        let started = Instant::now();
        let arguments = parse_arguments(&call.arguments);
        let tool = self.catalog.by_model_name(&call.name);
        let result = match (tool, &arguments) {
            (None, _) => Err(CallError::new(
                CallErrorKind::NotFound,
                format!("there is no tool '{}' (call one of the listed tools)", call.name),
            )),
            (Some(_), Err(error)) => Err(error.clone()),
            (Some(tool), Ok(arguments)) => self.run(context, tool, arguments).await,
        };
        let record = CallRecord {
            id: call.id.clone(),
            tool: self.identity(&call.name),
            arguments: arguments.unwrap_or(Value::Null),
            result,
            took: started.elapsed(),
        };
        tracing::debug!(
            session = %context.session,
            turn = context.turn.0,
            npc = context.npc.as_deref().unwrap_or("operator"),
            tool = record.tool,
            ok = record.result.is_ok(),
            kind = record.result.as_ref().err().map(|error| error.kind.name()),
            took_ms = record.took.as_secs_f64() * 1e3,
            "tool call"
        );
        record
    }

    async fn run(
        &self,
        context: &CallContext,
        tool: &Tool,
        arguments: &Value,
    ) -> Result<CallOutput, CallError> {
        if let Some(npc) = &context.npc
            && !self.catalog.visible(npc, context.tier).contains(&tool.spec.name)
        {
            return Err(CallError::new(
                CallErrorKind::NotVisible,
                format!("'{}' cannot be used now (answer without it)", tool.spec.name),
            ));
        }
        let Value::Object(arguments) = arguments else {
            return Err(CallError::new(
                CallErrorKind::InvalidArguments,
                format!("the arguments of '{}' must be a JSON object", tool.spec.name),
            ));
        };
        let started = Instant::now();
        let deadline = context.deadline.min(started + tool.max);
        tokio::select! {
            () = context.cancel.cancelled() => {
                Err(CallError::new(CallErrorKind::Cancelled, "the turn ended"))
            }
            answer = timeout_at(deadline, tool.handler.call(context, arguments)) => {
                answer.unwrap_or_else(|_| {
                    let waited = (deadline - started).as_millis();
                    Err(CallError::new(
                        CallErrorKind::Timeout,
                        format!("timed out after {waited} ms"),
                    ))
                })
            }
        }
    }
}

/// Model text -> arguments; an empty text is an empty object, as some servers send it.
fn parse_arguments(text: &str) -> Result<Value, CallError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(text).map_err(|error| {
        CallError::new(
            CallErrorKind::InvalidArguments,
            format!("the arguments are not JSON: {error} (send one JSON object)"),
        )
    })
}
