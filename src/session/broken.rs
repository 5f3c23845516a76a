//! Hearing that has panicked: reported, undone, and made again.
//!
//! **Never**: disturbs other speakers, or the NPC that is heard.

use tokio::time::Instant;

use super::{hearing::Broken, table::Table, utterance::Utterance};
use crate::provider::{Error, Kind};

impl Table {
    /// Gives up what speakers were saying whose hearing has panicked, and receives them again after a pause.
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
            // Their voice may have made an NPC quieter.
            self.speech_ended(now, speaker);
        }
    }
}
