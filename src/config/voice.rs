//! How an NPC sounds.

use super::keys;
use crate::{
    domain::Voice,
    provider::{DefaultId, VoiceEntry, VoiceIds, VoiceService},
    yaml::{Fields, Problems, nearest},
};

/// The voice under `voice` of an NPC that speaks `language`; of `services`, which are those that are
/// configured, the first speaks for voices that name none.
pub fn voice(
    npc: &Fields,
    language: &str,
    services: &[VoiceEntry],
    problems: &mut Problems,
) -> Voice {
    let fields = npc.map("voice", &keys::npc::VOICE);
    let text = |key| fields.and_then(|fields| fields.text(key));
    let place = |key| fields.map_or(npc.at(), |fields| fields.place(key));
    let number = |key, default| {
        #[expect(clippy::cast_possible_truncation, reason = "bounded to a few units by its key")]
        let number = fields.and_then(|fields| fields.number(key)).map(|number| number as f32);
        number.unwrap_or(default)
    };
    let first = services.first().map(VoiceEntry::service).unwrap_or_default();
    let service = text("provider").and_then(VoiceService::named).unwrap_or(first);
    let provider = service.name();
    if !services.iter().any(|entry| entry.service() == service) {
        let way_out = format!("providers.tts: {{ name: {provider}, base_url: …, model: … }}");
        let message = format!("voice '{provider}' needs a speech service, and none is configured");
        problems.add(place("provider"), message, way_out);
    }
    let known_broken =
        fields.is_some_and(|fields| fields.is_broken("voice_id")) || npc.is_broken("voice");
    let voice_id = match (text("voice_id"), fields) {
        (Some(id), Some(fields)) => {
            check_id(service, id, &fields, problems);
            id
        }
        _ => match service.traits().default_id {
            DefaultId::Fixed(id) => id,
            DefaultId::Language => language,
            DefaultId::Required => {
                if !known_broken {
                    let message = "missing key 'voice_id' of 'voice'";
                    let way_out = "a voice the service knows, such as alloy";
                    problems.add(place("voice_id"), message, way_out);
                }
                ""
            }
        },
    };
    Voice {
        provider: provider.to_owned(),
        voice_id: voice_id.to_owned(),
        pitch_shift: number("pitch_shift", 0.0),
        speed_factor: number("speed_factor", 1.0),
        volume: number("volume", 1.0),
    }
}

/// Notes a voice the service does not have.
fn check_id(service: VoiceService, id: &str, voice: &Fields, problems: &mut Problems) {
    let way_out = match service.traits().ids {
        VoiceIds::Listed(ids) if !ids.contains(&id) => {
            let has = format!("{} has {}", service.name(), ids.join(", "));
            nearest(id, ids.iter().copied())
                .map_or_else(|| has.clone(), |near| format!("did you mean '{near}'? {has}"))
        }
        VoiceIds::Shaped { fits, hint } if !fits(id) => hint.to_owned(),
        VoiceIds::Listed(_) | VoiceIds::Shaped { .. } | VoiceIds::Unknown => return,
    };
    let message = format!("unknown voice {}", voice.shown("voice_id"));
    problems.add(voice.place("voice_id"), message, way_out);
}
