//! `memory.search`, `entity.get`.

use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

use super::sessions::shown;
use crate::{
    logic::content_words::ContentWords,
    memory::{Entity, EntityFilter, ItemKind, ItemQuery, LineQuery, Snapshot, Tie},
    web::mcp::{
        incoming::{Incoming, ToolAnswer, ToolError},
        schema::{
            boolean, count, integer, maybe_string, name, object, of_list, result, string, strings,
            text,
        },
        served::{Annotations, Rights, ServedTool},
    },
};

/// Most hits of each kind.
const HITS_MAX: u32 = 50;
const HITS: u32 = 10;
/// Longest question, in characters.
const QUERY_MAX: u32 = 500;
/// Most relations of an entity.
const TIES_MAX: usize = 50;

pub static SEARCH: ServedTool = ServedTool {
    name: "memory.search",
    title: "Search the memory",
    description: "Lines of transcripts and facts with these words, best first. A player's token \
        finds what everyone may know.",
    rights: Rights::Everyone,
    annotations: Annotations::LOOKS,
    input: || {
        let members = json!({
            "query": text("Words to look for", QUERY_MAX),
            "limit": count("Most lines, and most facts", HITS_MAX, HITS),
        });
        object(&members, &["query"])
    },
    output: || {
        let line = json!({
            "session": string(), "number": integer(), "at": string(), "speaker": string(),
            "npc": maybe_string(), "text": string(), "secret": boolean(),
        });
        let line = result(&line, &["session", "number", "at", "speaker", "npc", "text"]);
        let fact = json!({ "session": maybe_string(), "text": string(), "secret": boolean() });
        let mut schema = of_list("facts", &fact, &["session", "text"]);
        schema["properties"]["lines"] = json!({ "type": "array", "items": line });
        schema["required"] = json!(["lines", "facts"]);
        schema
    },
    run: |call| search(call).boxed(),
};

pub static ENTITY: ServedTool = ServedTool {
    name: "entity.get",
    title: "An entity of the world",
    description: "A person, place, thing or quest of the campaign, with its relations. A player's \
        token sees what everyone may know.",
    rights: Rights::Everyone,
    annotations: Annotations::LOOKS,
    input: || object(&json!({ "entity": name("Its name, alias or id") }), &["entity"]),
    output: || {
        let tie = json!({ "kind": string(), "from": string(), "to": string() });
        let members = json!({
            "id": string(), "kind": string(), "name": string(), "aliases": strings(),
            "description": string(), "attributes": { "type": "object" }, "tags": strings(),
            "relations": { "type": "array", "items": result(&tie, &["kind", "from", "to"]) },
            "secret": boolean(),
        });
        result(&members, &["id", "kind", "name", "description", "relations"])
    },
    run: |call| entity(call).boxed(),
};

#[derive(Deserialize)]
struct Search {
    query: String,
    limit: Option<u32>,
}

#[derive(Deserialize)]
struct Sought {
    entity: String,
}

async fn search(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let Search { query, limit } = call.read()?;
    let limit = usize::try_from(limit.unwrap_or(HITS).min(HITS_MAX))?;
    let (scope, store) = (call.played().await?, call.store());
    call.handles().sessions.caught_up().await?;
    let text = ContentWords::sought(&query);
    let of_lines = LineQuery { text: text.clone(), limit, ..LineQuery::default() };
    let kinds = vec![ItemKind::Fact];
    let of_facts = ItemQuery { text, kinds, limit, ..ItemQuery::default() };
    let (lines, facts) = tokio::try_join!(
        store.search(&scope, of_lines, call.viewer()),
        store.search_items(&scope, of_facts, call.viewer()),
    )?;
    let is_dm = call.is_dm();
    let lines = lines.iter().map(|hit| {
        let mut line = shown(&hit.line, is_dm);
        line["session"] = hit.line.said.session.as_str().into();
        line
    });
    let facts = facts.iter().map(|hit| {
        let mut fact = json!({ "session": hit.item.session, "text": hit.item.text });
        if is_dm {
            fact["secret"] = hit.item.visibility.is_gated().into();
        }
        fact
    });
    let (lines, facts) = (lines.collect::<Vec<Value>>(), facts.collect::<Vec<Value>>());
    Ok(json!({ "lines": lines, "facts": facts }).into())
}

async fn entity(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let Sought { entity: sought } = call.read()?;
    let (scope, store) = (call.played().await?, call.store());
    call.handles().world.seed(&scope).await?;
    let mut found = store.snapshot(&scope, &sought, call.viewer()).await?;
    if found.is_none() {
        let named = Some(sought.clone());
        let filter = EntityFilter { named, limit: 1, ..EntityFilter::default() };
        let entity = store.entities(&scope, filter, call.viewer()).await?.pop();
        if let Some(Entity { id, .. }) = entity {
            found = store.snapshot(&scope, &id, call.viewer()).await?;
        }
    }
    match found {
        Some(found) => Ok(told(&found, call.is_dm()).into()),
        // Or this token may not see it: both have one answer.
        None => {
            Err(format!("nothing is known of '{sought}' (memory.search looks for words)").into())
        }
    }
}

fn told(found: &Snapshot, is_dm: bool) -> Value {
    let Snapshot { entity, ties } = found;
    let name = |id: &str, other: &Entity| match id == other.id {
        true => other.name.clone(),
        false => entity.name.clone(),
    };
    let relations = ties.iter().take(TIES_MAX).map(|Tie { relation, other }| {
        json!({
            "kind": relation.key.kind,
            "from": name(&relation.key.from, other),
            "to": name(&relation.key.to, other),
        })
    });
    let mut told = json!({
        "id": entity.id,
        "kind": entity.kind,
        "name": entity.name,
        "aliases": entity.aliases,
        "description": entity.description,
        "attributes": entity.attributes,
        "tags": entity.tags,
        "relations": relations.collect::<Vec<Value>>(),
    });
    if is_dm {
        told["secret"] = entity.is_gated().into();
    }
    told
}
