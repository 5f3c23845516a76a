//! What the last turns were about, by categories of tools.
//!
//! Entry type: [`Recent`]. **Never**: chooses a tool.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use super::TurnReport;
use crate::{
    logic::words::Words,
    tools::{ToolHost, VisibleTools},
};

/// Turns that count.
const TURNS: usize = 3;

/// Categories called or named in the last turns.
#[derive(Default)]
pub struct Recent(VecDeque<Vec<Arc<str>>>);

impl Recent {
    /// Adds a turn: the categories of what was called, and those of `visible` that were named.
    pub fn add(&mut self, turn: &TurnReport, visible: &VisibleTools, host: &ToolHost) {
        let snapshot = host.catalog().snapshot();
        let called = turn.calls.iter().filter_map(|record| snapshot.find(&record.tool));
        let said = Words::of(&turn.said);
        let is_named = |category: &str| {
            let name = Words::of(category);
            !name.is_empty() && name.iter().all(|word| said.iter().any(|its| its == word))
        };
        let known: BTreeSet<&str> = visible.iter().map(|placed| placed.tool.category()).collect();
        let named = known.into_iter().filter(|category| is_named(category));
        let all: BTreeSet<&str> =
            called.map(|placed| placed.tool.category()).chain(named).collect();
        while self.0.len() >= TURNS {
            self.0.pop_front();
        }
        self.0.push_back(all.into_iter().map(Arc::from).collect());
    }

    /// The categories, each once.
    pub fn categories(&self) -> Vec<Arc<str>> {
        let all: BTreeSet<&Arc<str>> = self.0.iter().flatten().collect();
        all.into_iter().cloned().collect()
    }
}
