//! Ids of a table's seats.

/// A seat by its place in the cast, from 0; stable when others come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeatId(pub usize);
