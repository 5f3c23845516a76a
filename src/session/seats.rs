//! The NPCs at the table, by their seats.
//!
//! Entry type: [`Seats`]. A seat keeps its id, and its NPC's identity, when the NPC leaves: late reports
//! about it still find it, and an NPC that comes back remembers.
//! **Never**: decides whose turn it is.

use std::{
    borrow::Borrow,
    ops::{Index, IndexMut},
    sync::Arc,
};

use super::{seat::Seat, seat_id::SeatId};
use crate::{
    domain::Npc,
    logic::cast::{NpcError, find_npc},
};

/// The seats of one table.
pub struct Seats(Vec<Seat>);

/// An NPC that is at a table.
#[derive(Clone, Debug)]
pub struct Seated {
    /// Seat of the NPC.
    pub seat: SeatId,
    /// The NPC as described now.
    pub npc: Arc<Npc>,
}

impl Borrow<Npc> for Seated {
    fn borrow(&self) -> &Npc {
        &self.npc
    }
}

impl Seated {
    /// The NPC of `cast` that `name` means.
    ///
    /// # Errors
    /// Nobody is called so, or several are.
    pub fn find<'c>(cast: &'c [Self], name: &str) -> Result<&'c Self, NpcError> {
        find_npc(cast, name).map(|(index, _)| &cast[index])
    }
}

impl Seats {
    /// The cast, in its order.
    pub const fn new(cast: Vec<Seat>) -> Self {
        Self(cast)
    }

    /// The ids of those at the table.
    pub fn ids(&self) -> Vec<SeatId> {
        self.iter().map(|(id, _)| id).collect()
    }

    /// Everybody at the table.
    pub fn iter(&self) -> impl Iterator<Item = (SeatId, &Seat)> {
        self.all().filter(|(_, seat)| !seat.has_left)
    }

    /// Everybody at the table, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (SeatId, &mut Seat)> {
        let all = self.0.iter_mut().enumerate().map(|(id, seat)| (SeatId(id), seat));
        all.filter(|(_, seat)| !seat.has_left)
    }

    /// Everybody who is at the table or was.
    pub fn all(&self) -> impl Iterator<Item = (SeatId, &Seat)> {
        self.0.iter().enumerate().map(|(id, seat)| (SeatId(id), seat))
    }

    /// Everybody who is at the table or was, to change.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Seat> {
        self.0.iter_mut()
    }

    /// True if somebody sits there.
    pub fn has(&self, seat: SeatId) -> bool {
        self.0.get(seat.0).is_some_and(|seat| !seat.has_left)
    }

    /// The seat, if somebody sits there.
    pub fn get_mut(&mut self, seat: SeatId) -> Option<&mut Seat> {
        self.0.get_mut(seat.0).filter(|seat| !seat.has_left)
    }

    /// The seat of the NPC of this name, which is at the table.
    pub fn of_npc(&self, name: &str) -> Option<SeatId> {
        self.iter().find(|(_, seat)| seat.npc.name == name).map(|(id, _)| id)
    }

    /// The seat of the NPC of this name, which is at the table or was.
    pub fn known(&self, name: &str) -> Option<SeatId> {
        self.all().find(|(_, seat)| seat.npc.name == name).map(|(id, _)| id)
    }

    /// Somebody new sits down.
    pub fn add(&mut self, seat: Seat) -> SeatId {
        self.0.push(seat);
        SeatId(self.0.len() - 1)
    }

    /// The NPCs at the table, with their seats.
    pub fn cast(&self) -> Arc<[Seated]> {
        self.iter().map(|(seat, of)| Seated { seat, npc: Arc::clone(&of.npc) }).collect()
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
