//! Tools that a model was offered, by model-facing name.
//!
//! Entry type: [`OfferedNames`]. **Never**: changes after it was made.

use std::{collections::HashMap, sync::Arc};

/// Each offered name with the hash of the definition it stood for ([`super::Tool::hash`]).
#[derive(Debug, Default)]
pub struct OfferedNames(HashMap<Arc<str>, u64>);

impl OfferedNames {
    /// Hash of the definition that `name` stood for; `None`: it was not offered.
    pub fn hash(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}

impl FromIterator<(Arc<str>, u64)> for OfferedNames {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, u64)>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}
