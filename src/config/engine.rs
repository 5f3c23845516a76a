//! Engines of an NPC's speech.

use std::time::Duration;

use super::keys;
use crate::{
    domain::{EngineKind, S2s},
    provider::{SpeechOptions, SpeechService},
    yaml::{Fields, Problems, quoted},
};

/// Settings that engines depend on.
#[derive(Clone, Copy, Debug)]
pub struct Engines<'a> {
    /// Configured speech-to-speech services; the first is the default.
    pub services: &'a [SpeechOptions],
    /// All of them are valid.
    pub is_read: bool,
    /// Some topics may never be brought up.
    pub is_guarded: bool,
}

impl Engines<'_> {
    /// True if a speech-to-speech service is configured, even an invalid one.
    pub const fn may_talk(self) -> bool {
        !self.services.is_empty() || !self.is_read
    }
}

/// The engine of an NPC; reports one that cannot run. `is_there`: a speech-to-speech service
/// exists.
pub fn engine(npc: &Fields, is_there: bool, problems: &mut Problems) -> EngineKind {
    let at = npc.place("engine");
    match npc.text("engine") {
        Some("sentence_cascade") => {
            if npc.get("cascade").is_none() && !npc.is_broken("cascade") {
                let message = "engine 'sentence_cascade' needs two chat models";
                let way_out = "add cascade: { opener: NAME, strong: NAME }, names of providers.llm";
                problems.add(at, message, way_out);
            }
            EngineKind::SentenceCascade
        }
        Some("s2s" | "speech_to_speech") => {
            if !is_there {
                let message = format!(
                    "engine {} needs a speech-to-speech service, and none is configured",
                    npc.shown("engine")
                );
                let way_out = "providers.speech_to_speech: { model: gpt-realtime-2.1, api_key: … }";
                problems.add(at, message, way_out);
            }
            EngineKind::SpeechToSpeech
        }
        _ => EngineKind::Cascaded,
    }
}

/// Its speech-to-speech settings; reports an unknown service.
pub fn s2s(npc: &Fields, engines: Engines, problems: &mut Problems) -> S2s {
    let default = S2s::default();
    let Some(fields) = npc.map("s2s", &keys::npc::S2S) else { return default };
    let provider = fields.text("provider");
    // Without any service, the engine has a problem already, or 's2s' no effect.
    let is_certain = engines.is_read && !engines.services.is_empty();
    if is_certain && SpeechOptions::of(engines.services, provider).is_none() {
        let shown = fields.shown("provider");
        let message = format!("speech-to-speech service {shown} is not configured");
        let names: Vec<_> = engines.services.iter().map(|it| it.name.as_str()).collect();
        let names = names.join(" or ");
        let way_out = format!("add it to providers.speech_to_speech, or use {names}");
        problems.add(fields.place("provider"), message, way_out);
    }
    S2s {
        provider: provider.map(str::to_owned),
        voice: fields.text("voice").map(str::trim).map(str::to_owned),
        slow_tool: fields.whole("slow_tool_ms").map_or(default.slow_tool, Duration::from_millis),
        max_answer: fields.whole("max_answer_s").map_or(default.max_answer, Duration::from_secs),
    }
}

/// The engine, if named and known.
fn named(npc: &Fields) -> Option<EngineKind> {
    npc.text("engine").and_then(EngineKind::named)
}

/// Warns of an engine of the assistant, which always writes.
pub fn warn_assistant(assistant: &Fields, warnings: &mut Problems) {
    let is_set = |key: &&str| match *key {
        "engine" => named(assistant).is_some_and(|it| it != EngineKind::Cascaded),
        key => assistant.get(key).is_some(),
    };
    for key in ["engine", "cascade", "s2s"].into_iter().filter(is_set) {
        let message = format!("'{key}' has no effect on the assistant, which writes its answers");
        warnings.add(assistant.place(key), message, "remove it");
    }
}

/// Warns of valid settings that are probably unintended.
pub fn warn(npc: &Fields, name: &str, engines: Engines, warnings: &mut Problems) {
    let name = quoted(name);
    let kind = named(npc).unwrap_or(EngineKind::Cascaded);
    let is_s2s = kind == EngineKind::SpeechToSpeech;
    if kind != EngineKind::SentenceCascade
        && npc.get("cascade").is_some()
        && !npc.is_broken("engine")
    {
        let engine = kind.short();
        let message = format!("'cascade' has no effect on {name}, whose engine is {engine}");
        warnings.add(npc.place("cascade"), message, "remove it, or set engine: sentence_cascade");
    }
    let (own, s2s) = (npc.get("voice"), npc.map("s2s", &keys::npc::S2S));
    if !is_s2s && s2s.is_some() && !npc.is_broken("engine") {
        let engine = kind.short();
        let message = format!("'s2s' has no effect on {name}, whose engine is {engine}");
        warnings.add(npc.place("s2s"), message, "remove it, or set engine: s2s");
    }
    if !is_s2s {
        return;
    }
    let has_voice = |fields: Fields| fields.get("voice").is_some() || fields.is_broken("voice");
    if !s2s.is_some_and(has_voice) && !npc.is_broken("s2s") {
        let message = format!("{name} has no voice for the speech-to-speech service");
        let named = s2s.and_then(|fields| fields.text("provider"));
        let service = SpeechOptions::of(engines.services, named).map(|it| it.service);
        let way_out = match service.unwrap_or_default() {
            SpeechService::OpenAi => "add s2s: { voice: cedar }",
            SpeechService::Gemini => "add s2s: { voice: Charon }",
        };
        let way_out = format!("{way_out}; without one all NPCs get the service's default voice");
        warnings.add(npc.place("engine"), message, way_out);
    }
    if engines.is_guarded {
        let message =
            format!("{name} answers through the cascade, because lines_and_veils are set");
        let way_out =
            "a voice model's words cannot be checked before they are heard; set engine: cascaded";
        warnings.add(npc.place("engine"), message, way_out);
    }
    if own.is_none() && !npc.is_broken("voice") {
        let message = format!("{name} has no 'voice' for answers through the cascade");
        let way_out =
            "add 'voice'; it speaks fillers, and replies while the service is unavailable";
        warnings.add(npc.place("engine"), message, way_out);
    }
}
