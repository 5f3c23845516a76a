//! Facts found by words and by meaning or spelling, ranked together. A slow embedder is not waited
//! for.

use std::{collections::HashMap, time::Duration};

use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{
    super::describe::text,
    archive::Meaning,
    look::{Look, cut, failed},
};
use crate::{
    domain::{redact, visible},
    logic::content_words::ContentWords,
    memory::{Item, ItemHit, ItemKind, ItemQuery, TranscriptLine, VectorQuery},
    tools::CallError,
};

/// Default number of results.
const TOP: usize = 10;
/// Constant of reciprocal rank fusion: a larger one flattens the lists' first places.
const FLAT: f64 = 60.0;
/// Longest wait for the question's vector.
const PATIENCE: Duration = Duration::from_millis(400);

/// Note on a search without an embedder.
const BY_SPELLING: &str = "by words and their spelling, not by meaning (no embedder is configured)";

/// A hit with the summed scores of all lists.
struct Ranked {
    found: Piece,
    score: f64,
}

enum Piece {
    Item(Item),
    Line(Box<TranscriptLine>),
}

impl Look<'_> {
    /// Known facts, best first.
    pub async fn facts(
        &self,
        arguments: &Map<String, Value>,
        meaning: &Meaning,
    ) -> Result<Value, CallError> {
        let asked = text(arguments, "query").unwrap_or_default();
        let top = arguments.get("top_k").and_then(Value::as_u64);
        let top = top.and_then(|top| usize::try_from(top).ok()).unwrap_or(TOP);
        let query =
            ItemQuery { text: ContentWords::sought(asked), limit: top, ..ItemQuery::default() };
        let (items, lines, near) = tokio::join!(
            self.store.search_items(self.scope, query, self.viewer.clone()),
            self.hits(asked, None, top),
            self.near(asked, meaning, top),
        );
        let (near, note) = match near {
            Ok(near) if meaning.is_spelling() => (near, Some(BY_SPELLING)),
            Ok(near) => (near, None),
            Err(note) => (Vec::new(), Some(note)),
        };
        let mut ranked: HashMap<String, Ranked> = HashMap::new();
        for list in [items.map_err(failed)?, near] {
            for (rank, found) in list.into_iter().enumerate() {
                add(&mut ranked, found.item.id.clone(), rank, Piece::Item(found.item));
            }
        }
        for (rank, hit) in lines?.into_iter().enumerate() {
            let key = hit.line.said.uid.0.clone();
            add(&mut ranked, key, rank, Piece::Line(Box::new(hit.line)));
        }
        let mut ranked: Vec<Ranked> = with_lines_for_chunks(ranked.into_values().collect());
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        let shown = ranked.iter().take(top).map(|it| self.fact(&it.found));
        let mut value = json!({"results": shown.collect::<Vec<_>>()});
        if let Some(note) = note {
            value["searched"] = note.into();
        }
        if ranked.is_empty() {
            value["note"] = "nothing is known of that".into();
        }
        Ok(value)
    }

    /// Items of similar meaning or, without an embedder, similar spelling; `Err`: why the search
    /// failed.
    async fn near(
        &self,
        asked: &str,
        meaning: &Meaning,
        limit: usize,
    ) -> Result<Vec<ItemHit>, &'static str> {
        // An embedding service may see the question: strip secrets, also split ones.
        let vectors = meaning.embedder.embed(&[redact::without_credentials(&visible(asked))]);
        let values = match timeout(PATIENCE, vectors).await {
            Ok(Ok(mut vectors)) => vectors.pop().unwrap_or_default(),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a question to the memory has no vector");
                return Err("by words alone (the embedder failed)");
            }
            Err(_) => return Err("by words alone (the embedder was late)"),
        };
        let query = VectorQuery { model: meaning.model.clone(), values, kinds: Vec::new(), limit };
        let near = self.store.nearest(self.scope, query, self.viewer.clone()).await;
        let mut near = near.map_err(|error| {
            tracing::warn!(%error, "the memory was searched by words alone");
            "by words alone (the memory failed)"
        })?;
        if meaning.is_spelling() {
            let content = ContentWords::of(asked);
            near.retain(|found| content.are_in(&found.item.text));
        }
        Ok(near)
    }

    fn fact(&self, found: &Piece) -> Value {
        match found {
            Piece::Line(line) => self.told(line),
            Piece::Item(item) => {
                self.note(item.visibility.is_gated());
                json!({
                    "when": self.when(item.made),
                    "text": match item.kind {
                        ItemKind::Chunk => item.text.clone(),
                        ItemKind::Fact => cut(&item.text),
                    },
                    "session": item.session,
                })
            }
        }
    }
}

fn add(ranked: &mut HashMap<String, Ranked>, key: String, rank: usize, found: Piece) {
    // Ranks are small, so the cast is exact.
    #[expect(clippy::cast_precision_loss, reason = "ranks are at most a hundred")]
    let score = 1.0 / (FLAT + rank as f64 + 1.0);
    ranked.entry(key).and_modify(|it| it.score += score).or_insert(Ranked { found, score });
}

/// Adds the scores of items to their source lines, and drops chunks that contain such lines.
fn with_lines_for_chunks(mut ranked: Vec<Ranked>) -> Vec<Ranked> {
    let chunks: Vec<(Option<String>, (u64, u64), f64)> = ranked
        .iter()
        .filter_map(|it| match &it.found {
            Piece::Item(item) => Some((item.session.clone(), item.lines?, it.score)),
            Piece::Line(_) => None,
        })
        .collect();
    let holds = |(session, (first, last), _): &(Option<String>, (u64, u64), f64),
                 line: &TranscriptLine| {
        session.as_deref() == Some(&line.said.session) && (*first..=*last).contains(&line.seq)
    };
    let mut told = vec![false; chunks.len()];
    for it in &mut ranked {
        let Piece::Line(line) = &it.found else { continue };
        for (chunk, told) in chunks.iter().zip(&mut told) {
            if holds(chunk, line) {
                it.score += chunk.2;
                *told = true;
            }
        }
    }
    ranked.retain(|it| match &it.found {
        Piece::Item(item) if item.kind == ItemKind::Chunk => !chunks
            .iter()
            .zip(&told)
            .any(|(chunk, told)| *told && chunk.0 == item.session && Some(chunk.1) == item.lines),
        _ => true,
    });
    ranked
}
