//! All layers of a memory as one trait.

use super::{graph::Graph, index::Index, settings::Settings, transcript::Transcript};

/// Everything a table remembers.
pub trait MemoryStore: Transcript + Graph + Index + Settings {}

impl<T: Transcript + Graph + Index + Settings> MemoryStore for T {}
