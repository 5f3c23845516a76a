//! Explanations of a table's last answers: prompt, memories and calls.
//!
//! Entry types: [`Explanations`], shared by the table and its faces; [`Explanation`] of one answer.
//! They hold an NPC's secrets and other people's words, so they are for the game master alone and
//! kept in memory only. An X-card removes those of the lines it takes back. A deletion removes
//! all, because any prompt may quote the person.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;

use super::{
    line::{ToolLine, TurnLine},
    recall::RecallTold,
};
use crate::{
    domain::redact,
    engine::Turn,
    logic::prompt::{PromptPart, Recalled},
};

/// Answers that stay explained: an hour of play, in at most 10 MB.
const ANSWERS: usize = 50;

const TOOLS: &str = "Tools offered";

/// Cloning shares them.
#[derive(Clone, Default)]
pub struct Explanations(Arc<Mutex<VecDeque<Arc<Explanation>>>>);

#[derive(Serialize)]
pub struct Explanation {
    /// Number of its line.
    pub turn: u64,
    pub npc: String,
    /// The answer as far as it was played.
    pub reply: String,
    /// Models that answered, in order.
    pub models: Vec<String>,
    /// The prompt of the last request; empty if no model was asked.
    pub parts: Vec<PromptPart>,
    /// Memories looked up for the turn.
    pub recalled: Vec<String>,
    pub tools: Vec<ToolLine>,
}

/// Input of a turn's model.
pub struct Basis {
    parts: Vec<PromptPart>,
    recalled: Vec<String>,
}

impl Explanations {
    /// The explanation of the line with this number.
    pub fn of(&self, turn: u64) -> Option<Arc<Explanation>> {
        self.locked().iter().find(|it| it.turn == turn).cloned()
    }

    pub fn last(&self) -> Option<Arc<Explanation>> {
        self.locked().back().cloned()
    }

    /// Adds an explanation; the oldest one leaves.
    pub fn add(&self, explanation: Explanation) {
        let mut all = self.locked();
        if all.len() == ANSWERS {
            all.pop_front();
        }
        all.push_back(Arc::new(explanation));
    }

    /// Removes those of lines that were taken back.
    pub fn take_back(&self, lines: &[u64]) {
        self.locked().retain(|it| !lines.contains(&it.turn));
    }

    pub fn clear(&self) {
        self.locked().clear();
    }

    fn locked(&self) -> MutexGuard<'_, VecDeque<Arc<Explanation>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without content: prompts are in no log.
impl fmt::Debug for Explanations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Explanations")
    }
}

impl Basis {
    /// `None`: the turn is not explained. `told` is set once its lookup has ended.
    pub fn of(turn: &Turn, told: Option<&RecallTold>) -> Option<Self> {
        let parts = turn.prompt.as_ref()?.take()?;
        // A lookup that panicked panics again when it is looked at.
        let is_whole = told.is_some_and(|told| told.get().is_some());
        let recall = turn.recall.as_ref().filter(|_| is_whole);
        let recalled = recall.and_then(|recall| recall.peek());
        let recalled = recalled.into_iter().flat_map(Recalled::all);
        let recalled = recalled.map(|line| redact::without_credentials(line)).collect();
        Some(Self { parts, recalled })
    }

    /// The explanation of `line`, which will have the number `turn`.
    pub fn explain(self, turn: u64, line: &TurnLine) -> Explanation {
        let Self { mut parts, recalled } = self;
        if !parts.is_empty() && !line.visible.is_empty() {
            parts.push(PromptPart { name: TOOLS.to_owned(), text: line.visible.join(", ") });
        }
        let models = line.made_by.as_ref().map(|it| it.thought.clone());
        Explanation {
            turn,
            npc: line.npc.clone().unwrap_or_default(),
            reply: line.reply.clone(),
            models: models.unwrap_or_default(),
            parts,
            recalled,
            tools: line.tools.iter().map(shown).collect(),
        }
    }
}

/// A call without credentials.
fn shown(tool: &ToolLine) -> ToolLine {
    ToolLine { arguments: redact::shown(&tool.arguments), ..tool.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Outcome;

    #[test]
    fn only_the_last_answers_are_explained() {
        let explanations = Explanations::default();
        let line = TurnLine::unanswered(Outcome::Spoken, None::<String>);
        for turn in 1..=51 {
            let basis = Basis { parts: Vec::new(), recalled: Vec::new() };
            explanations.add(basis.explain(turn, &line));
        }
        assert!(explanations.of(1).is_none() && explanations.of(2).is_some());
        assert_eq!(explanations.last().map(|it| it.turn), Some(51));
        explanations.take_back(&[50, 51]);
        assert_eq!(explanations.last().map(|it| it.turn), Some(49));
        explanations.clear();
        assert!(explanations.last().is_none());
    }
}
