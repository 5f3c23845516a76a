//! All layers of a memory as one trait.

use super::{
    deletion::Deletions, graph::Graph, index::Index, settings::Settings, spending::Spending,
    transcript::Transcript,
};

pub trait MemoryStore: Transcript + Graph + Index + Settings + Spending + Deletions {}

impl<T: Transcript + Graph + Index + Settings + Spending + Deletions> MemoryStore for T {}
