//! Enforces the limits of `limits.rs`. Game masters have none.

use tokio::time::Instant;

use super::{
    Limits, SeatId, SpeakerId,
    limits::{Asking, Excess},
    line::Outcome,
    table::Table,
    utterance::Utterance,
};

impl Table {
    pub(super) fn excess(&mut self, speaker: SpeakerId, seat: SeatId) -> Option<Excess> {
        if self.speakers.is_dm(speaker) {
            return None;
        }
        let theirs = self.seats.iter().flat_map(|(_, seat)| &seat.waiting);
        let waiting = theirs.filter(|it| it.utterance.speaker == speaker).count();
        let (now, costs) = (Instant::now(), self.seats[seat].engine.costs());
        self.players.excess(speaker, Asking { now, costs, waiting })
    }

    pub(super) fn counts_for(&mut self, speaker: SpeakerId, seat: SeatId) {
        if self.seats[seat].engine.costs() && !self.speakers.is_dm(speaker) {
            self.players.paid(speaker, Instant::now());
        }
    }

    pub(super) fn may_be_ahead(&mut self, speaker: SpeakerId, seat: SeatId) -> bool {
        let is_free = !self.seats[seat].engine.costs() || self.speakers.is_dm(speaker);
        is_free || self.players.may_be_ahead(speaker, Instant::now())
    }

    /// Leaves an utterance unanswered because of `excess`, and notifies its speaker once.
    pub(super) fn put_off(&mut self, utterance: Utterance, excess: Excess) {
        let Limits { paid_turns_per_minute, waiting } = self.options.limits;
        let why = match excess {
            Excess::Paid => format!(
                "up to {paid_turns_per_minute} answers a minute for each player \
                 (limits.paid_turns_per_minute)"
            ),
            Excess::Waiting => format!(
                "up to {waiting} utterances of each player wait for an answer (limits.waiting)"
            ),
        };
        if self.players.is_to_be_told(utterance.speaker, Instant::now()) {
            let name = self.speakers.name(utterance.speaker);
            self.reports.notice(format!(
                "one moment, {name}: the NPCs hear you, and answer again shortly; {why}"
            ));
        }
        self.tell_others(&utterance, None);
        self.unanswered(utterance, Outcome::PutOff, Some(why));
    }
}
