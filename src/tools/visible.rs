//! Tools that one NPC may see at one tier.

use std::{collections::HashMap, sync::Arc, time::Duration};

use super::{CatalogEntry, OfferedNames};
use crate::domain::ToolSpec;

/// Immutable list in a stable order, so that a provider's prompt cache holds.
#[derive(Default)]
pub struct VisibleTools {
    /// As sent to a model.
    pub specs: Arc<[ToolSpec]>,
    /// The longest expected duration.
    pub slowest: Duration,
    /// Finds more tools; shown by narrowed lists only.
    pub(super) finder: Option<Arc<CatalogEntry>>,
    /// Some description is in outside words.
    described_outside: bool,
    entries: Vec<Arc<CatalogEntry>>,
    by_name: HashMap<Arc<str>, usize>,
    names: Arc<OfferedNames>,
}

impl VisibleTools {
    pub fn of(entries: impl IntoIterator<Item = Arc<CatalogEntry>>) -> Self {
        let entries: Vec<Arc<CatalogEntry>> = entries.into_iter().collect();
        let by_name = entries.iter().enumerate();
        let names = entries.iter().map(|it| (Arc::clone(&it.spec.name), it.tool.hash)).collect();
        Self {
            specs: entries.iter().map(|entry| entry.spec.clone()).collect(),
            slowest: entries.iter().map(|entry| entry.expected).max().unwrap_or_default(),
            by_name: by_name.map(|(index, it)| (Arc::clone(&it.spec.name), index)).collect(),
            described_outside: entries.iter().any(|entry| entry.tool.described_outside),
            entries,
            names: Arc::new(names),
            finder: None,
        }
    }

    /// The tool a model with this list means by `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<CatalogEntry>> {
        self.by_name.get(name).and_then(|index| self.entries.get(*index))
    }

    /// Names with hashes of their definitions, to resolve calls.
    pub fn names(&self) -> Arc<OfferedNames> {
        Arc::clone(&self.names)
    }

    /// In list order.
    pub fn iter(&self) -> std::slice::Iter<'_, Arc<CatalogEntry>> {
        self.entries.iter()
    }

    /// True if some description is in outside words.
    pub fn is_described_outside(&self) -> bool {
        self.described_outside
    }

    /// Number of tools.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The tools expected to finish within `left`.
    #[must_use]
    pub fn fitting(&self, left: Duration) -> Self {
        let fitting = self.entries.iter().filter(|entry| entry.expected <= left).cloned();
        let finder = self.finder.as_ref().filter(|finder| finder.expected <= left).cloned();
        Self::of(fitting).with_finder(finder)
    }

    /// Adds `finder`, which finds more tools.
    #[must_use]
    pub(super) fn with_finder(self, finder: Option<Arc<CatalogEntry>>) -> Self {
        Self { finder, ..self }
    }
}
