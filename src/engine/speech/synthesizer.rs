//! Sentences to frames, in order, one sentence ahead of what is playing.
//!
//! Entry type: [`Synthesizer`]. **Never**: plays anything, asks a model.

use std::sync::Arc;

use futures::{StreamExt, stream::BoxStream};
use tokio::sync::watch;

use super::{Shaping, VoiceKey, VoiceLevels};
use crate::{
    audio::Frame,
    domain::{Entity, Npc, Pronunciation},
    engine::{Budget, Gate, Reply, ReplyPort},
    logic::{budget::Consumption, language::Language, speakable::SpeakableFilter, words::fold},
    provider::{Error, SpeakRequest, TextToSpeech, respell},
};

/// An NPC's voice; clones share what it is paid from.
#[derive(Clone)]
pub struct Synthesizer {
    npc: Arc<Npc>,
    voice: Arc<dyn TextToSpeech>,
    budget: Budget,
    /// Pronunciations of words.
    said: Arc<[Pronunciation]>,
    /// Loudness of the voices, by which its own is levelled; `None`: it is as loud as it comes.
    levels: Option<VoiceLevels>,
}

impl Synthesizer {
    /// The voice of `npc`, paid from `budget`. It says words as its own description has them, and other
    /// names of `world` as theirs.
    pub fn new(
        npc: Arc<Npc>,
        voice: Arc<dyn TextToSpeech>,
        budget: Budget,
        world: &[Entity],
    ) -> Self {
        let is_own = |word: &str| npc.pronunciation.iter().any(|own| fold(&own.word) == fold(word));
        let names = world.iter().filter(|entity| !is_own(&entity.name)).filter_map(|entity| {
            let respelling = entity.pronunciation.clone()?;
            Some(Pronunciation { word: entity.name.clone(), respelling })
        });
        let said = npc.pronunciation.iter().cloned().chain(names).collect();
        Self { npc, voice, budget, said, levels: None }
    }

    /// Brings it to the loudness of all voices, by what `levels` knows of it.
    #[must_use]
    pub fn levelled_by(self, levels: &VoiceLevels) -> Self {
        Self { levels: Some(levels.clone()), ..self }
    }

    /// Loudness of the voices, by which its own is levelled.
    pub const fn levels(&self) -> Option<&VoiceLevels> {
        self.levels.as_ref()
    }

    /// The budget that pays for it.
    pub const fn budget(&self) -> &Budget {
        &self.budget
    }

    /// True if speaking costs something.
    pub fn costs(&self) -> bool {
        self.voice.priced_as().is_some()
    }

    /// Name of the service that speaks now: that of the fallback voice while the NPC's own cannot.
    pub fn service(&self) -> String {
        self.voice.name().to_owned()
    }

    /// The language it speaks, as an ISO 639-1 code.
    pub fn language(&self) -> &str {
        &self.npc.language
    }

    /// Makes the first sentence as quick as the others. Cancel safe.
    ///
    /// # Errors
    /// The voice's own: it will not speak.
    pub async fn warm(&self) -> Result<(), Error> {
        self.voice.warm(&self.npc.voice).await
    }

    /// The language of `spoken` where it is recognised and is another than its own. Text in a
    /// language without a word list would be taken for one that has a list.
    fn foreign(&self, spoken: &str) -> Option<&'static str> {
        Language::of(&self.npc.language)?;
        let code = Language::spoken_in(spoken)?.code;
        (code != self.npc.language).then_some(code)
    }

    /// Filter for spoken text, one per turn: takes out emoji, stage directions and everything else that
    /// would leave a silence. Numbers are said in the language of their sentence.
    pub fn spoken_filter(&self) -> SpeakableFilter {
        let names = std::iter::once(&self.npc.name).chain(&self.npc.aliases);
        let filter = SpeakableFilter::new(&self.npc.language, names.map(String::as_str));
        if Language::of(&self.npc.language).is_some() { filter.by_sentence() } else { filter }
    }

    /// Filter for the text that is stored and shown: like [`Self::spoken_filter`], but numbers stay
    /// figures.
    pub fn written_filter(&self) -> SpeakableFilter {
        let names = std::iter::once(&self.npc.name).chain(&self.npc.aliases);
        let language = if self.npc.language.starts_with("en") { "" } else { &self.npc.language };
        SpeakableFilter::new(language, names.map(String::as_str))
    }

    /// Speaks one sentence as sentence `index` once it may: one ahead of the one playing.
    ///
    /// # Errors
    /// The voice's own, or a spending cap was reached.
    pub async fn speak(
        &self,
        index: usize,
        spoken: &str,
        gate: &mut watch::Receiver<Gate>,
        replies: &ReplyPort,
    ) -> Result<(), Error> {
        // A closed gate means the table is gone; the send below then ends it.
        let _ = gate.wait_for(|gate| index <= gate.playing).await;
        let mut made = self.synthesise(spoken).await?;
        while let Some(frames) = made.next().await {
            for frame in frames? {
                replies.send(Reply::Audio { sentence: index, frame }).await?;
            }
        }
        Ok(())
    }

    /// Frames of one sentence at 48 kHz, volume applied. Cancel safe.
    ///
    /// # Errors
    /// A spending cap was reached; nothing is asked for then.
    pub async fn synthesise(
        &self,
        spoken: &str,
    ) -> Result<BoxStream<'static, Result<Vec<Frame>, Error>>, Error> {
        // Names are sent as they are said.
        let sent = respell(spoken, &self.said).chars().count();
        let characters = u64::try_from(sent).unwrap_or(u64::MAX);
        let used = Consumption { characters, ..Consumption::default() };
        let (payer, cap) = (&self.npc.name, self.npc.policy.max_cost);
        // Whatever is heard of it, it costs as much: it is booked when its sound is over or not wanted.
        let reserved = self.budget.reserve(self.voice.priced_as(), payer, cap, used).await?;
        let chunks = self.voice.speak(SpeakRequest {
            text: spoken.to_owned(),
            voice: self.npc.voice.clone(),
            foreign: self.foreign(spoken),
            pronunciation: Arc::clone(&self.said),
            attempts: reserved.attempts(),
        });
        let shaping = Shaping::new(self.npc.voice.volume);
        let (voice, npc) = (Arc::clone(&self.voice), Arc::clone(&self.npc));
        let mut levels = self.levels.clone();
        // `None` at the end flushes what the filters still hold.
        let chunks = chunks.map(Some).chain(futures::stream::once(async { None }));
        Ok(chunks
            .scan(shaping, move |shaping, chunk| {
                let _until_its_end = &reserved;
                // With the first sound it is known whether the fallback voice speaks.
                if let Some(Ok(_)) = &chunk
                    && let Some(levels) = levels.take()
                {
                    shaping.level(&levels, VoiceKey::of(&voice.speaks_as(&npc.voice)));
                }
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
