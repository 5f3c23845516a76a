//! Memory of a table's NPCs.

use std::sync::Arc;

use crate::memory::{MemoryStore, Scope};

/// Memory of a table's NPCs.
#[derive(Clone)]
pub struct Memory {
    /// Store that lines, facts and relations are read from.
    pub store: Arc<dyn MemoryStore>,
    /// The scope that the memories belong to.
    pub scope: Scope,
    /// Unix time in ms.
    pub now: fn() -> i64,
}
