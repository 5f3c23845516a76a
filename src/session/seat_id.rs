//! Which seat of a table is meant.

/// A seat, by its place in the cast from 0; a table has as many as it was opened with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeatId(pub usize);
