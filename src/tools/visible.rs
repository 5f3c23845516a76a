//! What one NPC may see at one tier.
//!
//! Entry type: [`VisibleTools`]. **Never**: changes after it was made.

use std::{collections::HashMap, sync::Arc, time::Duration};

use super::CatalogEntry;
use crate::domain::ToolSpec;

/// A list of tools in a stable order, so that a provider's prompt cache holds.
#[derive(Default)]
pub struct VisibleTools {
    /// The list a model gets.
    pub specs: Arc<[ToolSpec]>,
    /// The longest expected duration among them.
    pub slowest: Duration,
    /// Finds more when this list is narrowed; only a narrowed list shows it.
    pub(super) finder: Option<Arc<CatalogEntry>>,
    placed: Vec<Arc<CatalogEntry>>,
    by_name: HashMap<Arc<str>, usize>,
}

impl VisibleTools {
    /// A list of `placed` tools.
    pub fn of(placed: impl IntoIterator<Item = Arc<CatalogEntry>>) -> Self {
        let placed: Vec<Arc<CatalogEntry>> = placed.into_iter().collect();
        let by_name = placed.iter().enumerate();
        Self {
            specs: placed.iter().map(|placed| placed.spec.clone()).collect(),
            slowest: placed.iter().map(|placed| placed.expected).max().unwrap_or_default(),
            by_name: by_name.map(|(index, it)| (Arc::clone(&it.spec.name), index)).collect(),
            placed,
            finder: None,
        }
    }

    /// The tool a model that got this list means by `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<CatalogEntry>> {
        self.by_name.get(name).and_then(|index| self.placed.get(*index))
    }

    /// The tools, in the order of the list.
    pub fn iter(&self) -> std::slice::Iter<'_, Arc<CatalogEntry>> {
        self.placed.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.placed.len()
    }

    /// Those expected to end within `left`.
    #[must_use]
    pub fn fitting(&self, left: Duration) -> Self {
        let fitting = self.placed.iter().filter(|placed| placed.expected <= left).cloned();
        let finder = self.finder.as_ref().filter(|finder| finder.expected <= left).cloned();
        Self::of(fitting).with_finder(finder)
    }

    /// The same list, which `finder` finds more for.
    #[must_use]
    pub(super) fn with_finder(self, finder: Option<Arc<CatalogEntry>>) -> Self {
        Self { finder, ..self }
    }
}
