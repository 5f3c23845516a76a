//! Cosine similarity between an utterance and tools: cached vectors of an [`Embedder`]. Tools'
//! vectors are made in the background and cached by the hash of the tool's text for models.
//! **Never**: delays a list for a tool's vector.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use tokio::time::{Instant, timeout};

use crate::{
    provider::{Embedder, Error, Kind},
    tools::{CatalogEntry, Tool},
};

/// Longest wait for the vector of an utterance; the turn waits too.
const PATIENCE: Duration = Duration::from_millis(150);
/// Time after a failure in which utterances skip the embedder.
const PAUSE: Duration = Duration::from_secs(30);
/// Longest wait for a batch of tools.
const BATCH_PATIENCE: Duration = Duration::from_secs(120);
/// Tools per request.
const BATCH: usize = 32;
/// Cached utterances: later rounds of a turn ask for the same one.
const RECENT: usize = 32;
/// Cached vectors of removed tools: servers return.
const GONE: usize = 4_096;

/// A vector of length one.
type Unit = Arc<[f32]>;

pub struct Dense {
    embedder: Arc<dyn Embedder>,
    /// By hash of the tool.
    tools: ArcSwap<HashMap<u64, Unit>>,
    /// Oldest first.
    recent: Mutex<VecDeque<(String, Unit)>>,
    paused_until: Mutex<Option<Instant>>,
    /// The failure has been logged.
    told: AtomicBool,
}

impl Dense {
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self {
            embedder,
            tools: ArcSwap::default(),
            recent: Mutex::default(),
            paused_until: Mutex::default(),
            told: AtomicBool::new(false),
        }
    }

    /// Makes missing vectors of `all`. Cancel safe: finished batches stay. The error is already
    /// logged.
    pub async fn fill(&self, all: &[Arc<Tool>]) -> Result<(), Error> {
        let known = self.tools.load_full();
        // Two owners may have added equal tools.
        let mut asked = HashSet::new();
        let mut is_missing = |hash| !known.contains_key(&hash) && asked.insert(hash);
        let missing: Vec<&Arc<Tool>> = all.iter().filter(|tool| is_missing(tool.hash)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        for batch in missing.chunks(BATCH) {
            let texts: Vec<String> = batch.iter().map(|tool| about(tool)).collect();
            let asked = timeout(BATCH_PATIENCE, self.embedder.embed(&texts)).await;
            let vectors = asked.unwrap_or_else(|_| Err(late(BATCH_PATIENCE)));
            let vectors = vectors.inspect_err(|error| self.failed(error))?;
            let mut kept = HashMap::clone(&self.tools.load());
            for (tool, vector) in batch.iter().zip(vectors) {
                kept.insert(tool.hash, unit(vector));
            }
            self.tools.store(Arc::new(kept));
        }
        self.forget_gone(all);
        self.told.store(false, Ordering::Relaxed);
        tracing::info!(
            tools = missing.len(),
            embedder = self.embedder.name(),
            dimension = self.embedder.dimension(),
            took_ms = began.elapsed().as_secs_f64() * 1e3,
            "tools can be chosen by meaning"
        );
        Ok(())
    }

    /// Cosine similarity of `text` to each of `tools` (-1 to 1). `None`: a tool has no vector yet,
    /// or the text's was late. Cancel safe.
    pub async fn scores(&self, text: &str, tools: &[&Arc<CatalogEntry>]) -> Option<Vec<f32>> {
        let known = self.tools.load_full();
        let vectors = tools.iter().map(|entry| known.get(&entry.tool.hash));
        let vectors: Vec<&Unit> = vectors.collect::<Option<_>>()?;
        let utterance = self.utterance(text).await?;
        Some(vectors.into_iter().map(|vector| dot(vector, &utterance)).collect())
    }

    /// The vector of an utterance, cached or made now.
    async fn utterance(&self, text: &str) -> Option<Unit> {
        let kept = lock(&self.recent).iter().find(|(its, _)| its == text).map(|(_, it)| it.clone());
        if kept.is_some() {
            return kept;
        }
        if lock(&self.paused_until).is_some_and(|until| Instant::now() < until) {
            return None;
        }
        let texts = [text.to_owned()];
        let asked = timeout(PATIENCE, self.embedder.embed(&texts)).await;
        let [text] = texts;
        match asked.unwrap_or_else(|_| Err(late(PATIENCE))) {
            Ok(vectors) => {
                let vector = unit(vectors.into_iter().next()?);
                let mut recent = lock(&self.recent);
                while recent.len() >= RECENT {
                    recent.pop_front();
                }
                recent.push_back((text, Arc::clone(&vector)));
                Some(vector)
            }
            Err(error) => {
                *lock(&self.paused_until) = Some(Instant::now() + PAUSE);
                self.failed(&error);
                None
            }
        }
    }

    /// Logs once that words decide for now.
    fn failed(&self, error: &Error) {
        if !self.told.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                embedder = self.embedder.name(),
                %error,
                "no embeddings; tools are chosen by their words until embeddings arrive"
            );
        }
    }

    fn forget_gone(&self, all: &[Arc<Tool>]) {
        let kept = self.tools.load();
        if kept.len() > all.len() + GONE {
            let present: HashSet<u64> = all.iter().map(|tool| tool.hash).collect();
            let kept = kept.iter().filter(|(hash, _)| present.contains(hash));
            let kept = kept.map(|(hash, vector)| (*hash, Arc::clone(vector))).collect();
            self.tools.store(Arc::new(kept));
        }
    }
}

/// Embedded text of a tool.
fn about(tool: &Tool) -> String {
    let name = tool.bare_name().replace(['_', '-', '.'], " ");
    format!("{name}: {}", tool.about)
}

fn late(patience: Duration) -> Error {
    let what = format!("no embedding within {} ms (is the model loaded?)", patience.as_millis());
    Error::new(Kind::Timeout, what)
}

/// Normalizes; zeros stay zeros.
fn unit(vector: Vec<f32>) -> Unit {
    let length = dot(&vector, &vector).sqrt();
    let scale = if length > 0.0 { length.recip() } else { 0.0 };
    vector.into_iter().map(|number| number * scale).collect()
}

/// Dot product, in eight sums so that it vectorizes.
fn dot(one: &[f32], other: &[f32]) -> f32 {
    let (ones, rest) = one.as_chunks::<8>();
    let (others, other_rest) = other.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for (one, other) in ones.iter().zip(others) {
        for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
            *sum += one * other;
        }
    }
    let rest: f32 = rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
    sums.iter().sum::<f32>() + rest
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_are_cosines() {
        let one: Vec<f32> = (0..11).map(|n| n as f32).collect();
        let other: Vec<f32> = (0..11).map(|n| 11.0 - n as f32).collect();
        let slow: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
        assert!((dot(&one, &other) - slow).abs() < 1e-3);
        assert!((dot(&unit(one.clone()), &unit(one)) - 1.0).abs() < 1e-6);
        assert_eq!(&*unit(vec![0.0, 0.0]), [0.0, 0.0]);
    }
}
