//! Pins: all words of a speaker go to one NPC, whatever they say.
//!
//! Entry type: [`Pins`]. **Never**: outdoes a name that is called.

use super::{SeatId, SpeakerId};

/// Pins by who speaks; `None`: everyone without a pin of their own.
#[derive(Clone, Debug, Default)]
pub struct Pins(Vec<(Option<SpeakerId>, SeatId)>);

impl Pins {
    /// Pins a player, or everyone else, to a seat; no seat takes it back, without a player all.
    pub fn set(&mut self, player: Option<SpeakerId>, seat: Option<SeatId>) {
        match (player, seat) {
            (None, None) => self.0.clear(),
            _ => self.0.retain(|(by, _)| *by != player),
        }
        self.0.extend(seat.map(|seat| (player, seat)));
    }

    /// Nobody sits there any more.
    pub fn leave(&mut self, seat: SeatId) {
        self.0.retain(|(_, pinned)| *pinned != seat);
    }

    /// The seat that what `speaker` says goes to.
    pub fn of(&self, speaker: SpeakerId) -> Option<SeatId> {
        let of = |wanted: Option<SpeakerId>| {
            self.0.iter().find(|(by, _)| *by == wanted).map(|(_, seat)| *seat)
        };
        of(Some(speaker)).or_else(|| of(None))
    }

    /// Speakers pinned to a seat; `None` for everyone without a pin of their own.
    pub fn on(&self, seat: SeatId) -> impl Iterator<Item = Option<SpeakerId>> {
        self.0.iter().filter(move |(_, pinned)| *pinned == seat).map(|(by, _)| *by)
    }
}
