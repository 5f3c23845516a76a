//! Tools a model was offered, by model-facing name.

use std::{collections::HashMap, sync::Arc};

/// Each name with the definition's hash ([`super::Tool::hash`]) when it was offered.
#[derive(Debug, Default)]
pub struct OfferedNames(HashMap<Arc<str>, u64>);

impl OfferedNames {
    /// `None`: not offered.
    pub fn hash(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}

impl FromIterator<(Arc<str>, u64)> for OfferedNames {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, u64)>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}
