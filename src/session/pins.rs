//! Pins: a speaker's words go to one NPC unless they name another.
//!
//! Entry type: [`Pins`].

use super::{SeatId, SpeakerId};

/// Pins by speaker; `None`: everyone without a pin.
#[derive(Clone, Debug, Default)]
pub struct Pins(Vec<(Option<SpeakerId>, SeatId)>);

impl Pins {
    /// Pins a player, or everyone else, to a seat. No seat: removes the pin; without a player, all
    /// pins.
    pub fn set(&mut self, player: Option<SpeakerId>, seat: Option<SeatId>) {
        match (player, seat) {
            (None, None) => self.0.clear(),
            _ => self.0.retain(|(by, _)| *by != player),
        }
        self.0.extend(seat.map(|seat| (player, seat)));
    }

    pub fn leave(&mut self, seat: SeatId) {
        self.0.retain(|(_, pinned)| *pinned != seat);
    }

    pub fn of(&self, speaker: SpeakerId) -> Option<SeatId> {
        let of = |wanted: Option<SpeakerId>| {
            self.0.iter().find(|(by, _)| *by == wanted).map(|(_, seat)| *seat)
        };
        of(Some(speaker)).or_else(|| of(None))
    }

    /// Speakers pinned to `seat`; `None`: everyone without a pin.
    pub fn on(&self, seat: SeatId) -> impl Iterator<Item = Option<SpeakerId>> {
        self.0.iter().filter(move |(_, pinned)| *pinned == seat).map(|(by, _)| *by)
    }
}
