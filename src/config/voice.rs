//! Voice of an NPC.

use super::{keys, listed::entries};
use crate::{
    domain::Voice,
    provider::{DefaultId, Replacement, VoiceIds, VoiceList, VoiceService},
    yaml::{Fields, Node, Position, Problems, Value, nearest},
};

/// The voice of an NPC that speaks `language`; the first of `services` is the default.
pub fn voice(npc: &Fields, language: &str, services: &VoiceList, problems: &mut Problems) -> Voice {
    let fields = npc.map("voice", &keys::npc::VOICE);
    let (at, is_broken) = (npc.at(), npc.is_broken("voice"));
    let written = Written { fields, at, is_broken, language, services, path: "voice" };
    let here = (VoiceService::default().name(), VoiceService::default());
    let first = services.first().map(|first| (first.name.as_str(), first.entry.service()));
    let named = written.service(problems).or(first).unwrap_or(here);
    written.check_configured(named, problems);
    let fallback = fields.and_then(|fields| fields.map("fallback", &keys::npc::FALLBACK));
    let fallback = fallback.map(|fields| {
        let second = Written { fields: Some(fields), is_broken: false, ..written };
        let named = second.service(problems).unwrap_or(here);
        Box::new(second.voice(named, problems))
    });
    let volume = written.number("volume", 1.0);
    Voice { volume, fallback, ..written.voice(named, problems) }
}

/// `services` with the voices in place of others that the entries of `providers.tts` in `file` name.
pub fn with_replacements(
    file: &Fields,
    language: &str,
    services: VoiceList,
    problems: &mut Problems,
) -> VoiceList {
    let replacements = replacements(file, language, &services, problems);
    services.replacing(replacements)
}

fn replacements(
    file: &Fields,
    language: &str,
    services: &VoiceList,
    problems: &mut Problems,
) -> Vec<Replacement> {
    let mut found = Vec::new();
    let Some(all) = file.map("providers", &keys::providers::PROVIDERS) else { return found };
    for (fields, listed) in entries(&all, "tts", &keys::providers::TTS).zip(services.named()) {
        let path = keys::providers::FALLBACK_VOICES;
        let voices = fields.get(path).map(Node::entries).unwrap_or_default();
        for entry in voices.iter().filter(|entry| matches!(entry.node.value, Value::Map(_))) {
            let fields = Some(Fields::new(&entry.node, &keys::npc::REPLACEMENT));
            let (at, is_broken) = (entry.at, false);
            let written = Written { fields, at, is_broken, language, services, path };
            let Some(named) = written.service(problems) else { continue };
            written.check_configured(named, problems);
            let voice_id = (entry.key != "*").then(|| entry.key.clone());
            let by = written.voice(named, problems);
            found.push(Replacement { entry: listed.name.clone(), voice_id, by });
        }
    }
    found
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
    services: &'a VoiceList,
    /// Path of its keys.
    path: &'static str,
}

/// A service of voices, and its name.
type Named<'a> = (&'a str, VoiceService);

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

    /// The service it names; `None`: none, or an unknown one, which is reported.
    fn service(&self, problems: &mut Problems) -> Option<Named<'a>> {
        let name = self.text("provider")?;
        let listed = self.services.get(name).map(|named| named.entry.service());
        let found = listed.or_else(|| VoiceService::named(name));
        if found.is_none() {
            let own = self.services.named().iter().map(|named| named.name.as_str());
            let own = own.filter(|name| VoiceService::named(name).is_none());
            let known = VoiceService::NAMES.iter().copied().chain(own).collect::<Vec<_>>();
            let shown = self.fields.map(|fields| fields.shown("provider")).unwrap_or_default();
            let message = format!("'{}.provider' is {shown}", self.path);
            problems.add(
                self.place("provider"),
                message,
                format!("expected {}", known.join(" or ")),
            );
        }
        Some((name, found?))
    }

    /// Reports a service that needs settings and has none.
    fn check_configured(&self, (name, service): Named, problems: &mut Problems) {
        if self.services.get(name).is_none() {
            let provider = service.name();
            let needs = match service {
                VoiceService::OpenAi | VoiceService::Wyoming => "base_url",
                _ => "api_key",
            };
            let way_out = format!("providers.tts: {{ name: {provider}, {needs}: … }}");
            let message =
                format!("voice '{provider}' needs a speech service, and none is configured");
            problems.add(self.place("provider"), message, way_out);
        }
    }

    fn voice(&self, (name, service): Named, problems: &mut Problems) -> Voice {
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
            provider: name.to_owned(),
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
                    let message = format!("missing key 'voice_id' of '{}'", self.path);
                    let way_out = match service.traits().ids {
                        VoiceIds::Shaped { hint, .. } => hint,
                        VoiceIds::Listed(_) | VoiceIds::Unknown => {
                            "name a voice of the service, such as alloy"
                        }
                    };
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
