//! Topics of recent turns: categories of tools.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

const TURNS: usize = 3;

#[derive(Default)]
pub struct Topics(VecDeque<Vec<Arc<str>>>);

impl Topics {
    pub fn add(&mut self, of_turn: Vec<Arc<str>>) {
        while self.0.len() >= TURNS {
            self.0.pop_front();
        }
        self.0.push_back(of_turn);
    }

    pub fn categories(&self) -> Vec<Arc<str>> {
        let all: BTreeSet<&Arc<str>> = self.0.iter().flatten().collect();
        all.into_iter().cloned().collect()
    }
}
