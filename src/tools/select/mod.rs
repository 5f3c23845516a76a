//! Which tools a model is offered when an NPC may use more than it should read.
//!
//! Entry points: [`ToolHost::offered`], [`ToolHost::narrowed`]. Tools are ranked by the nearness of
//! their meaning to what was said where an embedder is set, else by words in common. What is chosen
//! keeps the catalog's order, so that a provider's prompt cache holds over the rounds of a turn.
//! **Never**: offers what the NPC may not see; makes [`ToolHost::visible`] wait.

mod dense;
mod lexical;
mod words;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use tokio_util::sync::CancellationToken;

use super::{CallRecord, CatalogEntry, Entries, Snapshot, Tool, ToolHost, VisibleTools};
use crate::{domain::Tier, provider::Embedder};
use dense::Dense;
pub(super) use lexical::Lexical;

/// Identity of the tool that finds more tools.
pub const DISCOVER: &str = "tools.discover_tools";
/// Share of the best score that a tool's words must reach.
const LEXICAL_THRESHOLD: f32 = 0.25;
/// Added for a category the table is at, on a scale where the best match of words is 1.
const LEXICAL_BOOST: f32 = 0.3;
/// The same for cosines.
const DENSE_BOOST: f32 = 0.1;
/// Wait after vectors of tools could not be made; doubled up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(30);
/// Longest wait before they are asked for again.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// How long lists are narrowed; `config` builds it.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectionOptions {
    /// More visible tools than this are narrowed to this many.
    pub top_k: usize,
    /// Tools that always stay: identities, patterns and bare names as in whitelists.
    pub core: Vec<String>,
    /// Least cosine between an utterance and a tool, with an embedder.
    pub threshold: f32,
}

impl Default for SelectionOptions {
    fn default() -> Self {
        Self { top_k: 8, core: Vec::new(), threshold: 0.7 }
    }
}

/// What tools are wanted for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// What was said, or what a model searches for.
    pub utterance: &'a str,
    /// Categories of tools called or named in the last turns.
    pub recent_categories: &'a [Arc<str>],
    /// Names that are offered in any case, if they are visible: what `discover_tools` found, what
    /// a policy demands.
    pub found: &'a [Arc<str>],
}

/// How tools are chosen now.
#[derive(Default)]
pub(super) struct Selector {
    options: SelectionOptions,
    dense: Option<Arc<Dense>>,
}

impl ToolHost {
    /// Sets how long lists are narrowed; without an embedder words decide.
    pub fn select_by(&self, options: SelectionOptions, embedder: Option<Arc<dyn Embedder>>) {
        let dense = embedder.map(|embedder| Arc::new(Dense::new(embedder)));
        self.inner.selector.store(Arc::new(Selector { options, dense }));
        self.inner.catalog.changed().notify_one();
    }

    /// Sets how long lists are narrowed, and keeps the embedder.
    pub fn reselect_by(&self, options: SelectionOptions) {
        let dense = self.inner.selector.load().dense.clone();
        self.inner.selector.store(Arc::new(Selector { options, dense }));
    }

    /// What the model of `npc` is offered for `query`: [`ToolHost::visible`], narrowed when it is
    /// long. Waits for an utterance's embedding alone, 150 ms at most. Cancel safe.
    pub async fn offered(
        &self,
        npc: &str,
        tier: Tier,
        left: Duration,
        query: &Query<'_>,
    ) -> Arc<VisibleTools> {
        self.narrowed(self.visible(npc, tier, left), query).await
    }

    /// The tools of `visible` that fit `query`; a short list comes back as it is. Cancel safe.
    pub async fn narrowed(
        &self,
        visible: Arc<VisibleTools>,
        query: &Query<'_>,
    ) -> Arc<VisibleTools> {
        if visible.len() <= self.inner.selector.load().options.top_k {
            return visible;
        }
        let selector = self.inner.selector.load_full();
        let kept = selector.kept(&visible, query);
        let places = selector.options.top_k.saturating_sub(kept.core);
        let others: Vec<&Arc<CatalogEntry>> = visible
            .iter()
            .filter(|entry| !kept.all.iter().any(|it| Arc::ptr_eq(it, entry)))
            .collect();
        let best = selector.best(&self.inner.catalog.snapshot_full(), &others, query, places).await;
        let mut chosen: Vec<Arc<CatalogEntry>> =
            best.into_iter().cloned().chain(kept.all).collect();
        chosen.extend(visible.finder.clone());
        chosen.sort_by(|a, b| a.tool.identity.cmp(&b.tool.identity));
        tracing::debug!(visible = visible.len(), offered = chosen.len(), "tools chosen");
        Arc::new(VisibleTools::of(chosen).with_finder(visible.finder.clone()))
    }

    /// The tools that fit `text` best among all that `npc` may see at `tier`; without an NPC among
    /// all there are. Cancel safe.
    pub(super) async fn search(
        &self,
        npc: Option<(&str, Tier)>,
        text: &str,
    ) -> Vec<Arc<CatalogEntry>> {
        let (selector, snapshot) =
            (self.inner.selector.load_full(), self.inner.catalog.snapshot_full());
        let all: Vec<&Arc<CatalogEntry>> = match npc {
            Some((npc, tier)) => {
                snapshot.visible(self.session.as_ref(), npc, tier).iter().collect()
            }
            None => {
                snapshot.all().iter().filter(|entry| *entry.tool.identity != *DISCOVER).collect()
            }
        };
        let query = Query { utterance: text, ..Query::default() };
        let best = selector.best(&snapshot, &all, &query, selector.options.top_k.max(1)).await;
        best.into_iter().cloned().collect()
    }

    /// Has all tools embedded now, for whoever cannot wait until it has happened beside; without an
    /// embedder there is nothing to do. What fails is in the log. Cancel safe.
    pub async fn embedded(&self) {
        let selector = self.inner.selector.load_full();
        if let Some(dense) = &selector.dense {
            // Without embeddings words decide.
            let _ = dense.fill(self.inner.catalog.snapshot_full().all()).await;
        }
    }

    /// Makes embeddings of tools whenever there are new ones; runs until `stop`.
    pub(super) async fn embed_tools(&self, stop: &CancellationToken) {
        let mut wait: Option<Duration> = None;
        loop {
            let pause = async {
                match wait {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.inner.catalog.changed().notified() => {}
                () = pause => {}
            }
            let selector = self.inner.selector.load_full();
            let Some(dense) = &selector.dense else { continue };
            let snapshot = self.inner.catalog.snapshot_full();
            let Some(filled) = stop.run_until_cancelled(dense.fill(snapshot.all())).await else {
                return;
            };
            wait = filled
                .is_err()
                .then(|| wait.map_or(FIRST_WAIT, |wait| wait.saturating_mul(2)).min(LONGEST_WAIT));
        }
    }
}

/// Tools that stay whatever is said.
struct AlwaysOffered {
    all: Vec<Arc<CatalogEntry>>,
    /// How many of them take a place of `top_k`.
    core: usize,
}

impl Selector {
    fn kept(&self, visible: &VisibleTools, query: &Query<'_>) -> AlwaysOffered {
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

    /// The `places` best of `tools`, best first; equals in the order they come.
    async fn best<'t>(
        &self,
        snapshot: &Snapshot,
        tools: &[&'t Arc<CatalogEntry>],
        query: &Query<'_>,
        places: usize,
    ) -> Vec<&'t Arc<CatalogEntry>> {
        let mut fits = Vec::new();
        if let Some(dense) = &self.dense
            && let Some(scores) = dense.scores(query.utterance, tools).await
        {
            fits = fitting(tools, scores, query, (self.options.threshold, DENSE_BOOST));
        }
        if fits.is_empty() {
            // No embedder, none in time, or nothing near enough: words decide.
            let scores = by_words(snapshot, tools, query.utterance);
            fits = fitting(tools, scores, query, (LEXICAL_THRESHOLD, LEXICAL_BOOST));
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
    (threshold, boost): (f32, f32),
) -> Vec<(f32, &'t Arc<CatalogEntry>)> {
    let scored = tools.iter().zip(scores).map(|(entry, score)| {
        let category = entry.tool.category();
        let at_hand = query.recent_categories.iter().any(|recent| **recent == *category);
        (if at_hand { score + boost } else { score }, *entry)
    });
    scored.filter(|(score, _)| *score >= threshold).collect()
}

/// All words of a tool, its name's twice, with one space between.
pub(super) fn words_of(tool: &Tool, parameters: &serde_json::Value) -> String {
    let name = words::of_name(&tool.identity);
    let mut all = [name.clone(), name].concat();
    all.extend(words::of_text(tool.description()));
    all.extend(words::of_name(tool.category()));
    let properties = parameters.get("properties").and_then(serde_json::Value::as_object);
    all.extend(properties.into_iter().flatten().flat_map(|(name, _)| words::of_name(name)));
    all.join(" ")
}

/// Names of the tools that `record` has found, if it was a search for tools.
pub fn found_in(record: &CallRecord) -> Vec<Arc<str>> {
    let structured = match &record.result {
        Ok(output) if *record.tool == *DISCOVER => output.structured.as_ref(),
        _ => None,
    };
    let tools = structured.and_then(|it| it.get("tools")).and_then(serde_json::Value::as_array);
    let names = tools.into_iter().flatten().filter_map(|tool| tool.get("name")?.as_str());
    names.map(Arc::from).collect()
}

/// What is swapped when the configuration says otherwise.
pub(super) type Selecting = ArcSwap<Selector>;
