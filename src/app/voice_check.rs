//! Voices of the cast that their services do not have. Entry function: [`doubtful_voices`].

use std::{fmt, time::Duration};

use tokio::time::timeout;

use super::voice_lists::{Lookup, VoiceLists};
use crate::{
    campaign::unknown_voice,
    config::Config,
    domain::{Npc, Voice},
    provider::{self, NamedEntry},
};

/// Longest wait for lists before a session.
const STARTING: Duration = Duration::from_secs(3);

/// A voice that its service does not list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubtfulVoice {
    pub npc: String,
    pub message: String,
    pub way_out: String,
    /// False if the service may have voices that it does not list.
    pub is_certain: bool,
    /// Another voice takes over.
    pub has_second: bool,
}

impl fmt::Display for DoubtfulVoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.npc, self.message, self.way_out)
    }
}

/// Voices of `config`'s cast that services do not list. Services without lists, without voices, or
/// out of reach are left out.
pub async fn doubtful_voices(lists: &VoiceLists, config: &Config) -> Vec<DoubtfulVoice> {
    let mut found = Vec::new();
    for npc in &config.npcs {
        for voice in [Some(&npc.voice), npc.voice.fallback.as_deref()].into_iter().flatten() {
            found.extend(doubt(lists, &config.services, npc, voice).await);
        }
    }
    found
}

/// The first voice of the cast that no service has, if that is known in time.
pub async fn silent_npc(lists: &VoiceLists, config: &Config) -> Option<DoubtfulVoice> {
    let found = timeout(STARTING, doubtful_voices(lists, config)).await.ok()?;
    found.into_iter().find(|it| it.is_certain && !it.has_second)
}

async fn doubt(
    lists: &VoiceLists,
    services: &provider::Options,
    npc: &Npc,
    voice: &Voice,
) -> Option<DoubtfulVoice> {
    let NamedEntry { name, entry } = services.voices.get(&voice.provider)?;
    // Services out of reach are reported where they are used.
    let Ok(Lookup::Missing(voices)) = lists.look_up(entry, &voice.voice_id).await else {
        return None;
    };
    if voices.is_empty() {
        return None;
    }
    let (message, way_out) = unknown_voice(&voice.voice_id, name, &voices);
    Some(DoubtfulVoice {
        npc: npc.name.clone(),
        message,
        way_out,
        is_certain: entry.lists_all(),
        has_second: services.voices.speaks(npc).len() > 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config, tools::builtin};

    #[tokio::test]
    async fn unknown_voices_of_the_cast_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let joe = dir.path().join("models/joe");
        std::fs::create_dir_all(&joe).unwrap();
        std::fs::write(joe.join("a.onnx"), "").unwrap();
        std::fs::write(joe.join("a.onnx.json"), "{}").unwrap();
        let path = dir.path().join("glyphoxa.yaml");
        let npc = |name: &str, voice: &str| {
            format!("  - {{ name: {name}, lines: [{{ say: Hm. }}], voice: {{ {voice} }} }}\n")
        };
        let second = "provider: piper, voice_id: jo, fallback: { provider: flite }";
        let npcs = [
            npc("Mira", "provider: piper, voice_id: joe"),
            npc("Odo", second),
            npc("Gisela", "provider: piper, voice_id: jow"),
        ];
        let text = format!("models: {{ dir: models }}\nnpcs:\n{}", npcs.concat());
        std::fs::write(&path, text).unwrap();
        let config = config::load(Some(&path), &|_| None, builtin::IDENTITIES).unwrap();
        let lists = VoiceLists::open(dir.path());
        let found = doubtful_voices(&lists, &config).await;
        let said: Vec<String> = found.iter().map(ToString::to_string).collect();
        let all = "(nearest: joe; all: glyphoxa voices --provider piper)";
        let expected = [
            format!("Odo: unknown voice 'jo' of piper {all}"),
            format!("Gisela: unknown voice 'jow' of piper {all}"),
        ];
        assert_eq!(said, expected);
        assert_eq!(silent_npc(&lists, &config).await.unwrap().npc, "Gisela");
    }
}
