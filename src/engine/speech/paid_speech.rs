//! Speech of one turn, paid for sentence by sentence, as frames.
//!
//! Entry type: [`PaidSpeech`]. Money is reserved before a sentence is said. It is booked in full
//! once the sentence has sounded or was cancelled, and given back where the service failed before
//! any sound and certainly bills nothing, or was never asked.

use std::collections::VecDeque;

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};

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

impl Synthesizer {
    /// Speech of one turn.
    pub fn open(&self) -> PaidSpeech {
        let (voice, synthesis) = (self.clone(), self.synthesis());
        PaidSpeech { voice, synthesis, reserved: VecDeque::new(), shaping: None }
    }

    /// Frames of one sentence by itself at 48 kHz, volume applied. Fails at a spending cap, before
    /// any request. Cancel safe.
    pub async fn synthesise(
        &self,
        spoken: &str,
    ) -> Result<BoxStream<'static, Result<Vec<Frame>, Error>>, Error> {
        let reserved = self.reserve(spoken)?;
        reserved.ready().await?;
        let mut speech = self.open();
        speech.say(spoken, reserved);
        speech.finish();
        let frames = stream::unfold(Some(speech), |speech| async {
            let mut speech = speech?;
            loop {
                match speech.next().await? {
                    Ok(Made::Frames(frames)) => return Some((Ok(frames), Some(speech))),
                    Ok(Made::Last(frames)) => return Some((Ok(frames), None)),
                    Ok(Made::Word(_)) => {}
                    Err(error) => return Some((Err(error), None)),
                }
            }
        });
        Ok(frames.boxed())
    }
}

impl PaidSpeech {
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
