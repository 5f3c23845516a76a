//! Narrowed lists, and the search for the other tools.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{
    DISCOVER,
    dense::Dense,
    selector::{Query, SelectionOptions, Selector},
};
use crate::{
    domain::Tier,
    provider::Embedder,
    tools::{CatalogEntry, ToolHost, VisibleTools},
};

/// First wait after a failure to embed tools; doubled up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

impl ToolHost {
    /// Sets the selection; without an embedder, words decide.
    pub fn select_by(&self, options: SelectionOptions, embedder: Option<Arc<dyn Embedder>>) {
        let dense = embedder.map(|embedder| Arc::new(Dense::new(embedder)));
        self.inner.selector.store(Arc::new(Selector { options, dense }));
        self.inner.catalog.changed().notify_one();
    }

    /// Sets the selection, and keeps the embedder.
    pub fn reselect_by(&self, options: SelectionOptions) {
        let dense = self.inner.selector.load().dense.clone();
        self.inner.selector.store(Arc::new(Selector { options, dense }));
    }

    /// [`ToolHost::visible`], narrowed for `query` when it is long. Waits only for the utterance's
    /// vector, 150 ms at most. Cancel safe.
    pub async fn offered(
        &self,
        npc: &str,
        tier: Tier,
        left: Duration,
        query: &Query<'_>,
    ) -> Arc<VisibleTools> {
        self.narrowed(self.visible(npc, tier, left), query).await
    }

    /// The tools of `visible` that fit `query`; a short list is returned unchanged. Cancel safe.
    pub async fn narrowed(
        &self,
        visible: Arc<VisibleTools>,
        query: &Query<'_>,
    ) -> Arc<VisibleTools> {
        if visible.len() <= self.inner.selector.load().most_whole() {
            return visible;
        }
        let selector = self.inner.selector.load_full();
        let kept = selector.kept(&visible, query);
        let places = selector.top_k().saturating_sub(kept.core);
        let others: Vec<&Arc<CatalogEntry>> = visible
            .iter()
            .filter(|entry| !kept.all.iter().any(|it| Arc::ptr_eq(it, entry)))
            .collect();
        let best = selector.best(&self.snapshot(), &others, query, places).await;
        let mut chosen: Vec<Arc<CatalogEntry>> =
            best.into_iter().cloned().chain(kept.all).collect();
        chosen.extend(visible.finder.clone());
        chosen.sort_by(|a, b| a.tool.identity.cmp(&b.tool.identity));
        tracing::debug!(visible = visible.len(), offered = chosen.len(), "tools chosen");
        Arc::new(VisibleTools::of(chosen).with_finder(visible.finder.clone()))
    }

    /// The tools that fit `text` best among those `npc` may see at a tier, or among all. If nothing
    /// matches and words decide, a short list is returned whole. Cancel safe.
    pub(in crate::tools) async fn search(
        &self,
        npc: Option<(&str, Tier)>,
        text: &str,
    ) -> Vec<Arc<CatalogEntry>> {
        let (selector, snapshot) = (self.inner.selector.load_full(), self.snapshot());
        let all: Vec<&Arc<CatalogEntry>> = match npc {
            Some((npc, tier)) => {
                snapshot.visible(self.session.as_ref(), npc, tier).iter().collect()
            }
            None => {
                snapshot.all().iter().filter(|entry| *entry.tool.identity != *DISCOVER).collect()
            }
        };
        let query = Query { utterance: text, ..Query::default() };
        let mut best = selector.best(&snapshot, &all, &query, selector.top_k().max(1)).await;
        if best.is_empty() {
            best = selector.whole(all);
        }
        best.into_iter().cloned().collect()
    }

    /// Embeds all tools now; failures are logged. Cancel safe.
    pub async fn embedded(&self) {
        let selector = self.inner.selector.load_full();
        if let Some(dense) = &selector.dense {
            // On failure words decide.
            let _ = dense.fill(&self.inner.catalog.tools()).await;
        }
    }

    /// Embeds new tools until `stop`.
    pub(in crate::tools) async fn embed_tools(&self, stop: &CancellationToken) {
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
            let tools = self.inner.catalog.tools();
            let Some(filled) = stop.run_until_cancelled(dense.fill(&tools)).await else {
                return;
            };
            wait = filled
                .is_err()
                .then(|| wait.map_or(FIRST_WAIT, |wait| wait.saturating_mul(2)).min(LONGEST_WAIT));
        }
    }
}
