//! Speech of one turn, paid for sentence by sentence, as frames.
//!
//! Entry type: [`PaidSpeech`]. Money is reserved before a sentence is said: for its characters, and
//! for the longest sound that they may have. The characters and the sound that came are booked once
//! the sentence is spoken, cancelled or broken off. The money is given back where the service failed
//! before any sound and certainly bills nothing, or was never asked; where it failed before any
//! sound and may bill it, all of it is booked.

use std::collections::VecDeque;

use super::{Shaping, Synthesizer};
use crate::{
    audio::Frame,
    engine::Reservation,
    logic::budget::Consumption,
    provider::{Error, Kind, Sentence, Spoken, Synthesis, WordEnd},
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
    /// Sentences that are not yet spoken.
    unspoken: VecDeque<Paid>,
    /// Of the current sentence; `None` before its first sound.
    shaping: Option<Shaping>,
}

/// Money for a sentence. Dropping it books what was used.
struct Paid {
    /// `None`: settled.
    reserved: Option<Reservation>,
    used: Consumption,
}

impl Paid {
    fn new(reserved: Reservation) -> Self {
        let used = Consumption { seconds: 0.0, ..reserved.expected() };
        Self { reserved: Some(reserved), used }
    }

    /// The service failed before any sound.
    fn failed(mut self, kind: Kind) {
        if let Some(reserved) = self.reserved.take() {
            reserved.failed(kind);
        }
    }
}

impl Drop for Paid {
    fn drop(&mut self) {
        if let Some(reserved) = self.reserved.take() {
            reserved.settle(self.used);
        }
    }
}

impl PaidSpeech {
    pub(super) fn new(voice: Synthesizer) -> Self {
        let synthesis = voice.synthesis();
        Self { voice, synthesis, unspoken: VecDeque::new(), shaping: None }
    }

    /// Adds a sentence, for which `reserved` pays.
    pub fn say(&mut self, spoken: &str, reserved: Reservation) {
        self.synthesis.say(Sentence {
            text: spoken.to_owned(),
            foreign: self.voice.foreign(spoken),
            attempts: reserved.attempts(),
        });
        self.unspoken.push_back(Paid::new(reserved));
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
                if let Some(paid) = self.unspoken.front_mut() {
                    paid.used.seconds += pcm.rate.duration_of(pcm.samples.len()).as_secs_f64();
                }
                let voice = &self.voice;
                let shaping = self.shaping.get_or_insert_with(|| voice.shaping());
                shaping.push(&pcm).map(Made::Frames)
            }
            Ok(Spoken::Word(word)) => Ok(Made::Word(word)),
            Ok(Spoken::Done) => {
                self.unspoken.pop_front();
                let shaping = self.shaping.take();
                Ok(Made::Last(shaping.map(|mut it| it.finish()).unwrap_or_default()))
            }
            Err(error) => {
                if self.shaping.is_none()
                    && let Some(paid) = self.unspoken.pop_front()
                {
                    paid.failed(error.kind());
                }
                Err(error)
            }
        };
        Some(made)
    }
}
