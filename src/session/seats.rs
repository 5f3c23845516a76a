//! The NPCs at the table, by their places in the cast.
//!
//! Entry type: [`Seats`]. **Never**: decides whose turn it is.

use std::ops::{Index, IndexMut};

use super::{seat::Seat, seat_id::SeatId};

/// The seats of one table; none is added or taken away.
pub struct Seats(Vec<Seat>);

impl Seats {
    /// The cast, in its order.
    pub const fn new(cast: Vec<Seat>) -> Self {
        Self(cast)
    }

    /// Every seat's id, in the order of the cast.
    pub fn ids(&self) -> impl Iterator<Item = SeatId> + use<> {
        (0..self.0.len()).map(SeatId)
    }

    /// Every seat, in the order of the cast.
    pub fn iter(&self) -> impl Iterator<Item = (SeatId, &Seat)> {
        self.ids().zip(&self.0)
    }

    /// Every seat, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (SeatId, &mut Seat)> {
        self.ids().zip(&mut self.0)
    }

    /// Whether there is such a seat.
    pub fn has(&self, seat: SeatId) -> bool {
        seat.0 < self.0.len()
    }

    /// The seat, if there is such a one.
    pub fn get_mut(&mut self, seat: SeatId) -> Option<&mut Seat> {
        self.0.get_mut(seat.0)
    }

    /// The seat of the NPC of this name.
    pub fn of_npc(&self, name: &str) -> Option<SeatId> {
        self.iter().find(|(_, seat)| seat.npc.name == name).map(|(id, _)| id)
    }
}

impl Index<SeatId> for Seats {
    type Output = Seat;

    fn index(&self, seat: SeatId) -> &Seat {
        &self.0[seat.0]
    }
}

impl IndexMut<SeatId> for Seats {
    fn index_mut(&mut self, seat: SeatId) -> &mut Seat {
        &mut self.0[seat.0]
    }
}
