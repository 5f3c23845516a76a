//! Memory of a table's NPCs.

use std::sync::Arc;

use crate::memory::{MemoryStore, Scope};

#[derive(Clone)]
pub struct Memory {
    pub store: Arc<dyn MemoryStore>,
    pub scope: Scope,
    /// Current Unix time in ms.
    pub now: fn() -> i64,
}
