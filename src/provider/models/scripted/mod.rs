//! A brain of rules for rehearsals, tests and cheap extras: no network, no key, no cost.
//!
//! Entry type: [`Scripted`]. It streams like a model, calls tools through the same loop, and
//! answers equal requests equally. **Never**: keeps state; earlier lines are in the request's
//! messages.

mod choose;
mod pattern;
mod template;

use std::{
    cell::RefCell,
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Map, Value};

pub use choose::Script;

use self::template::Values;
use crate::{
    domain::{CallId, Message, ToolCall, ToolSpec, unframed},
    provider::{ChatEvent, ChatModel, ChatRequest, Error},
};

pub const NAME: &str = "scripted";

pub struct Scripted {
    npc: String,
    script: Arc<Script>,
    seed: u64,
}

impl Scripted {
    /// Says the lines of `script` as `npc`; `seed` picks among equals.
    pub fn new(npc: &str, script: Arc<Script>, seed: u64) -> Self {
        Self { npc: npc.to_owned(), script, seed }
    }

    fn answer(&self, request: &ChatRequest) -> Vec<ChatEvent> {
        let mut rng = StdRng::seed_from_u64(self.seed_for(request));
        let mut values = Values::new(&self.npc, &request.facts);
        let mut failed = false;
        if let Some((line, result)) = answered_line(&request.messages) {
            values.result = result;
            if let Some(text) = self.script.say(line, &mut values, &request.messages, &mut rng) {
                return words(&text);
            }
            failed = true;
        }
        // A failed call is not repeated; another line is chosen.
        let missing = RefCell::new(BTreeSet::new());
        let can_call = |identity: &str| {
            let is_offered = tool(&request.tools, identity).is_some();
            if !is_offered {
                missing.borrow_mut().insert(identity.to_owned());
            }
            !failed && is_offered
        };
        let choice = self.script.choose(request, &mut values, can_call, &mut rng);
        let missing = missing.into_inner();
        if !missing.is_empty() {
            let npc = &self.npc;
            tracing::info!(npc, ?missing, "a line's tool is not offered in this turn");
        }
        let Some(choice) = choice else { return vec![ChatEvent::Done] };
        let call = if failed { None } else { self.script.call(choice, &values) };
        let called = call
            .and_then(|(identity, arguments)| Some((tool(&request.tools, &identity)?, arguments)));
        match called {
            Some((spec, arguments)) => vec![
                ChatEvent::ToolCall(ToolCall {
                    id: CallId(format!("{CALL_PREFIX}{choice}-{}", request.messages.len())),
                    name: spec.name.to_string(),
                    arguments: arguments.to_string(),
                    extra: Map::new(),
                }),
                ChatEvent::Done,
            ],
            None => self
                .script
                .say_without(choice, &values, &request.messages, &mut rng)
                .map_or_else(|| vec![ChatEvent::Done], |text| words(&text)),
        }
    }

    /// Equal requests draw equally, so a speculative answer stays valid.
    fn seed_for(&self, request: &ChatRequest) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.seed.hash(&mut hasher);
        request.messages.len().hash(&mut hasher);
        request.facts.utterance.hash(&mut hasher);
        hasher.finish()
    }
}

impl ChatModel for Scripted {
    fn name(&self) -> &str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn reads_prompts(&self) -> bool {
        false
    }

    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>> {
        stream::iter(self.answer(&request)).map(Ok).boxed()
    }
}

/// Call ids contain the line that made the call.
const CALL_PREFIX: &str = "line-";

/// The line whose call was just answered, and the result.
fn answered_line(messages: &[Message]) -> Option<(usize, Option<Value>)> {
    let Some(Message::Tool { call, content, .. }) = messages.last() else { return None };
    let line = call.0.strip_prefix(CALL_PREFIX)?.split('-').next()?.parse().ok()?;
    let text = unframed(content);
    let words = || {
        let text = text.trim();
        // Framed data is a result; the host's own errors are not.
        let is_result = content.starts_with("<tool-data ") && !text.starts_with("error: ");
        is_result.then(|| Value::from(text))
    };
    Some((line, serde_json::from_str(&text).ok().or_else(words)))
}

fn tool<'t>(tools: &'t [ToolSpec], identity: &str) -> Option<&'t ToolSpec> {
    tools.iter().find(|spec| *spec.identity == *identity || *spec.name == *identity)
}

/// Splits a text into deltas, as a model would stream it.
fn words(text: &str) -> Vec<ChatEvent> {
    let mut events: Vec<ChatEvent> =
        text.split_inclusive(' ').map(|word| ChatEvent::Text(word.to_owned())).collect();
    events.push(ChatEvent::Done);
    events
}

#[cfg(test)]
mod tests;
