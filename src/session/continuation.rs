//! State of a table that may be opened again. Holds nothing that was said.
//!
//! Entry type: [`Continuation`].

use serde::{Deserialize, Serialize};

use super::{Seat, SeatId, scene::Whereabouts, seats::Seats};

/// Muted NPCs, and the scene. NPCs are given by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Continuation {
    pub muted: Vec<String>,
    /// Muted NPCs that an X-card silenced.
    pub carded: Vec<String>,
    pub location: Option<String>,
    pub time_of_day: Option<String>,
    pub present: Vec<String>,
    pub absent: Vec<String>,
}

impl Continuation {
    /// Records the state; `carded` are the seats that an X-card silenced.
    pub(super) fn of(seats: &Seats, scene: &Whereabouts, carded: &[SeatId]) -> Self {
        let (mut muted, mut absent) = (Vec::new(), Vec::new());
        let mut by_card = Vec::new();
        for (id, seat) in seats.iter() {
            let is_carded = seat.muted && carded.contains(&id);
            by_card.extend(is_carded.then(|| seat.npc.name.clone()));
            muted.extend(seat.muted.then(|| seat.npc.name.clone()));
            absent.extend((!scene.is_present(id)).then(|| seat.npc.name.clone()));
        }
        Self {
            muted,
            carded: by_card,
            location: scene.location().map(str::to_owned),
            time_of_day: scene.time_of_day().map(str::to_owned),
            present: scene.present(),
            absent,
        }
    }

    pub fn end_card(&mut self) {
        let carded = std::mem::take(&mut self.carded);
        self.muted.retain(|name| !carded.contains(name));
    }

    /// Applies this; NPCs that it does not name are unchanged. Returns the seats that an X-card
    /// silenced.
    pub(super) fn restore(&self, seats: &mut Seats, scene: &mut Whereabouts) -> Vec<SeatId> {
        scene.return_to(self.location.clone(), self.time_of_day.clone());
        for (id, seat) in seats.iter_mut() {
            let name = &seat.npc.name;
            seat.muted = self.muted.contains(name);
            if self.present.contains(name) || self.absent.contains(name) {
                scene.place(id, self.present.contains(name));
            }
        }
        let is_carded = |(id, seat): (SeatId, &Seat)| {
            (seat.muted && self.carded.contains(&seat.npc.name)).then_some(id)
        };
        seats.iter().filter_map(is_carded).collect()
    }
}
