//! `tools.discover_tools`: finds tools outside the narrowed list, among those the NPC may use.

use std::sync::{Arc, Weak};

use futures::{FutureExt, future::BoxFuture};
use serde_json::{Map, Value, json};

use super::describe::{Millis, declared, input, text};
use crate::{
    domain::{Tier, redact, visible},
    tools::{
        CallContext, CallError, CallErrorKind, CallOutput, CatalogEntry, Declared, Definition,
        Handler, ToolHost, state::HostState,
    },
};

/// Longest description of a result, in characters; the next round gets it whole.
const MAX_DESCRIPTION: usize = 160;

pub fn tools(host: &ToolHost) -> Vec<Definition> {
    vec![Definition {
        name: "discover_tools".to_owned(),
        description: "Finds further tools by what they should do. Not all tools you may use are \
            listed; the ones found can be called in your next message."
            .to_owned(),
        input: input(
            json!({ "query": { "type": "string", "description": "What the tool should do." } }),
            &["query"],
        ),
        output: None,
        declared: Declared {
            read_only: Some(true),
            idempotent: Some(true),
            ..declared("tools", Millis { estimated: 5, max: 250 }, Tier::Fast)
        },
        // Weak: the host owns this tool.
        handler: Arc::new(Discover(Arc::downgrade(&host.inner))),
    }]
}

struct Discover(Weak<HostState>);

impl Handler for Discover {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        async move {
            // An embedding service may see the query: strip secrets, and zero-width characters that
            // split them.
            let query = text(arguments, "query").unwrap_or_default();
            let query = redact::without_credentials(&visible(query));
            let Some(inner) = self.0.upgrade() else {
                return Err(CallError::new(CallErrorKind::Cancelled, "the tools are closed"));
            };
            let caller = context.authority.caller();
            let npc = caller.map(|caller| (&*caller.npc, caller.tier));
            let host = ToolHost {
                inner,
                session: Some(context.session.clone()),
                scope: context.scope.clone(),
            };
            let found = host.search(npc, &query).await;
            if found.is_empty() {
                let what = format!("no tool fits '{query}' (answer without one)");
                return Ok(CallOutput::text(what));
            }
            let tools: Vec<Value> = found.iter().map(|entry| line(entry)).collect();
            let outside = found.iter().any(|entry| entry.tool.described_outside);
            Ok(CallOutput { outside, ..CallOutput::json(json!({ "tools": tools })) })
        }
        .boxed()
    }
}

fn line(entry: &CatalogEntry) -> Value {
    let description: String = entry.tool.about.chars().take(MAX_DESCRIPTION).collect();
    json!({ "name": &*entry.spec.name, "description": description })
}
