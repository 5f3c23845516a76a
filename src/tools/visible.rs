//! What one NPC may see at one tier.
//!
//! Entry type: [`VisibleTools`]. **Never**: changes after it was made.

use std::{collections::HashMap, sync::Arc, time::Duration};

use super::Placed;
use crate::domain::ToolSpec;

/// A list of tools in a stable order, so that a provider's prompt cache holds.
#[derive(Default)]
pub struct VisibleTools {
    /// The list a model gets.
    pub specs: Arc<[ToolSpec]>,
    /// The longest expected duration among them.
    pub slowest: Duration,
    placed: Vec<Arc<Placed>>,
    by_name: HashMap<Arc<str>, usize>,
}

impl VisibleTools {
    /// A list of `placed` tools.
    pub fn of(placed: impl Iterator<Item = Arc<Placed>>) -> Self {
        let placed: Vec<Arc<Placed>> = placed.collect();
        let by_name = placed.iter().enumerate();
        Self {
            specs: placed.iter().map(|placed| placed.spec.clone()).collect(),
            slowest: placed.iter().map(|placed| placed.expected).max().unwrap_or_default(),
            by_name: by_name.map(|(index, it)| (Arc::clone(&it.spec.name), index)).collect(),
            placed,
        }
    }

    /// The tool a model that got this list means by `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<Placed>> {
        self.by_name.get(name).and_then(|index| self.placed.get(*index))
    }

    /// The tools, in the order of the list.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Placed>> {
        self.placed.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.placed.len()
    }

    /// Those expected to end within `left`.
    #[must_use]
    pub fn fitting(&self, left: Duration) -> Self {
        Self::of(self.placed.iter().filter(|placed| placed.expected <= left).cloned())
    }
}
