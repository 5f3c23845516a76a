//! The prompt of one turn, recorded for an explanation of its answer.
//!
//! Entry type: [`PromptRecord`]. Engines record the prompt of each request. The last one remains,
//! because it contains all earlier calls and results.

use std::sync::Mutex;

use super::locked::locked;
use crate::logic::prompt::PromptPart;

/// `None`: closed, so that nothing more is recorded.
pub struct PromptRecord(Mutex<Option<Vec<PromptPart>>>);

impl PromptRecord {
    pub fn set(&self, parts: Vec<PromptPart>) {
        if let Some(recorded) = locked(&self.0).as_mut() {
            *recorded = parts;
        }
    }

    /// Closes the record and returns it: empty if no model was asked, `None` if it was closed.
    pub fn take(&self) -> Option<Vec<PromptPart>> {
        locked(&self.0).take()
    }
}

impl Default for PromptRecord {
    fn default() -> Self {
        Self(Mutex::new(Some(Vec::new())))
    }
}
