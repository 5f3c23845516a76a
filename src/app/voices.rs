//! Stored loudness of voices. Entry type: [`KeptLevels`]. A broken file counts as empty.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{engine::VoiceLevels, files};

/// Name of the file in `data_dir`.
const KEPT: &str = "voices.json";
/// Limit of the file, in bytes.
const BYTES_MAX: u64 = 256 * 1024;

pub struct KeptLevels {
    pub levels: VoiceLevels,
    path: PathBuf,
    kept: BTreeMap<String, f32>,
}

impl KeptLevels {
    pub fn open(data_dir: &Path) -> Self {
        let path = data_dir.join(KEPT);
        let bytes = files::read(&path, BYTES_MAX).unwrap_or_default();
        let kept: BTreeMap<String, f32> = serde_json::from_slice(&bytes).unwrap_or_default();
        Self { levels: VoiceLevels::new(kept.clone()), path, kept }
    }

    /// Stores changes, unless `data_dir` is missing: loudness alone is no reason to create it.
    pub fn keep(&self) {
        let now = self.levels.kept();
        if now == self.kept || !self.path.parent().is_some_and(Path::is_dir) {
            return;
        }
        let json = serde_json::to_vec(&now).map_err(std::io::Error::other);
        if let Err(error) = json.and_then(|json| files::replace_private(&self.path, &json)) {
            let path = self.path.display();
            tracing::info!(%error, %path, "loudness of voices is not kept (it is learnt again)");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::StreamExt;

    use super::*;
    use crate::{
        audio::{Loudness, SampleRate, TARGET_LUFS},
        config,
        domain::Voice,
        engine::{Budget, Shaping, Synthesizer, VoiceKey},
        logic::budget::{BudgetOptions, Ledger},
        provider::{Pcm, Registry},
        tools::builtin::IDENTITIES,
    };

    /// More than ten seconds, of any voice.
    const LINES: [&str; 5] = [
        "Sit down, friend, the ale is cold tonight.",
        "The river was dry for an hour that night, and nobody knows why.",
        "Aye.",
        "I would not go up there without a lantern and a prayer.",
        "Three silver for the room, and mind the third step on your way up.",
    ];

    /// Difference from the overall level, in LU; `None`: too short for a loudness.
    fn beside(samples: &[i16]) -> Option<f64> {
        let mut loudness = Loudness::new(SampleRate::HZ_48000).unwrap();
        loudness.push(samples);
        loudness.lufs().map(|lufs| lufs - f64::from(TARGET_LUFS))
    }

    #[tokio::test]
    async fn shipped_npcs_speak_equally_loud() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("glyphoxa.yaml");
        let root = env!("CARGO_MANIFEST_DIR");
        let text = format!("npc_dir: {root}/npcs\ncampaign: {root}/campaigns/ravenford.yaml\n");
        std::fs::write(&file, text).unwrap();
        let config = config::load(Some(&file), &|_| None, IDENTITIES).unwrap();
        let (services, levels) = (Registry::default(), VoiceLevels::default());
        assert_eq!(config.npcs.len(), 5);
        for npc in &config.npcs {
            let voices = services.voices(&config.services, npc).unwrap();
            let budget = Budget::new(Ledger::new(BudgetOptions::default(), 0.0));
            let npc = Arc::new(npc.clone());
            let voice = Synthesizer::of(Arc::clone(&npc), voices, budget, &[]);
            let voice = voice.levelled_by(&levels);
            let mut all = Vec::new();
            for line in LINES {
                let (mut made, mut samples) = (voice.synthesise(line), Vec::new());
                while let Some(frames) = made.next().await {
                    frames.unwrap().iter().for_each(|it| samples.extend_from_slice(it.samples()));
                }
                let off = beside(&samples);
                assert!(off.is_none_or(|it| it.abs() <= 3.0), "{} \"{line}\": {off:?}", npc.name);
                all.extend(samples);
            }
            let (off, seconds) = (beside(&all).unwrap(), all.len() / 48_000);
            println!("{}: {:.1} LUFS in {seconds} s", npc.name, off + f64::from(TARGET_LUFS));
            assert!(off.abs() <= 1.0 && seconds >= 8, "{}: {off} in {seconds} s", npc.name);
        }
    }

    #[test]
    fn learnt_loudness_outlives_the_program() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let first = KeptLevels::open(&data);
        let mut line = Shaping::new(1.0);
        line.level(&first.levels, VoiceKey::of(&Voice::as_is("flite", "rms")));
        let tone = |at: u16| if at % 40 < 20 { 3_000 } else { -3_000 };
        let samples = (0..40_000).map(tone).collect();
        line.push(&Pcm { samples, rate: SampleRate::HZ_16000 }).unwrap();
        drop(line);
        first.keep();
        assert!(!data.exists(), "nothing else is kept");
        std::fs::create_dir(&data).unwrap();
        first.keep();
        let second = KeptLevels::open(&data).levels.kept();
        assert_eq!(second, first.levels.kept());
        assert!((-30.0..-10.0).contains(&second["flite rms 0 0 1"]), "{second:?}");
        std::fs::write(data.join(KEPT), "{\"a\": \"loud\"}").unwrap();
        assert!(KeptLevels::open(&data).levels.kept().is_empty());
    }
}
