//! Speech of one turn, paid for sentence by sentence, as frames.
//!
//! Entry type: [`PaidSpeech`]. Money is reserved before a sentence is said: for its characters, and
//! for the longest sound that they may have. The characters and the sound that came are booked once
//! the sentence is spoken, cancelled or broken off. The money is given back where the service failed
//! before any sound and certainly bills nothing, or was never asked; where it failed before any
//! sound and may bill it, all of it is booked.

use std::collections::VecDeque;

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};

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

impl Synthesizer {
    /// Speech of one turn.
    pub fn open(&self) -> PaidSpeech {
        let (voice, synthesis) = (self.clone(), self.synthesis());
        PaidSpeech { voice, synthesis, unspoken: VecDeque::new(), shaping: None }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::{
        StreamExt,
        stream::{self, BoxStream},
    };

    use super::*;
    use crate::{
        audio::SampleRate,
        engine::{Budget, tests::props::npc},
        logic::budget::{BudgetOptions, Ledger, Price},
        provider::{OneByOne, OneShot, Pcm, SpeakRequest},
    };

    /// Pieces of a second, and perhaps a failure after them.
    #[derive(Clone, Copy, Debug)]
    struct Sounds(usize, Option<Kind>);

    impl OneShot for Sounds {
        fn name(&self) -> &str {
            "sounds"
        }

        fn priced_as(&self) -> Option<&str> {
            Some("sounds")
        }

        fn speak(&self, _: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
            let rate = SampleRate::HZ_16000;
            let second = |_| Ok(Pcm { samples: vec![8_000; 16_000], rate });
            let fails = self.1.map(|kind| Err(Error::new(kind, "away")));
            let all: Vec<_> = (0..self.0).map(second).chain(fails).collect();
            stream::iter(all).boxed()
        }
    }

    /// Cost of "Aye.", dropped after this many pieces.
    async fn cost(price: Price, sounds: Sounds, pieces: usize) -> f64 {
        let prices = [("sounds".to_owned(), price)].into();
        let options = BudgetOptions { prices, ..BudgetOptions::default() };
        let budget = Budget::new(Ledger::new(options, 0.0));
        let voice = Arc::new(OneByOne::new(Arc::new(sounds)));
        let voice = Synthesizer::new(Arc::new(npc("Bartok")), voice, budget.clone(), &[]);
        let mut speech = voice.open();
        speech.say("Aye.", voice.reserve("Aye.").unwrap());
        speech.finish();
        for _ in 0..pieces {
            let _ = speech.next().await;
        }
        drop(speech);
        budget.spent()
    }

    #[tokio::test]
    async fn sound_that_came_is_booked_by_the_minute() {
        let second = Price { minute: 60.0, ..Price::default() };
        let letter = Price { characters: 1e6, ..Price::default() };
        for (sounds, pieces, by_minute, by_letter) in [
            (Sounds(2, None), 9, 2.0, 4.0),
            (Sounds(2, None), 1, 1.0, 4.0),
            (Sounds(2, None), 0, 0.0, 0.0),
            (Sounds(1, Some(Kind::Interrupted)), 9, 1.0, 4.0),
            // The longest sound of four letters.
            (Sounds(0, Some(Kind::Timeout)), 9, 5.6, 4.0),
            (Sounds(0, Some(Kind::Unreachable)), 9, 0.0, 0.0),
        ] {
            for (price, wanted) in [(second, by_minute), (letter, by_letter)] {
                let cost = cost(price, sounds, pieces).await;
                assert!((cost - wanted).abs() < 1e-6, "{sounds:?} {pieces}: {cost}, not {wanted}");
            }
        }
    }
}
