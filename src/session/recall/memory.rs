//! Where a table's NPCs remember.

use std::sync::Arc;

use crate::memory::{MemoryStore, Scope};

/// Where a table's NPCs remember.
#[derive(Clone)]
pub struct Memory {
    /// Where lines, facts and relations are read.
    pub store: Arc<dyn MemoryStore>,
    /// The scope that the memories belong to.
    pub scope: Scope,
    /// Unix time in ms.
    pub now: fn() -> i64,
}
