//! Voices available for imported NPCs.
//!
//! Entry function: [`voice_offers`].

use crate::{campaign::VoiceOffer, config::Config, provider::VoiceService};

/// Installed and configured voices, networks and services before the simple ones of this machine. If a
/// service does not list its voices: those of the cast.
pub fn voice_offers(config: &Config) -> Vec<VoiceOffer> {
    let of_cast = |service: VoiceService| {
        let voices = config.npcs.iter().map(|npc| &npc.voice);
        let own = voices.filter(|it| it.provider == service.name() && !it.voice_id.is_empty());
        own.map(|it| it.voice_id.clone()).collect::<Vec<_>>()
    };
    let mut offers = Vec::new();
    for entry in &config.services.voices {
        let service = entry.service();
        let mut ids = entry.installed(&config.assistant.language);
        if ids.is_empty() {
            ids = of_cast(service);
        }
        offers.extend(ids.into_iter().map(|voice_id| VoiceOffer { service, voice_id }));
    }
    // Services without files or settings sound worse.
    offers.sort_by_key(|offer| offer.service.without_settings().is_some());
    offers
}
