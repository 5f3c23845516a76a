//! Open voice services, and the voices of NPCs in order of preference.
//!
//! Entry type: [`VoiceChains`].

use std::sync::Arc;

use super::{OpenVoice, VoiceEntry, VoiceList, Voices};
use crate::{
    domain::Npc,
    provider::{
        Candidate, Chain, Error, Kind, NamedEntry, TextToSpeech, chain::Health, entries::Pool,
    },
};

#[derive(Default)]
pub struct VoiceChains {
    voices: Voices,
    /// Shared by all tables.
    health: Pool<NamedEntry<VoiceEntry>, Arc<Health>>,
}

impl VoiceChains {
    pub fn open(&self, entry: &VoiceEntry) -> Result<Arc<dyn TextToSpeech>, Error> {
        self.voices.open(entry)
    }

    /// The voices of `npc` at the services of `list`.
    pub fn chain(&self, list: &VoiceList, npc: &Npc) -> Result<Chain<OpenVoice>, Error> {
        let mut all = Vec::new();
        for voice in list.speaks(npc) {
            let Some(named) = list.get(&voice.provider) else { continue };
            let health = self.health.get(named, || Ok(Arc::default()))?;
            let voice = Arc::new(OpenVoice::new(self.open(&named.entry)?, voice));
            all.push(Candidate::new(&named.name, voice, health));
        }
        Chain::in_order(all, false)
            .ok_or_else(|| Error::new(Kind::Missing, "no voice is configured (set providers.tts)"))
    }

    /// Configured services by name; true: left alone after failures.
    pub fn breakers(&self, list: &VoiceList) -> Vec<(String, bool)> {
        self.health.breakers(list.configured())
    }

    pub fn retain(&self, wanted: &VoiceList) {
        self.voices.retain(|entry| wanted.iter().any(|it| it == entry));
        self.health.retain(|named| wanted.named().contains(named));
    }
}
