//! Definitions of the memory tools, and their handler.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value, json};

use super::{
    super::describe::{Millis, declared, input},
    archive::Archive,
    look::Look,
};
use crate::{
    domain::Tier,
    tools::{CallContext, CallError, CallOutput, Declared, Definition, Handler},
};

const KINDS: [&str; 9] =
    ["npc", "player", "location", "item", "faction", "event", "quest", "concept", "lore"];

pub fn memory_tools(archive: &Arc<Archive>) -> Vec<Definition> {
    let mut tools = of_the_world(archive);
    tools.extend(of_the_past(archive));
    tools
}

fn of_the_world(archive: &Arc<Archive>) -> Vec<Definition> {
    let of = |name, description, input, declared, subject| {
        definition(archive, Described { name, description, input }, declared, subject)
    };
    vec![
        of(
            "query_entities",
            "Lists people, places, things, groups and tasks of the world by name or type, with \
             their ids.",
            input(
                json!({
                    "name": {"type": "string", "description": "a name or a part of one"},
                    "type": {"type": "string", "enum": KINDS},
                }),
                &[],
            ),
            figures("memory", Millis { estimated: 50, max: 200 }, Tier::Fast, json!({})),
            Subject::Entities,
        ),
        of(
            "get_summary",
            "Tells what is known of one person, place or thing, and how it stands to others.",
            input(
                json!({"entity_id": {
                    "type": "string",
                    "minLength": 1,
                    "description": "its id from query_entities, or its name",
                }}),
                &["entity_id"],
            ),
            figures(
                "memory",
                Millis { estimated: 80, max: 300 },
                Tier::Fast,
                json!({"entity_id": "nobody"}),
            ),
            Subject::Summary,
        ),
    ]
}

fn of_the_past(archive: &Arc<Archive>) -> Vec<Definition> {
    let of = |name, description, input, declared, subject| {
        definition(archive, Described { name, description, input }, declared, subject)
    };
    vec![
        of(
            "search_sessions",
            "Finds what was said at the table, in this session and earlier ones: who said it, when \
             and in what words. Use it when somebody asks what was said, promised or agreed.",
            input(
                json!({
                    "query": query(),
                    "session_id": {
                        "type": "string",
                        "description": "last, this, or an id; left out: all sessions",
                    },
                    "limit": {"type": "integer", "minimum": 1, "maximum": 20},
                }),
                &["query"],
            ),
            figures(
                "memory",
                Millis { estimated: 100, max: 500 },
                Tier::Standard,
                json!({"query": "promise"}),
            ),
            Subject::Lines,
        ),
        of(
            "search_facts",
            "Finds what is known about something, from everything that was noted and said.",
            input(
                json!({
                    "query": query(),
                    "top_k": {"type": "integer", "minimum": 1, "maximum": 100},
                }),
                &["query"],
            ),
            figures(
                "memory",
                Millis { estimated: 200, max: 800 },
                Tier::Standard,
                json!({"query": "promise"}),
            ),
            Subject::Facts,
        ),
    ]
}

pub fn session_tools(archive: &Arc<Archive>) -> Vec<Definition> {
    let session = json!({"session_id": {
        "type": "string",
        "minLength": 1,
        "description": "last, this, or an id",
    }});
    let figures =
        |probe| figures("session", Millis { estimated: 100, max: 300 }, Tier::Standard, probe);
    vec![
        definition(
            archive,
            Described {
                name: "get_session_summary",
                description: "Tells what happened in one play session.",
                input: input(session, &["session_id"]),
            },
            figures(json!({"session_id": "this"})),
            Subject::Session,
        ),
        definition(
            archive,
            Described {
                name: "search_history",
                description: "Finds the sessions in which something came up, and what was said of it there.",
                input: input(json!({"query": query()}), &["query"]),
            },
            figures(json!({"query": "promise"})),
            Subject::History,
        ),
    ]
}

fn query() -> Value {
    json!({"type": "string", "minLength": 1, "description": "the question, or words to look for"})
}

fn figures(category: &str, takes: Millis, floor: Tier, probe: Value) -> Declared {
    Declared {
        read_only: Some(true),
        idempotent: Some(true),
        probe: probe.as_object().cloned(),
        ..declared(category, takes, floor)
    }
}

struct Described {
    name: &'static str,
    description: &'static str,
    input: Value,
}

fn definition(
    archive: &Arc<Archive>,
    described: Described,
    declared: Declared,
    subject: Subject,
) -> Definition {
    Definition {
        name: described.name.to_owned(),
        description: described.description.to_owned(),
        input: described.input,
        output: None,
        declared,
        handler: Arc::new(Ask { archive: Arc::clone(archive), subject }),
    }
}

#[derive(Clone, Copy)]
pub enum Subject {
    Entities,
    Summary,
    Lines,
    Facts,
    Session,
    History,
}

pub struct Ask {
    pub archive: Arc<Archive>,
    pub subject: Subject,
}

impl Handler for Ask {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        async move {
            let (parts, cast) = (&self.archive.parts, self.archive.cast());
            let look = Look {
                store: self.archive.store().await?,
                scope: &context.scope,
                viewer: self.archive.viewer(context),
                cast: &cast,
                session: &context.session.0,
                now: (parts.now)(),
                is_gated: AtomicBool::new(false),
            };
            let value = match self.subject {
                Subject::Entities => look.entities(arguments).await,
                Subject::Summary => look.summary(arguments).await,
                Subject::Lines => look.lines(arguments).await,
                Subject::Facts => look.facts(arguments, &parts.meaning).await,
                Subject::Session => look.session_summary(arguments).await,
                Subject::History => look.history(arguments).await,
            };
            let secret = look.is_gated.load(Ordering::Relaxed);
            value.map(|value| CallOutput { secret, ..CallOutput::json(value) })
        }
        .boxed()
    }
}
