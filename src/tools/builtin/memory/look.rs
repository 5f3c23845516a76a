//! One query to the store, with an answer made to be spoken. **Never**: searches for another viewer
//! than its own.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};

use super::super::describe::text;
use crate::{
    logic::{
        ago::ago,
        content_words::ContentWords,
        words::{fold, shortened},
    },
    memory::{
        Entity, EntityFilter, EntityKind, Error, LineFilter, LineHit, LineQuery, MemoryStore,
        Scope, SessionEntry, SessionFilter, Snapshot, Tie, TranscriptLine, Utterance, Viewer,
    },
    tools::{CallError, CallErrorKind, framed_if},
};

/// Most entities listed.
const ENTITIES_MAX: usize = 10;
/// Most relations of one entity.
const TIES_MAX: usize = 12;
/// Default number of lines.
const LINES: usize = 5;
/// Lines shown of a session without a summary.
const EXTRACT: usize = 12;
/// Longest line shown, in characters.
const LINE_MAX: usize = 300;

pub struct Look<'a> {
    pub store: &'a dyn MemoryStore,
    pub scope: &'a Scope,
    /// Entries this viewer may not see are not found.
    pub viewer: Viewer,
    /// The NPCs as entities, for those missing in the store.
    pub cast: &'a [Entity],
    /// The current session.
    pub session: &'a str,
    /// Unix time in ms.
    pub now: i64,
    /// Set once a result is not public.
    pub is_gated: AtomicBool,
}

impl Look<'_> {
    pub async fn entities(&self, arguments: &Map<String, Value>) -> Result<Value, CallError> {
        let (name, kind) = (text(arguments, "name"), arguments.get("type").cloned());
        // The schema has checked the type.
        let kind = kind.and_then(|kind| serde_json::from_value::<EntityKind>(kind).ok());
        let filter = EntityFilter {
            containing: name.map(str::to_owned),
            kind,
            limit: ENTITIES_MAX,
            ..EntityFilter::default()
        };
        let mut found = self.entities_of(filter).await?;
        found.extend(self.cast_of(name.unwrap_or_default(), kind, &found));
        found.truncate(ENTITIES_MAX);
        self.note(found.iter().any(Entity::is_gated));
        let results: Vec<Value> = found.iter().map(shown).collect();
        Ok(noted(json!({"results": results}), results.is_empty(), "nothing of that name is known"))
    }

    /// NPCs whose names contain `name`, without those in `found`.
    fn cast_of(&self, name: &str, kind: Option<EntityKind>, found: &[Entity]) -> Vec<Entity> {
        if kind.is_some_and(|kind| kind != EntityKind::Npc) {
            return Vec::new();
        }
        let name = fold(name);
        let fits = |npc: &&Entity| names(npc).any(|it| it.contains(&name));
        let is_new = |npc: &&Entity| !found.iter().any(|it| is_same(it, npc));
        self.cast.iter().filter(fits).filter(is_new).cloned().collect()
    }

    async fn entities_of(&self, filter: EntityFilter) -> Result<Vec<Entity>, CallError> {
        self.store.entities(self.scope, filter, self.viewer.clone()).await.map_err(failed)
    }

    /// One entity and its relations.
    pub async fn summary(&self, arguments: &Map<String, Value>) -> Result<Value, CallError> {
        let asked = text(arguments, "entity_id").unwrap_or_default();
        let snapshot = |id: String| async move {
            self.store.snapshot(self.scope, &id, self.viewer.clone()).await.map_err(failed)
        };
        let mut found = snapshot(asked.to_owned()).await?;
        if found.is_none() {
            let named = Some(asked.to_owned());
            let filter = EntityFilter { named, limit: 1, ..EntityFilter::default() };
            if let Some(entity) = self.entities_of(filter).await?.pop() {
                found = snapshot(entity.id).await?;
            }
        }
        if found.is_none() {
            let name = fold(asked);
            let npc = self.cast.iter().find(|npc| names(npc).any(|it| it == name));
            found = npc.map(|npc| Snapshot { entity: npc.clone(), ties: Vec::new() });
        }
        let found = found.ok_or_else(|| {
            let what = format!("nothing is known of '{asked}' (query_entities lists what is)");
            CallError::new(CallErrorKind::Tool, what)
        })?;
        let ties = found.ties.get(..TIES_MAX).unwrap_or(&found.ties);
        let is_gated = |tie: &Tie| tie.relation.visibility.is_gated() || tie.other.is_gated();
        self.note(found.entity.is_gated() || ties.iter().any(is_gated));
        let mut value = shown(&found.entity);
        value["relations"] = ties.iter().map(relation).collect();
        if !found.entity.attributes.is_empty() {
            value["more"] = json!(found.entity.attributes);
        }
        Ok(value)
    }

    pub async fn lines(&self, arguments: &Map<String, Value>) -> Result<Value, CallError> {
        let session = match text(arguments, "session_id").filter(|id| !id.trim().is_empty()) {
            Some(id) => Some(self.session_called(id).await?.session.id),
            None => None,
        };
        let limit = arguments.get("limit").and_then(Value::as_u64);
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(LINES);
        let query = text(arguments, "query").unwrap_or_default();
        let hits = self.hits(query, session, limit).await?;
        let results: Vec<Value> = hits.iter().map(|hit| self.told(&hit.line)).collect();
        Ok(noted(json!({"results": results}), results.is_empty(), NOTHING))
    }

    /// Lines that match `query` and say more than it does.
    pub async fn hits(
        &self,
        query: &str,
        session: Option<String>,
        limit: usize,
    ) -> Result<Vec<LineHit>, CallError> {
        let (asked, text) = (query, ContentWords::sought(query));
        // The search also finds earlier questions; they are dropped below.
        let query = LineQuery { text, session, limit: 2 * limit, ..LineQuery::default() };
        let hits = self.store.search(self.scope, query, self.viewer.clone()).await;
        let hits = hits.map_err(failed)?.into_iter();
        let says_more = |hit: &LineHit| {
            // Addressing the NPC adds nothing: "Greymantle, what did I promise?"
            let npc = hit.line.said.npc.as_deref().unwrap_or_default();
            ContentWords::of(&format!("{asked} {npc}")).lack(&hit.line.said.text)
        };
        let hits = hits.filter(|hit| !hit.line.said.is_open_in(self.session));
        Ok(hits.filter(says_more).take(limit).collect())
    }

    pub async fn history(&self, arguments: &Map<String, Value>) -> Result<Value, CallError> {
        let query = text(arguments, "query").unwrap_or_default();
        let mut sessions: Vec<(String, Vec<TranscriptLine>)> = Vec::new();
        for hit in self.hits(query, None, 3 * LINES).await? {
            let line = hit.line;
            match sessions.iter_mut().find(|(id, _)| *id == line.said.session) {
                Some((_, lines)) => lines.push(line),
                None => sessions.push((line.said.session.clone(), vec![line])),
            }
        }
        let results: Vec<Value> = sessions
            .iter()
            .take(LINES)
            .map(|(id, lines)| {
                let when = lines.first().map(|line| self.when(line.said.at));
                let lines: Vec<String> = lines.iter().take(LINES).map(spoken).collect();
                json!({"session": id, "when": when, "lines": lines})
            })
            .collect();
        Ok(noted(json!({"results": results}), results.is_empty(), NOTHING))
    }

    /// Summary of a session for the game master; otherwise its last lines visible to the viewer.
    pub async fn session_summary(
        &self,
        arguments: &Map<String, Value>,
    ) -> Result<Value, CallError> {
        let entry = self.session_called(text(arguments, "session_id").unwrap_or_default()).await?;
        let id = entry.session.id.clone();
        let when = entry.last_at.or(entry.session.started).map(|at| self.when(at));
        let mut value = json!({"session": id, "when": when});
        // A summary may tell of scenes the NPC missed.
        if let (Viewer::Dm, Some(summary)) = (&self.viewer, entry.session.summary) {
            self.note(true);
            value["summary"] = summary.into();
            return Ok(value);
        }
        let filter = LineFilter { session: Some(id), limit: EXTRACT, ..LineFilter::default() };
        let lines = self.store.lines(self.scope, filter, self.viewer.clone()).await;
        let lines: Vec<String> = lines.map_err(failed)?.iter().map(spoken).collect();
        value["note"] = match lines.is_empty() {
            true => "nothing was said there that you have heard".into(),
            false => "this was said last, of what you have heard".into(),
        };
        value["lines"] = lines.into();
        Ok(value)
    }

    async fn session_called(&self, called: &str) -> Result<SessionEntry, CallError> {
        let called = called.trim();
        let sessions =
            |filter| async { self.store.sessions(self.scope, filter).await.map_err(failed) };
        let by_id = |id: &str| {
            let id = Some(id.to_owned());
            sessions(SessionFilter { id, limit: 1 })
        };
        let found = match called.to_lowercase().as_str() {
            "this" | "current" => by_id(self.session).await?.pop(),
            "last" | "previous" => {
                let latest = sessions(SessionFilter { limit: 2, ..SessionFilter::default() });
                latest.await?.into_iter().find(|entry| entry.session.id != self.session)
            }
            _ => by_id(called).await?.pop(),
        };
        found.ok_or_else(|| {
            let what = format!("there is no session '{called}' (last, this, or an id)");
            CallError::new(CallErrorKind::InvalidArguments, what)
        })
    }

    /// A line with its speaker and time.
    pub fn told(&self, line: &TranscriptLine) -> Value {
        let said = &line.said;
        let mut value = json!({
            "who": line.said.who(),
            "when": self.when(said.at),
            "text": for_model(said),
            "session": said.session,
        });
        if let Some(npc) = said.npc.as_ref().filter(|_| said.speaker_id.is_some()) {
            value["to"] = npc.as_str().into();
        }
        value
    }

    /// Records that a result is not public.
    pub fn note(&self, is_gated: bool) {
        self.is_gated.fetch_or(is_gated, Ordering::Relaxed);
    }

    /// How long ago `at` was, in words.
    pub fn when(&self, at: i64) -> String {
        ago(self.now.saturating_sub(at))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape map_err asks for")]
pub fn failed(error: Error) -> CallError {
    CallError::new(CallErrorKind::Tool, error.to_string())
}

/// Note on an answer without lines.
const NOTHING: &str = "nothing of that was said in your hearing";

/// `value`, with `note` if it is empty.
fn noted(mut value: Value, is_empty: bool, note: &str) -> Value {
    if is_empty {
        value["note"] = note.into();
    }
    value
}

fn spoken(line: &TranscriptLine) -> String {
    format!("{}: {}", line.said.who(), for_model(&line.said))
}

fn for_model(said: &Utterance) -> String {
    framed_if(said.is_from_outside(), cut(&said.text))
}

pub fn cut(text: &str) -> String {
    shortened(text, LINE_MAX)
}

fn names(of: &Entity) -> impl Iterator<Item = String> {
    std::iter::once(&of.name).chain(&of.aliases).map(|name| fold(name))
}

/// True if `entity` is `npc`: their names overlap.
fn is_same(entity: &Entity, npc: &Entity) -> bool {
    let (own, theirs) = (fold(&entity.name), fold(&npc.name));
    names(entity).any(|name| name == theirs) || names(npc).any(|name| name == own)
}

fn shown(entity: &Entity) -> Value {
    let mut value = json!({ "id": entity.id, "name": entity.name, "type": entity.kind });
    if !entity.description.trim().is_empty() {
        value["about"] = entity.description.trim().into();
    }
    if !entity.aliases.is_empty() {
        value["also"] = json!(entity.aliases);
    }
    value
}

/// A relation as a sentence.
fn relation(tie: &Tie) -> Value {
    let (key, other) = (&tie.relation.key, &tie.other);
    let kind = key.kind.replace('_', " ");
    match other.id == key.to {
        true => format!("{kind} {}", other.name),
        false => format!("{} {kind} it", other.name),
    }
    .into()
}
