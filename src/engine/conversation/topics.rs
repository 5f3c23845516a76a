//! Topics of the last turns, as categories of tools.
//!
//! Entry type: [`Topics`]. **Never**: chooses a tool.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

/// Turns that count.
const TURNS: usize = 3;

/// Categories called or named in the last turns.
#[derive(Default)]
pub struct Topics(VecDeque<Vec<Arc<str>>>);

impl Topics {
    /// Adds the categories of a turn.
    pub fn add(&mut self, of_turn: Vec<Arc<str>>) {
        while self.0.len() >= TURNS {
            self.0.pop_front();
        }
        self.0.push_back(of_turn);
    }

    /// The categories of the turns that count, each once.
    pub fn categories(&self) -> Vec<Arc<str>> {
        let all: BTreeSet<&Arc<str>> = self.0.iter().flatten().collect();
        all.into_iter().cloned().collect()
    }
}
