//! An NPC's memories, looked up while its turn begins.
//!
//! Entry types: [`Memory`], [`Recaller`]. The question is the utterance, the viewer and the text
//! its model reads anyway. Five parts are looked up side by side: relations, things named, facts
//! about them, earlier lines, and the last session if asked for. All must arrive within
//! `recall_timeout`; the turn continues without late or failed parts, which the report names. The
//! store's queries only return what the viewer may know. The limits below keep the addition to the
//! prompt short.

mod memory;
mod names;
#[cfg(test)]
mod tests;

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::FutureExt;
use serde::Serialize;
use tokio::time::{Instant, error::Elapsed, timeout_at};

pub use self::memory::Memory;
use self::names::KnownNames;
use crate::{
    domain::{Message, Npc, Said, SessionId},
    engine::Recall,
    logic::{
        ago::ago,
        content_words::{ContentWords, asks_for_last_session},
        prompt::Recalled,
        words::Words,
    },
    memory::{
        Entity, EntityFilter, Error, Item, ItemKind, ItemQuery, LineFilter, LineQuery,
        SessionFilter, Tie, TranscriptLine, Viewer,
    },
    tools::{builtin::viewer, framed_if},
};

/// Most relations.
const RELATIONS: usize = 6;
/// Most things named.
const NAMED: usize = 4;
/// Facts that are looked up, and those that are used.
const FACTS: (usize, usize) = (8, 3);
/// Lines that are looked up, and those that are used.
const LINES: (usize, usize) = (16, 4);
/// Lines that represent the last session.
const LAST: usize = 8;

/// Outcome of a lookup, without the memories.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecallLine {
    pub ms: f64,
    pub found: usize,
    /// Parts that were late or failed.
    pub late: Vec<&'static str>,
}

/// Set once the lookup has ended.
pub type RecallTold = Arc<OnceLock<RecallLine>>;

pub struct Question {
    /// The NPC whose knowledge applies.
    viewer: Viewer,
    names: Vec<String>,
    /// The utterance addressed to the viewer.
    utterance: String,
    /// Text in the prompt anyway; not recalled again.
    read: String,
}

impl Question {
    /// `utterance` was addressed to `npc` after `history`.
    pub fn new(npc: &Npc, utterance: &str, history: &[Message]) -> Self {
        let read = history.iter().map(|message| match message {
            Message::User(Said { text, .. })
            | Message::Assistant { text, .. }
            | Message::Summary { text, .. } => text.as_str(),
            Message::Tool { content, .. } => content.as_str(),
            Message::System(_) => "",
        });
        Self {
            viewer: viewer(npc),
            names: std::iter::once(&npc.name).chain(&npc.aliases).cloned().collect(),
            utterance: utterance.to_owned(),
            read: read.collect::<Vec<_>>().join("\n"),
        }
    }
}

pub struct Recaller {
    memory: Memory,
    session: SessionId,
    known: KnownNames,
}

impl Recaller {
    pub fn new(memory: Memory, session: SessionId) -> Self {
        Self { memory, session, known: KnownNames::default() }
    }

    /// Current Unix time in ms.
    pub fn unix(&self) -> i64 {
        (self.memory.now)()
    }

    /// Makes the next lookup read the world's names again.
    pub fn read_names_again(&self) {
        self.known.forget();
    }

    /// A lookup that begins when first polled and lasts `timeout` at most, and the cell for its
    /// outcome.
    pub fn recall(self: &Arc<Self>, question: Question, timeout: Duration) -> (Recall, RecallTold) {
        let (recaller, told) = (Arc::clone(self), RecallTold::default());
        let tell = Arc::clone(&told);
        let recall = async move {
            let began = Instant::now();
            let (recalled, late) = recaller.look(&question, began + timeout).await;
            let ms = began.elapsed().as_secs_f64() * 1e3;
            tracing::debug!(session = %recaller.session, ms, found = recalled.len(), ?late, "recalled");
            // Only set here, so it is empty.
            _ = tell.set(RecallLine { ms, found: recalled.len(), late });
            recalled
        };
        (recall.boxed().shared(), told)
    }

    async fn look(&self, question: &Question, by: Instant) -> (Recalled, Vec<&'static str>) {
        let gated = AtomicBool::new(false);
        let (relations, named, facts, said, last) = tokio::join!(
            timeout_at(by, self.relations(question, &gated)),
            timeout_at(by, self.named(question, &gated)),
            timeout_at(by, self.facts(question, &gated)),
            timeout_at(by, self.said(question)),
            timeout_at(by, self.last_session(question)),
        );
        let mut late = Vec::new();
        let mut recalled = Recalled {
            relations: taken("relations", relations, &mut late),
            named: taken("names", named, &mut late),
            said: taken("earlier lines", said, &mut late),
            last_session: taken("last session", last, &mut late),
            is_gated: gated.into_inner(),
        };
        recalled.named.extend(taken("facts", facts, &mut late));
        (recalled, late)
    }

    /// Relations of the NPC; sets `gated` if one of them is not public.
    async fn relations(
        &self,
        question: &Question,
        gated: &AtomicBool,
    ) -> Result<Vec<String>, Error> {
        let known = self.known.get(&self.memory).await?;
        let Some(id) = question.names.iter().find_map(|name| known.id_of(name)) else {
            return Ok(Vec::new());
        };
        let Memory { store, scope, .. } = &self.memory;
        let snapshot = store.snapshot(scope, id, question.viewer.clone()).await?;
        let ties = snapshot.map(|it| it.ties).unwrap_or_default();
        let ties = ties.iter().take(RELATIONS);
        let ties = ties
            .inspect(|tie| note(gated, tie.relation.visibility.is_gated() || tie.other.is_gated()));
        Ok(ties.map(related).collect())
    }

    /// The viewer's knowledge of things that were named.
    async fn named(&self, question: &Question, gated: &AtomicBool) -> Result<Vec<String>, Error> {
        let known = self.known.get(&self.memory).await?;
        let own = question.names.iter().find_map(|name| known.id_of(name));
        let mut ids = known.named_in(&Words::of(&question.utterance));
        ids.retain(|id| Some(*id) != own);
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids = Some(ids.into_iter().map(str::to_owned).collect());
        let filter = EntityFilter { ids, limit: NAMED, ..EntityFilter::default() };
        let Memory { store, scope, .. } = &self.memory;
        let found = store.entities(scope, filter, question.viewer.clone()).await?;
        note(gated, found.iter().any(Entity::is_gated));
        Ok(found.into_iter().map(|it| format!("{}: {}", it.name, it.description)).collect())
    }

    /// The game master's facts about things that were mentioned.
    async fn facts(&self, question: &Question, gated: &AtomicBool) -> Result<Vec<String>, Error> {
        let content = ContentWords::of(&question.utterance);
        if content.is_empty() {
            return Ok(Vec::new());
        }
        let (text, kinds) = (content.text(), vec![ItemKind::Fact]);
        let query = ItemQuery { text, kinds, limit: FACTS.0, ..ItemQuery::default() };
        let Memory { store, scope, .. } = &self.memory;
        let found = store.search_items(scope, query, question.viewer.clone()).await?;
        let fits = |it: &Item| content.fit(&it.text) && !question.read.contains(&it.text);
        let facts = found.into_iter().map(|it| it.item).filter(fits).take(FACTS.1);
        let facts = facts.inspect(|it| note(gated, it.visibility.is_gated()));
        Ok(facts.map(|it| it.text).collect())
    }

    /// Earlier lines that the viewer received and that relate to the utterance.
    async fn said(&self, question: &Question) -> Result<Vec<String>, Error> {
        let content = ContentWords::of(&question.utterance);
        if content.is_empty() {
            return Ok(Vec::new());
        }
        let query = LineQuery { text: content.text(), limit: LINES.0, ..LineQuery::default() };
        let Memory { store, scope, .. } = &self.memory;
        let hits = store.search(scope, query, question.viewer.clone()).await?;
        let lines = hits.into_iter().map(|hit| hit.line).filter(|line| {
            content.fit(&line.said.text)
                && !question.read.contains(&line.said.text)
                && !line.said.is_open_in(&self.session.0)
        });
        let now = (self.memory.now)();
        Ok(lines.take(LINES.1).map(|line| told(&line, now)).collect())
    }

    /// Lines of the previous session that the viewer received, if the utterance asks for them.
    async fn last_session(&self, question: &Question) -> Result<Vec<String>, Error> {
        if !asks_for_last_session(&question.utterance) {
            return Ok(Vec::new());
        }
        let Memory { store, scope, now } = &self.memory;
        let filter = SessionFilter { limit: 2, ..SessionFilter::default() };
        let sessions = store.sessions(scope, filter).await?;
        let Some(last) = sessions.into_iter().find(|it| it.session.id != self.session.0) else {
            return Ok(Vec::new());
        };
        let session = Some(last.session.id);
        let filter = LineFilter { session, limit: LAST, ..LineFilter::default() };
        let lines = store.lines(scope, filter, question.viewer.clone()).await?;
        Ok(lines.iter().map(|line| told(line, now())).collect())
    }
}

/// Sets `gated` if `is`.
fn note(gated: &AtomicBool, is: bool) {
    gated.fetch_or(is, Ordering::Relaxed);
}

/// Memories of one part; notes a late or failed part.
fn taken(
    part: &'static str,
    outcome: Result<Result<Vec<String>, Error>, Elapsed>,
    late: &mut Vec<&'static str>,
) -> Vec<String> {
    let found = match outcome {
        Ok(Ok(found)) => return found,
        Ok(Err(error)) => Some(error),
        Err(_) => None,
    };
    late.push(part);
    if let Some(error) = found {
        tracing::warn!(part, %error, "an npc does not remember");
    }
    Vec::new()
}

fn related(tie: &Tie) -> String {
    let (key, other) = (&tie.relation.key, &tie.other.name);
    let kind = key.kind.replace('_', " ");
    match tie.other.id == key.to {
        true => format!("you {kind} {other}"),
        false => format!("{other} {kind} you"),
    }
}

/// A line with speaker, listener and time.
fn told(line: &TranscriptLine, now: i64) -> String {
    let said = &line.said;
    let who = said.who();
    let to = said.npc.as_ref().filter(|_| said.speaker_id.is_some());
    let to = to.map(|npc| format!(" to {npc}")).unwrap_or_default();
    let text = framed_if(said.is_from_outside(), said.text.clone());
    format!("{who}{to}, {}: {text}", ago(now.saturating_sub(said.at)))
}
