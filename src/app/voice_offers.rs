//! Voices available for imported NPCs.
//!
//! Entry functions: [`voice_offers`], [`voice_lister`].

use crate::{
    campaign::{VoiceLister, VoiceOffer},
    config::Config,
    domain::Npc,
    provider::{VoiceList, VoiceService},
};

/// Installed and configured voices, networks and services before the simple ones of this machine. If a
/// service does not list its voices: those of the cast.
pub fn voice_offers(config: &Config) -> Vec<VoiceOffer> {
    offers(&config.services.voices, &config.npcs, &config.assistant.language)
}

/// Lists the [`voice_offers`] of `config`, with what is installed then.
pub fn voice_lister(config: &Config) -> VoiceLister {
    let (entries, npcs) = (config.services.voices.clone(), config.npcs.clone());
    let language = config.assistant.language.clone();
    VoiceLister::new(move || offers(&entries, &npcs, &language))
}

fn offers(entries: &VoiceList, npcs: &[Npc], language: &str) -> Vec<VoiceOffer> {
    let of_cast = |service: VoiceService| {
        let voices = npcs.iter().map(|npc| &npc.voice);
        let speaks = |provider: &str| entries.get(provider).map(|named| named.entry.service());
        let own =
            voices.filter(|it| speaks(&it.provider) == Some(service) && !it.voice_id.is_empty());
        own.map(|it| it.voice_id.clone()).collect::<Vec<_>>()
    };
    let mut offers = Vec::new();
    for entry in entries.iter() {
        let service = entry.service();
        let mut ids = entry.installed(language);
        if ids.is_empty() {
            ids = of_cast(service);
        }
        offers.extend(ids.into_iter().map(|voice_id| VoiceOffer { service, voice_id }));
    }
    // Services without files or settings sound worse.
    offers.sort_by_key(|offer| offer.service.without_settings().is_some());
    offers
}
