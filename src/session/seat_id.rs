//! Which seat of a table is meant.

/// A seat, by its place in the cast from 0; it stays when others come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeatId(pub usize);
