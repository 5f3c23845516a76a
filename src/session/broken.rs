//! Recovery from a panic in one speaker's recognition. Other speakers and playing NPCs are not
//! affected.

use tokio::time::Instant;

use super::{hearing::Broken, table::Table, utterance::Utterance};
use crate::provider::{Error, Kind};

impl Table {
    /// Drops the broken speakers' current utterances and receives them again after a pause.
    pub(super) fn recover_broken(&mut self, now: Instant) {
        for broken in self.hearing.take_broken() {
            let Broken { speaker, fault, ahead, unaddressed } = broken;
            tracing::error!(session = %self.session, %fault, "hearing failed for a speaker");
            let carries_on = "hearing failed for one player, who is heard again now";
            if let Some(wait) = self.count(&fault, carries_on) {
                self.hearing.rest(now, speaker, now + wait);
            }
            if let Some(turn) = ahead {
                self.drop_turn(now, turn);
            }
            if let Some((utterance, why)) = unaddressed {
                self.said_to_nobody(utterance, why);
            }
            let error = Error::new(Kind::Unavailable, fault.to_string());
            self.not_understood(Utterance::unknown(speaker, now), &error);
            // The speaker's voice may have ducked an NPC.
            self.speech_ended(now, speaker);
        }
    }
}
