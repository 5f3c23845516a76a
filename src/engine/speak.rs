//! Sentences to frames, in order, one sentence ahead of what is playing.
//!
//! Entry type: [`Mouth`]. **Never**: plays anything, asks a model.

use std::sync::Arc;

use futures::StreamExt;
use tokio::sync::watch;

use super::{Gate, Purse, Reply, ReplyPort};
use crate::{
    audio::{Frame, Framer, Resampler, SampleRate, amplify},
    domain::{Entity, Npc, Pronunciation},
    logic::{budget::Consumption, speakable::SpeakableFilter, words::fold},
    provider::{Error, Kind, SpeakRequest, TextToSpeech},
};

/// An NPC's voice.
#[derive(Clone)]
pub struct Mouth {
    npc: Arc<Npc>,
    voice: Arc<dyn TextToSpeech>,
    purse: Purse,
    /// How words are said.
    said: Arc<[Pronunciation]>,
}

impl Mouth {
    /// The voice of `npc`, paid from `purse`. It says words as its own description has them, and other
    /// names of `world` as theirs.
    pub fn new(
        npc: Arc<Npc>,
        voice: Arc<dyn TextToSpeech>,
        purse: Purse,
        world: &[Entity],
    ) -> Self {
        let is_own = |word: &str| npc.pronunciation.iter().any(|own| fold(&own.word) == fold(word));
        let names = world.iter().filter(|entity| !is_own(&entity.name)).filter_map(|entity| {
            let respelling = entity.pronunciation.clone()?;
            Some(Pronunciation { word: entity.name.clone(), respelling })
        });
        let said = npc.pronunciation.iter().cloned().chain(names).collect();
        Self { npc, voice, purse, said }
    }

    /// What leaves no silence, emoji or stage direction: one filter per turn.
    pub fn filter(&self) -> SpeakableFilter {
        let names = std::iter::once(&self.npc.name).chain(&self.npc.aliases);
        SpeakableFilter::new(&self.npc.language, names.map(String::as_str))
    }

    /// The same for the text that is kept and shown: numbers stay figures.
    pub fn scribe(&self) -> SpeakableFilter {
        let names = std::iter::once(&self.npc.name).chain(&self.npc.aliases);
        let language = if self.npc.language.starts_with("en") { "" } else { &self.npc.language };
        SpeakableFilter::new(language, names.map(String::as_str))
    }

    /// Speaks one sentence as sentence `index` once it may: one ahead of the one playing.
    ///
    /// # Errors
    /// The voice's own, or [`Kind::OverBudget`].
    pub async fn speak(
        &self,
        index: usize,
        spoken: &str,
        gate: &mut watch::Receiver<Gate>,
        replies: &ReplyPort,
    ) -> Result<(), Error> {
        // A closed gate means the table is gone; the send below then ends it.
        let _ = gate.wait_for(|gate| index <= gate.playing).await;
        let mut made = self.synthesise(spoken)?;
        while let Some(frames) = made.next().await {
            for frame in frames? {
                replies.send(Reply::Audio { sentence: index, frame }).await?;
            }
        }
        Ok(())
    }

    /// Frames of one sentence at 48 kHz, volume applied.
    ///
    /// # Errors
    /// [`Kind::OverBudget`] before anything is asked for.
    pub fn synthesise(
        &self,
        spoken: &str,
    ) -> Result<futures::stream::BoxStream<'static, Result<Vec<Frame>, Error>>, Error> {
        let characters = u64::try_from(spoken.chars().count()).unwrap_or(u64::MAX);
        let used = Consumption { characters, ..Consumption::default() };
        self.purse
            .hold(self.voice.priced_as(), &self.npc.name, self.npc.policy.max_cost, used)?
            .settle(used);
        let chunks = self.voice.speak(SpeakRequest {
            text: spoken.to_owned(),
            voice: self.npc.voice.clone(),
            language: self.npc.language.clone(),
            pronunciation: Arc::clone(&self.said),
        });
        let shaping = Shaping::new(self.npc.voice.volume);
        // `None` at the end flushes what the filters still hold.
        let chunks = chunks.map(Some).chain(futures::stream::once(async { None }));
        Ok(chunks
            .scan(shaping, |shaping, chunk| {
                let frames = match chunk {
                    Some(Ok(chunk)) => shaping.push(&chunk),
                    Some(Err(error)) => Err(error),
                    None => Ok(shaping.finish()),
                };
                futures::future::ready(Some(frames))
            })
            .boxed())
    }
}

/// From a voice's own rate to frames: 48 kHz.
pub struct Shaping {
    resampler: Option<(SampleRate, Resampler)>,
    framer: Framer,
    volume: f32,
}

impl Shaping {
    /// Of a voice that is `volume` times as loud as it comes.
    pub fn new(volume: f32) -> Self {
        Self { resampler: None, framer: Framer::new(SampleRate::HZ_48000), volume }
    }

    /// The frames that `chunk` completes.
    ///
    /// # Errors
    /// A rate that cannot be: [`Kind::Protocol`].
    pub fn push(&mut self, chunk: &crate::provider::Pcm) -> Result<Vec<Frame>, Error> {
        if self.resampler.as_ref().is_none_or(|(rate, _)| *rate != chunk.rate) {
            let resampler = Resampler::new(chunk.rate, SampleRate::HZ_48000)
                .map_err(|error| Error::new(Kind::Protocol, error.to_string()))?;
            self.resampler = Some((chunk.rate, resampler));
        }
        let mut samples = Vec::with_capacity(chunk.samples.len() * 3);
        if let Some((_, resampler)) = &mut self.resampler {
            resampler.push(&chunk.samples, &mut samples);
        }
        Ok(self.frames(samples))
    }

    /// What is left, filled up with silence.
    pub fn finish(&mut self) -> Vec<Frame> {
        let mut samples = Vec::new();
        if let Some((_, mut resampler)) = self.resampler.take() {
            resampler.finish(&mut samples);
        }
        let mut frames = self.frames(samples);
        frames.extend(self.framer.finish());
        frames
    }

    fn frames(&mut self, mut samples: Vec<i16>) -> Vec<Frame> {
        if (self.volume - 1.0).abs() > f32::EPSILON {
            amplify(&mut samples, self.volume);
        }
        let mut frames = Vec::new();
        self.framer.push(&samples, &mut frames);
        frames
    }
}
