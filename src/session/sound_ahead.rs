//! Sound sent to a voice model while its utterance is still in progress.
//!
//! It goes to the NPC that the speaker talks to unless they call another one, from one speaker at a
//! time, and is withdrawn if the utterance turns out to be for others.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::{SeatId, SpeakerId, table::Table};

impl Table {
    pub(super) fn pass_sound_on(&mut self, now: Instant) {
        for id in self.seats.ids() {
            if !self.seats[id].engine.receives_ahead() {
                continue;
            }
            if self.turns.is_busy(id) {
                // The turn has taken its sound.
                self.seats[id].sounding = None;
                continue;
            }
            let before = self.seats[id].sounding;
            let speaker = self.speaker_to(id, before, now);
            self.seats[id].sounding = speaker;
            if before.is_some() && speaker != before {
                self.seats[id].engine.receive(&VecDeque::new());
            }
            let Some(speaker) = speaker else { continue };
            if before != Some(speaker) {
                // Its session may have been closed.
                self.warm_seat(id);
            }
            if let Some(sound) = self.hearing.sound_of(speaker) {
                self.seats[id].engine.receive(sound);
            }
        }
    }

    /// A speaker who probably talks to `seat`; prefers `before`.
    fn speaker_to(
        &self,
        seat: SeatId,
        before: Option<SpeakerId>,
        now: Instant,
    ) -> Option<SpeakerId> {
        let now = self.hearing.clock.moment(now);
        let listens = |speaker: &SpeakerId| {
            let listener = self.router.listener(*speaker, &self.seats, &self.speakers, now);
            !self.paused && listener == Some(seat)
        };
        let goes_on = before.filter(|it| self.hearing.is_hearing(*it)).filter(listens);
        goes_on.or_else(|| self.hearing.sounding().find(listens))
    }
}
