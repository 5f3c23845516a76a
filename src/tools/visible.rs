//! Tools that one NPC may see at one tier.
//!
//! Entry type: [`VisibleTools`]. **Never**: changes after it was made.

use std::{collections::HashMap, sync::Arc, time::Duration};

use super::{CatalogEntry, OfferedNames};
use crate::domain::ToolSpec;

/// A list of tools in a stable order, so that a provider's prompt cache holds.
#[derive(Default)]
pub struct VisibleTools {
    /// The list a model gets.
    pub specs: Arc<[ToolSpec]>,
    /// The longest expected duration among them.
    pub slowest: Duration,
    /// The tool that finds more tools; only a narrowed list shows it.
    pub(super) finder: Option<Arc<CatalogEntry>>,
    /// True if any of them is described in words from outside.
    described_outside: bool,
    entries: Vec<Arc<CatalogEntry>>,
    by_name: HashMap<Arc<str>, usize>,
    names: Arc<OfferedNames>,
}

impl VisibleTools {
    /// A list of these tools.
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

    /// The tool a model that got this list means by `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<CatalogEntry>> {
        self.by_name.get(name).and_then(|index| self.entries.get(*index))
    }

    /// The names in this list with the definitions they stand for, to resolve calls by.
    pub fn names(&self) -> Arc<OfferedNames> {
        Arc::clone(&self.names)
    }

    /// The tools, in the order of the list.
    pub fn iter(&self) -> std::slice::Iter<'_, Arc<CatalogEntry>> {
        self.entries.iter()
    }

    /// True if a model that reads the list reads words from outside.
    pub fn is_described_outside(&self) -> bool {
        self.described_outside
    }

    /// Number of visible tools.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Those expected to end within `left`.
    #[must_use]
    pub fn fitting(&self, left: Duration) -> Self {
        let fitting = self.entries.iter().filter(|entry| entry.expected <= left).cloned();
        let finder = self.finder.as_ref().filter(|finder| finder.expected <= left).cloned();
        Self::of(fitting).with_finder(finder)
    }

    /// This list with `finder`, which finds more tools.
    #[must_use]
    pub(super) fn with_finder(self, finder: Option<Arc<CatalogEntry>>) -> Self {
        Self { finder, ..self }
    }
}
