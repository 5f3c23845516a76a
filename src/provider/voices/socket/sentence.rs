//! A sentence that the service has: its sound, shaped and watched.
//!
//! Entry type: [`Sent`].

use tokio::time::Instant;

use crate::{
    audio::{SampleRate, Shape},
    domain::Voice,
    provider::{
        Error, Kind, Pcm, Sentence, WordEnd,
        voices::watch::{Rest, Watch, is_silent},
    },
};

/// Speeds that can be applied to sound.
const SPEEDS: (f32, f32) = (0.5, 2.0);

pub struct Sent {
    pub sentence: Sentence,
    pub watch: Watch,
    pub is_heard: bool,
    /// Not all of its sound is silence.
    pub is_audible: bool,
    /// The rest of its sound is unwanted.
    is_over: bool,
    pitch: f32,
    /// Speed that is applied to the sound.
    speed: f32,
    shape: Option<(Shape, SampleRate)>,
}

impl Sent {
    /// A sentence that a `service` with this name speaks as `voice` at `speed`.
    pub fn new(service: &str, voice: &Voice, speed: f32, sentence: Sentence) -> Self {
        let (slowest, fastest) = SPEEDS;
        Self {
            watch: Watch::new(service, voice, &sentence.text),
            sentence,
            is_heard: false,
            is_audible: false,
            is_over: false,
            pitch: voice.pitch_shift,
            speed: (voice.speed_factor / speed).clamp(slowest, fastest),
            shape: None,
        }
    }

    /// Shapes sound; the rest of it is unwanted after an error.
    pub fn sound(&mut self, pcm: &Pcm) -> (Option<Pcm>, Result<(), Error>) {
        if self.is_over || pcm.samples.is_empty() {
            return (None, Ok(()));
        }
        self.is_heard = true;
        self.is_audible |= !is_silent(&pcm.samples);
        match self.shaped(pcm) {
            Ok(shaped) => self.watched(shaped),
            Err(error) => (None, Err(error)),
        }
    }

    /// Sound that is still held by the shaping, at the end of the sentence.
    pub fn rest(&mut self) -> Option<Pcm> {
        let (mut shape, rate) = self.shape.take()?;
        let mut samples = Vec::new();
        shape.finish(&mut samples);
        let is_wanted = !self.is_over && !samples.is_empty();
        is_wanted.then_some(Pcm { samples, rate })
    }

    /// The word's end in the shaped sound.
    pub fn word(&self, word: WordEnd) -> WordEnd {
        WordEnd { at: word.at.div_f64(f64::from(self.speed)), ..word }
    }

    pub fn has_words(&self) -> bool {
        self.sentence.text.chars().any(char::is_alphanumeric)
    }

    fn shaped(&mut self, pcm: &Pcm) -> Result<Pcm, Error> {
        let (shape, rate) = match &mut self.shape {
            Some(shape) => shape,
            none => {
                let shape = Shape::new(pcm.rate, self.pitch, self.speed)
                    .map_err(|error| Error::new(Kind::InvalidRequest, error.to_string()))?;
                none.insert((shape, pcm.rate))
            }
        };
        let mut samples = Vec::with_capacity(pcm.samples.len());
        shape.push(&pcm.samples, &mut samples);
        Ok(Pcm { samples, rate: *rate })
    }

    fn watched(&mut self, mut pcm: Pcm) -> (Option<Pcm>, Result<(), Error>) {
        let ended = match self.watch.take(&mut pcm, Instant::now()) {
            Rest::Wanted => Ok(()),
            Rest::Unwanted => {
                self.is_over = true;
                Ok(())
            }
            Rest::Refused(error) => Err(error),
        };
        ((!pcm.samples.is_empty()).then_some(pcm), ended)
    }
}
