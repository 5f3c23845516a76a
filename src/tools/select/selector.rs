//! Selection of the tools that fit an utterance.
//!
//! Entry type: [`Selector`]. **Never**: offers what it was not given.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::{dense::Dense, words};
use crate::tools::{CatalogEntry, Entries, Snapshot, VisibleTools};

/// Tools listed at once, where meanings choose them and the configuration says nothing.
const TOP_K: usize = 8;
/// Tools listed at once, where words choose them: words miss what meanings would find.
const BY_WORDS: usize = 40;
/// Least score by words: one stem in common is enough.
const LEXICAL_THRESHOLD: f32 = f32::MIN_POSITIVE;
/// Added for a category the table is at, on a scale where the best match of words is 1.
const LEXICAL_BOOST: f32 = 0.3;
/// Added for such a category, on the scale of cosines.
const DENSE_BOOST: f32 = 0.1;

/// Settings for narrowing lists of tools; built by `config`.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectionOptions {
    /// More visible tools than this are narrowed; `None`: 8 with an embedder, else 40.
    pub top_k: Option<usize>,
    /// Tools that always stay: identities, patterns and bare names as in whitelists.
    pub core: Vec<String>,
    /// Least cosine between an utterance and a tool, with an embedder.
    pub threshold: f32,
}

impl Default for SelectionOptions {
    fn default() -> Self {
        Self { top_k: None, core: Vec::new(), threshold: 0.7 }
    }
}

/// Input for choosing tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// The utterance, or the search text of a model.
    pub utterance: &'a str,
    /// Categories of tools called or named in the last turns.
    pub recent_categories: &'a [Arc<str>],
    /// Names that are offered in any case, if they are visible: what `discover_tools` found, what
    /// a policy demands.
    pub found: &'a [Arc<str>],
}

/// The current way of choosing tools.
#[derive(Default)]
pub struct Selector {
    /// Bounds and thresholds of the configuration.
    pub options: SelectionOptions,
    /// Vectors, where there is an embedder.
    pub dense: Option<Arc<Dense>>,
}

/// The selector in use, swapped when the configuration changes.
pub type Selecting = ArcSwap<Selector>;

/// Tools that are offered with every utterance.
pub struct AlwaysOffered {
    /// All of them.
    pub all: Vec<Arc<CatalogEntry>>,
    /// Number of them that count towards `top_k`.
    pub core: usize,
}

/// Threshold and boost for scores of one kind.
#[derive(Clone, Copy)]
struct Scale {
    /// Least score that counts, its boost included.
    threshold: f32,
    /// Added where the tool's category is at hand.
    boost: f32,
}

impl Selector {
    /// Most tools that are listed whole.
    pub fn most_whole(&self) -> usize {
        let most = if self.dense.is_some() { TOP_K } else { BY_WORDS };
        self.options.top_k.unwrap_or(most)
    }

    /// Places for tools that meanings choose.
    pub fn top_k(&self) -> usize {
        self.options.top_k.unwrap_or(TOP_K)
    }

    /// `tools`, if words would choose among them and they are few enough to be listed whole; else empty.
    pub fn whole<'t>(&self, tools: Vec<&'t Arc<CatalogEntry>>) -> Vec<&'t Arc<CatalogEntry>> {
        match self.dense.is_none() && tools.len() <= BY_WORDS {
            true => tools,
            false => Vec::new(),
        }
    }

    /// The tools offered with every utterance: the core list, and what was found before.
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

    /// The `places` best of `tools` by meaning, else those that share a stem (up to 40, if `places` are fewer), best
    /// first; equals keep their order.
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
            // No embedder, none in time, or nothing near enough: words decide.
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

/// Scores by words in common, the best of `tools` 1.
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

/// The tools whose score, boosted where their category is at hand, reaches `threshold`.
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
