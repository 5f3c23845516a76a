//! Chooses the tools that fit an utterance (see `mod.rs`).

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::{dense::Dense, words};
use crate::tools::{CatalogEntry, Entries, Snapshot, VisibleTools};

/// Default list length with an embedder.
const TOP_K: usize = 8;
/// Default list length without one: words miss what meanings would find.
const BY_WORDS: usize = 40;
/// Any stem in common is enough.
const LEXICAL_THRESHOLD: f32 = f32::MIN_POSITIVE;
/// Bonus for a recent category; the best match by words is 1.
const LEXICAL_BOOST: f32 = 0.3;
/// Bonus for a recent category, on the scale of cosines.
const DENSE_BOOST: f32 = 0.1;

/// Settings of selection.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectionOptions {
    /// Longer lists are narrowed; `None`: 8 with an embedder, else 40.
    pub top_k: Option<usize>,
    /// Tools always offered: identities, patterns and bare names as in whitelists.
    pub core: Vec<String>,
    /// Least cosine between an utterance and a tool.
    pub threshold: f32,
}

impl Default for SelectionOptions {
    fn default() -> Self {
        Self { top_k: None, core: Vec::new(), threshold: 0.7 }
    }
}

/// Input of a selection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// The utterance, or a model's search text.
    pub utterance: &'a str,
    /// Categories of tools called or named in the last turns.
    pub recent_categories: &'a [Arc<str>],
    /// Names always offered if visible: found by `discover_tools`, or required by a policy.
    pub found: &'a [Arc<str>],
}

#[derive(Default)]
pub struct Selector {
    pub options: SelectionOptions,
    /// `None`: no embedder.
    pub dense: Option<Arc<Dense>>,
}

/// Swapped when the configuration changes.
pub type Selecting = ArcSwap<Selector>;

/// Tools offered with every utterance.
pub struct AlwaysOffered {
    pub all: Vec<Arc<CatalogEntry>>,
    /// Number of them that count towards `top_k`.
    pub core: usize,
}

#[derive(Clone, Copy)]
struct Scale {
    /// Least score that counts, bonus included.
    threshold: f32,
    /// Bonus for a recent category.
    boost: f32,
}

impl Selector {
    pub fn most_whole(&self) -> usize {
        let most = if self.dense.is_some() { TOP_K } else { BY_WORDS };
        self.options.top_k.unwrap_or(most)
    }

    /// Places for tools chosen by meaning.
    pub fn top_k(&self) -> usize {
        self.options.top_k.unwrap_or(TOP_K)
    }

    /// `tools` if words decide and they are few enough to list whole; else empty.
    pub fn whole<'t>(&self, tools: Vec<&'t Arc<CatalogEntry>>) -> Vec<&'t Arc<CatalogEntry>> {
        match self.dense.is_none() && tools.len() <= BY_WORDS {
            true => tools,
            false => Vec::new(),
        }
    }

    /// The core list, and tools found earlier.
    pub fn kept(&self, visible: &VisibleTools, query: &Query<'_>) -> AlwaysOffered {
        let identities = visible.iter().map(|entry| &*entry.tool.identity);
        let (core, _) = Entries::resolve(&self.options.core, identities);
        let mut kept = AlwaysOffered { all: Vec::new(), core: 0 };
        for entry in visible.iter() {
            let is_core = core.contains(&entry.tool.identity);
            let (identity, name) = (&*entry.tool.identity, &*entry.spec.name);
            let is_found = query
                .found
                .iter()
                .any(|it| **it == *name || **it == *identity || **it == *entry.tool.bare_name());
            if is_core || is_found {
                kept.core += usize::from(is_core);
                kept.all.push(Arc::clone(entry));
            }
        }
        kept
    }

    /// The `places` best of `tools` by meaning, else those that share a stem (at least 40 places),
    /// best first; ties keep their order.
    pub async fn best<'t>(
        &self,
        snapshot: &Snapshot,
        tools: &[&'t Arc<CatalogEntry>],
        query: &Query<'_>,
        places: usize,
    ) -> Vec<&'t Arc<CatalogEntry>> {
        let (mut fits, mut places) = (Vec::new(), places);
        if let Some(dense) = &self.dense
            && let Some(scores) = dense.scores(query.utterance, tools).await
        {
            fits = fitting(
                tools,
                scores,
                query,
                Scale { threshold: self.options.threshold, boost: DENSE_BOOST },
            );
        }
        if fits.is_empty() {
            // No embedder, no vector in time, or nothing near enough: words decide.
            places = places.max(BY_WORDS);
            let scores = by_words(snapshot, tools, query.utterance);
            fits = fitting(
                tools,
                scores,
                query,
                Scale { threshold: LEXICAL_THRESHOLD, boost: LEXICAL_BOOST },
            );
        }
        fits.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        fits.into_iter().take(places).map(|(_, entry)| entry).collect()
    }
}

/// Scores by words in common; the best is 1.
fn by_words(snapshot: &Snapshot, tools: &[&Arc<CatalogEntry>], utterance: &str) -> Vec<f32> {
    let all = snapshot.index().scores(&words::of_text(utterance));
    let score = |entry: &&Arc<CatalogEntry>| {
        let place = snapshot.place(&entry.tool.identity);
        place.and_then(|place| all.get(place)).copied().unwrap_or_default()
    };
    let scores: Vec<f32> = tools.iter().map(score).collect();
    let best = scores.iter().copied().fold(0.0, f32::max);
    if best > 0.0 { scores.into_iter().map(|score| score / best).collect() } else { scores }
}

/// The tools whose score with bonus reaches `threshold`.
fn fitting<'t>(
    tools: &[&'t Arc<CatalogEntry>],
    scores: Vec<f32>,
    query: &Query<'_>,
    scale: Scale,
) -> Vec<(f32, &'t Arc<CatalogEntry>)> {
    let scored = tools.iter().zip(scores).map(|(entry, score)| {
        let is_recent = |category: &str| query.recent_categories.iter().any(|it| **it == *category);
        let at_hand = entry.tool.categories().any(is_recent);
        (if at_hand { score + scale.boost } else { score }, *entry)
    });
    scored.filter(|(score, _)| *score >= scale.threshold).collect()
}
