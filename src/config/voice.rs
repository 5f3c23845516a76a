//! Voice of an NPC.

use super::keys;
use crate::{
    domain::Voice,
    provider::{DefaultId, VoiceIds, VoiceList, VoiceService},
    yaml::{Fields, Position, Problems, nearest},
};

/// The voice of an NPC that speaks `language`; the first of `services` is the default.
pub fn voice(npc: &Fields, language: &str, services: &VoiceList, problems: &mut Problems) -> Voice {
    let fields = npc.map("voice", &keys::npc::VOICE);
    let first = services.first().map(|first| first.entry.service()).unwrap_or_default();
    let written = Written { fields, at: npc.at(), is_broken: npc.is_broken("voice"), language };
    let service = written.service().unwrap_or(first);
    if !services.get(service.name()).is_some() {
        let provider = service.name();
        let way_out = format!("providers.tts: {{ name: {provider}, base_url: … }}");
        let message = format!("voice '{provider}' needs a speech service, and none is configured");
        problems.add(written.place("provider"), message, way_out);
    }
    let fallback = fields.and_then(|fields| fields.map("fallback", &keys::npc::FALLBACK));
    let fallback = fallback.map(|fields| {
        let second = Written { fields: Some(fields), is_broken: false, ..written };
        Box::new(second.voice(second.service().unwrap_or_default(), problems))
    });
    let volume = written.number("volume", 1.0);
    Voice { volume, fallback, ..written.voice(service, problems) }
}

/// A voice in a file, if any.
#[derive(Clone, Copy)]
struct Written<'a> {
    fields: Option<Fields<'a>>,
    /// Place of the voice, even without one.
    at: Position,
    /// Its problem is reported already.
    is_broken: bool,
    language: &'a str,
}

impl<'a> Written<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        self.fields.and_then(|fields| fields.text(key))
    }

    fn place(&self, key: &str) -> Position {
        self.fields.map_or(self.at, |fields| fields.place(key))
    }

    fn number(&self, key: &str, default: f32) -> f32 {
        #[expect(clippy::cast_possible_truncation, reason = "bounded to a few units by its key")]
        let number = self.fields.and_then(|fields| fields.number(key)).map(|it| it as f32);
        number.unwrap_or(default)
    }

    fn service(&self) -> Option<VoiceService> {
        self.text("provider").and_then(VoiceService::named)
    }

    fn voice(&self, service: VoiceService, problems: &mut Problems) -> Voice {
        let is_set = |key: &&str| self.fields.is_some_and(|fields| fields.get(key).is_some());
        if let Some(key) = Some("formant_shift").filter(is_set)
            && !service.traits().shifts_formants
        {
            let message = format!("'{key}' has no effect on '{}'", service.name());
            problems.add(
                self.place(key),
                message,
                "remove it, or use the provider piper or kokoro",
            );
        }
        Voice {
            provider: service.name().to_owned(),
            voice_id: self.id(service, problems).to_owned(),
            pitch_shift: self.number("pitch_shift", 0.0),
            speed_factor: self.number("speed_factor", 1.0),
            formant_shift: self.number("formant_shift", 0.0),
            // The NPC's volume applies to every voice.
            volume: 1.0,
            fallback: None,
        }
    }

    /// Its name at `service`.
    fn id(&self, service: VoiceService, problems: &mut Problems) -> &'a str {
        if let (Some(id), Some(fields)) = (self.text("voice_id"), self.fields) {
            check_id(service, id, &fields, problems);
            return id;
        }
        match service.traits().default_id {
            DefaultId::Fixed(id) => id,
            DefaultId::Language => self.language,
            DefaultId::Required => {
                let is_known = self.fields.is_some_and(|fields| fields.is_broken("voice_id"));
                if !is_known && !self.is_broken {
                    let message = "missing key 'voice_id' of 'voice'";
                    let way_out = "name a voice of the service, such as alloy";
                    problems.add(self.place("voice_id"), message, way_out);
                }
                ""
            }
        }
    }
}

/// Reports a voice the service does not have.
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
