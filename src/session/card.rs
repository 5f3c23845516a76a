//! The end of an X-card.
//!
//! The card silences every NPC that could speak. The game master ends it; at a local table, a
//! person who is alone may end it too. NPCs that the game master muted stay muted. **Never**:
//! reveals the person who used the card.

use super::{SeatId, SpeakerId, routing::Understood, table::Table, utterance::Utterance};
use crate::logic::command::{self, is_go_on};

/// Shown if the only person may end the card.
const ALONE: &str = "an X-card has muted everyone (\"everyone continue\" or /resume unmutes them)";
/// Shown otherwise.
const GAME_MASTERS: &str = "an X-card has muted everyone (the game master says \"everyone continue\" or uses \
                            /npc unmuteall)";

impl Table {
    /// NPCs that an X-card silences: those not muted for another reason.
    pub(super) fn silenced_by_card(&self) -> Vec<SeatId> {
        let could_speak = |id: &SeatId| !self.seats[*id].muted || self.carded.contains(id);
        self.seats.ids().into_iter().filter(could_speak).collect()
    }

    /// How to end the X-card that keeps NPCs silent; `None` if none does.
    pub(super) fn way_out_of_card(&self) -> Option<&'static str> {
        let is_silent = |seat: &SeatId| self.seats.has(*seat) && self.seats[*seat].muted;
        let way = if self.is_ended_by_anyone() { ALONE } else { GAME_MASTERS };
        self.carded.iter().any(is_silent).then_some(way)
    }

    fn is_ended_by_anyone(&self) -> bool {
        self.is_here && self.speakers.here().len() <= 1
    }

    /// Meaning of an utterance that would end the X-card; `None` for other utterances or without a
    /// card.
    pub(super) fn end_of_card(&self, utterance: &Utterance) -> Option<Understood> {
        let way_out = self.way_out_of_card()?;
        let text = utterance.order();
        let unmutes = self.router.order(text) == Some(command::Command::UnmuteAll);
        if !unmutes && !is_go_on(text) {
            return None;
        }
        let may = self.speakers.is_dm(utterance.speaker) || self.is_ended_by_anyone();
        Some(if may { Understood::CardEnds } else { Understood::Nobody(way_out.to_owned()) })
    }

    pub(super) fn end_card(&mut self, speaker: SpeakerId) {
        if !self.speakers.is_dm(speaker) && !self.is_ended_by_anyone() {
            return;
        }
        for seat in std::mem::take(&mut self.carded) {
            self.set_muted(Some(seat), false);
        }
        self.tell_how_it_stands();
    }
}
