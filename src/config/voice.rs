//! How an NPC sounds.

use super::keys;
use crate::{
    domain::Voice,
    yaml::{Fields, Problems, nearest},
};

/// Voices that come with flite.
const FLITE: [&str; 5] = ["slt", "rms", "awb", "kal16", "kal"];

/// What voices of a table have in common.
#[derive(Clone, Copy, Debug)]
pub struct VoiceDefaults<'a> {
    /// Service of voices that name none.
    pub provider: &'a str,
    /// Whether a speech service is configured for `openai`.
    pub openai: bool,
}

/// The voice under `voice` of an NPC that speaks `language`.
pub fn voice(
    npc: &Fields,
    language: &str,
    defaults: VoiceDefaults,
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
    let provider = text("provider").unwrap_or(defaults.provider);
    if provider == "openai" && !defaults.openai {
        let way_out = "providers.tts: { name: openai, base_url: …, model: … }";
        let message = "voice 'openai' needs a speech service, and none is configured";
        problems.add(place("provider"), message, way_out);
    }
    let known_broken =
        fields.is_some_and(|fields| fields.is_broken("voice_id")) || npc.is_broken("voice");
    let voice_id = match (text("voice_id"), fields) {
        (Some(id), Some(fields)) => {
            check_id(provider, id, &fields, problems);
            id
        }
        _ if provider == "flite" => "slt",
        _ if provider == "espeak" => language,
        _ if known_broken => "",
        _ => {
            let message = "missing key 'voice_id' of 'voice'";
            problems.add(place("voice_id"), message, "a voice the service knows, such as alloy");
            ""
        }
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
fn check_id(provider: &str, id: &str, voice: &Fields, problems: &mut Problems) {
    let (at, shown) = (voice.place("voice_id"), voice.shown("voice_id"));
    let safe = |char: char| char.is_ascii_alphanumeric() || "-_+".contains(char);
    match provider {
        "flite" if !FLITE.contains(&id) => {
            let way_out = nearest(id, FLITE).map_or_else(
                || format!("flite has {}", FLITE.join(", ")),
                |near| format!("did you mean '{near}'? flite has {}", FLITE.join(", ")),
            );
            problems.add(at, format!("unknown voice {shown}"), way_out);
        }
        "espeak" if id.starts_with('-') || !id.chars().all(safe) => {
            let way_out = "letters, digits, -, _ and +, such as en-gb or de+m3";
            problems.add(at, format!("unknown voice {shown}"), way_out);
        }
        _ => {}
    }
}
