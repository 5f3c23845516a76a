//! The voice of an NPC.
//!
//! Entry type: [`Synthesizer`].

use std::sync::Arc;

use super::{Shaping, VoiceKey, VoiceLevels};
use crate::{
    domain::{Entity, Npc, Pronunciation, Voice},
    engine::{Budget, Reservation},
    logic::{
        budget::Consumption, language::Language, longest_sound::longest_sound,
        speakable::SpeakableFilter, words::fold,
    },
    provider::{Chain, Error, OpenVoice, SynthesisSetup, TextToSpeech, respell},
};

#[derive(Clone)]
pub struct Synthesizer {
    npc: Arc<Npc>,
    voices: Chain<OpenVoice>,
    budget: Budget,
    said: Arc<[Pronunciation]>,
    style: Option<Arc<str>>,
    /// Loudness of voices, for levelling; `None`: unchanged.
    levels: Option<VoiceLevels>,
}

impl Synthesizer {
    /// The voice of `npc` at one service.
    pub fn new(
        npc: Arc<Npc>,
        service: Arc<dyn TextToSpeech>,
        budget: Budget,
        world: &[Entity],
    ) -> Self {
        let voices = Chain::alone(service, &npc.voice);
        Self::of(npc, voices, budget, world)
    }

    /// The voices of `npc` in order of preference. Pronunciations of its own description precede
    /// those of `world`.
    pub fn of(npc: Arc<Npc>, voices: Chain<OpenVoice>, budget: Budget, world: &[Entity]) -> Self {
        let is_own = |word: &str| npc.pronunciation.iter().any(|own| fold(&own.word) == fold(word));
        let names = world.iter().filter(|entity| !is_own(&entity.name)).filter_map(|entity| {
            let respelling = entity.pronunciation.clone()?;
            Some(Pronunciation { word: entity.name.clone(), respelling })
        });
        let said = npc.pronunciation.iter().cloned().chain(names).collect();
        Self { npc, voices, budget, said, style: None, levels: None }
    }

    #[must_use]
    pub fn levelled_by(self, levels: &VoiceLevels) -> Self {
        Self { levels: Some(levels.clone()), ..self }
    }

    /// Its voice in a turn with the game master's `note`, which is the style where the service
    /// takes one in words.
    #[must_use]
    pub fn styled(self, note: Option<Arc<str>>) -> Self {
        Self { style: note, ..self }
    }

    pub const fn levels(&self) -> Option<&VoiceLevels> {
        self.levels.as_ref()
    }

    pub const fn budget(&self) -> &Budget {
        &self.budget
    }

    pub fn costs(&self) -> bool {
        self.voices.costs()
    }

    pub(super) const fn voices(&self) -> &Chain<OpenVoice> {
        &self.voices
    }

    /// Name of the preferred service.
    pub fn service(&self) -> String {
        self.voices.iter().next().map(|first| first.name().to_string()).unwrap_or_default()
    }

    /// News of its services for the game master.
    pub fn news(&self) -> Vec<String> {
        self.voices.news()
    }

    /// ISO 639-1 code.
    pub fn language(&self) -> &str {
        &self.npc.language
    }

    /// Makes the first sentence as quick as later ones; fails if no voice can speak. Cancel
    /// safe.
    pub async fn warm(&self) -> Result<(), Error> {
        self.voices.warm().await
    }

    /// Language of `spoken` if it is recognised and differs from the voice's. A language without a
    /// word list would be mistaken for one with a list.
    pub(super) fn foreign(&self, spoken: &str) -> Option<&'static str> {
        Language::of(&self.npc.language)?;
        let code = Language::spoken_in(spoken)?.code;
        (code != self.npc.language).then_some(code)
    }

    /// Filter for spoken text, one per turn: removes emoji, stage directions and other silent text.
    /// Numbers are spoken in the language of their sentence.
    pub fn spoken_filter(&self) -> SpeakableFilter {
        let names = std::iter::once(&self.npc.name).chain(&self.npc.aliases);
        let filter = SpeakableFilter::new(&self.npc.language, names.map(String::as_str));
        if Language::of(&self.npc.language).is_some() { filter.by_sentence() } else { filter }
    }

    /// Like [`Self::spoken_filter`] for stored text: numbers stay figures.
    pub fn written_filter(&self) -> SpeakableFilter {
        let names = std::iter::once(&self.npc.name).chain(&self.npc.aliases);
        let language = if self.npc.language.starts_with("en") { "" } else { &self.npc.language };
        SpeakableFilter::new(language, names.map(String::as_str))
    }

    /// Setup of a turn, in the NPC's own voice.
    pub(super) fn setup(&self) -> SynthesisSetup {
        SynthesisSetup {
            voice: self.npc.voice.clone(),
            language: self.npc.language.clone(),
            pronunciation: Arc::clone(&self.said),
            style: self.style.clone(),
        }
    }

    /// Shaping of a sentence that `voice` speaks.
    pub(super) fn shaping(&self, voice: &Voice) -> Shaping {
        let mut shaping = Shaping::new(self.npc.voice.volume);
        if let Some(levels) = &self.levels {
            shaping.level(levels, VoiceKey::of(voice));
        }
        shaping
    }

    /// Reserves the price of a sentence that `by` speaks. Fails at a spending cap.
    pub(super) fn reserve(&self, by: &OpenVoice, spoken: &str) -> Result<Reservation, Error> {
        // Names are sent as pronounced.
        let sent = respell(spoken, &self.said).chars().count();
        let characters = u64::try_from(sent).unwrap_or(u64::MAX);
        let seconds = longest_sound(spoken, by.voice().speed_factor).as_secs_f64();
        let used = Consumption { characters, seconds, ..Consumption::default() };
        let (payer, cap) = (&self.npc.name, self.npc.policy.max_cost);
        self.budget.reserve_now(by.priced_as(), payer, cap, used)
    }
}
