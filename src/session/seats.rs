//! The NPCs at the table, by seat.
//!
//! Entry type: [`Seats`]. A seat keeps its id and its NPC after the NPC leaves, so late reports
//! find it and a returning NPC remembers.

use std::{
    borrow::Borrow,
    ops::{Index, IndexMut},
    sync::Arc,
};

use super::{SeatId, seat::Seat};
use crate::{
    domain::Npc,
    logic::cast::{NpcError, find_npc},
};

pub struct Seats(Vec<Seat>);

#[derive(Clone, Debug)]
pub struct Seated {
    pub seat: SeatId,
    pub npc: Arc<Npc>,
}

impl Borrow<Npc> for Seated {
    fn borrow(&self) -> &Npc {
        &self.npc
    }
}

impl Seated {
    /// The NPC of `cast` with this name. Fails if none or several match.
    pub fn find<'c>(cast: &'c [Self], name: &str) -> Result<&'c Self, NpcError> {
        find_npc(cast, name).map(|(index, _)| &cast[index])
    }
}

impl Seats {
    pub const fn new(cast: Vec<Seat>) -> Self {
        Self(cast)
    }

    pub fn ids(&self) -> Vec<SeatId> {
        self.iter().map(|(id, _)| id).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = (SeatId, &Seat)> {
        self.all().filter(|(_, seat)| !seat.has_left)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (SeatId, &mut Seat)> {
        let all = self.0.iter_mut().enumerate().map(|(id, seat)| (SeatId(id), seat));
        all.filter(|(_, seat)| !seat.has_left)
    }

    /// All NPCs, including those that have left.
    pub fn all(&self) -> impl Iterator<Item = (SeatId, &Seat)> {
        self.0.iter().enumerate().map(|(id, seat)| (SeatId(id), seat))
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Seat> {
        self.0.iter_mut()
    }

    pub fn has(&self, seat: SeatId) -> bool {
        self.0.get(seat.0).is_some_and(|seat| !seat.has_left)
    }

    /// The seat, if its NPC is at the table.
    pub fn get_mut(&mut self, seat: SeatId) -> Option<&mut Seat> {
        self.0.get_mut(seat.0).filter(|seat| !seat.has_left)
    }

    /// The seat of the NPC with this name, at the table.
    pub fn of_npc(&self, name: &str) -> Option<SeatId> {
        self.iter().find(|(_, seat)| seat.npc.name == name).map(|(id, _)| id)
    }

    /// The seat of the NPC with this name, at the table or gone.
    pub fn known(&self, name: &str) -> Option<SeatId> {
        self.all().find(|(_, seat)| seat.npc.name == name).map(|(id, _)| id)
    }

    pub fn add(&mut self, seat: Seat) -> SeatId {
        self.0.push(seat);
        SeatId(self.0.len() - 1)
    }

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
