//! Speech of one turn, paid for sentence by sentence, as frames.
//!
//! Entry type: [`PaidSpeech`]. Money is reserved before a sentence is said. It is booked in full
//! once the sentence has sounded or was cancelled, and given back where the service failed before
//! any sound and certainly bills nothing, or was never asked.

use std::collections::VecDeque;

use super::{Shaping, Synthesizer};
use crate::{
    audio::Frame,
    engine::Reservation,
    provider::{Error, Sentence, Spoken, Synthesis, WordEnd},
};

/// A piece of speech: 48 kHz mono, volume applied.
pub enum Made {
    Frames(Vec<Frame>),
    Word(WordEnd),
    /// The rest of a sentence.
    Last(Vec<Frame>),
}

pub struct PaidSpeech {
    voice: Synthesizer,
    /// Dropped before the reservations, so that sentences never sent cost nothing.
    synthesis: Box<dyn Synthesis>,
    /// Money for the sentences that are not yet spoken.
    reserved: VecDeque<Reservation>,
    /// Of the current sentence; `None` before its first sound.
    shaping: Option<Shaping>,
}

impl PaidSpeech {
    pub(super) fn new(voice: Synthesizer) -> Self {
        let synthesis = voice.synthesis();
        Self { voice, synthesis, reserved: VecDeque::new(), shaping: None }
    }

    /// Adds a sentence, for which `reserved` pays.
    pub fn say(&mut self, spoken: &str, reserved: Reservation) {
        self.synthesis.say(Sentence {
            text: spoken.to_owned(),
            foreign: self.voice.foreign(spoken),
            attempts: reserved.attempts(),
        });
        self.reserved.push_back(reserved);
    }

    /// No sentence follows.
    pub fn finish(&mut self) {
        self.synthesis.finish();
    }

    /// The next frames of the first sentence that is not yet spoken; `None` once there is none
    /// after [`Self::finish`]. Waits while there is no sentence. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<Made, Error>> {
        let made = match self.synthesis.next().await? {
            Ok(Spoken::Sound(pcm)) => {
                let voice = &self.voice;
                let shaping = self.shaping.get_or_insert_with(|| voice.shaping());
                shaping.push(&pcm).map(Made::Frames)
            }
            Ok(Spoken::Word(word)) => Ok(Made::Word(word)),
            Ok(Spoken::Done) => {
                self.reserved.pop_front();
                let shaping = self.shaping.take();
                Ok(Made::Last(shaping.map(|mut it| it.finish()).unwrap_or_default()))
            }
            Err(error) => {
                if self.shaping.is_none()
                    && let Some(reserved) = self.reserved.pop_front()
                {
                    reserved.failed(error.kind());
                }
                Err(error)
            }
        };
        Some(made)
    }
}
