//! Loudness of voices, learnt from their lines.
//!
//! A voice is known by the gating blocks (BS.1770) of its last lines, before any gain. A run starts
//! with one stored loudness per voice. [`VoiceLevels`] is shared by all tables; a line reads its
//! voice once, at its first sound, and adds its blocks when it ends.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
};

use crate::{
    audio::{gated_loudness, power_of},
    domain::Voice,
    engine::locked::locked,
};

/// Blocks stored per voice: about 20 s of speech.
const BLOCKS_MAX: usize = 200;
/// Blocks that a stored loudness counts for: about 5 s.
const KEPT_BLOCKS: usize = 50;
/// Most voices; further ones are levelled line by line.
const VOICES_MAX: usize = 500;
/// A line this far from its voice, in LU, is another voice with the old name.
const OTHER_VOICE: f32 = 8.0;
/// Blocks needed to decide that.
const OTHER_BLOCKS: usize = 5;
/// Plausible stored loudness, in LUFS.
const KEPT: std::ops::RangeInclusive<f32> = -70.0..=0.0;

/// Loudness of voices. Clones share it.
#[derive(Clone, Default)]
pub struct VoiceLevels(Arc<Mutex<BTreeMap<VoiceKey, VecDeque<f32>>>>);

/// A voice with everything that affects its loudness.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VoiceKey(String);

impl VoiceKey {
    pub fn of(voice: &Voice) -> Self {
        let Voice { provider, voice_id, pitch_shift, speed_factor, formant_shift, .. } = voice;
        Self(format!("{provider} {voice_id} {pitch_shift} {formant_shift} {speed_factor}"))
    }
}

impl VoiceLevels {
    /// Voices with a stored loudness, in LUFS by key.
    pub fn new(kept: BTreeMap<String, f32>) -> Self {
        let kept = kept.into_iter().filter(|(_, lufs)| KEPT.contains(lufs)).take(VOICES_MAX);
        let powers = |lufs: f32| -> VecDeque<f32> {
            std::iter::repeat_n(power_of(lufs), KEPT_BLOCKS).collect()
        };
        let voices = kept.map(|(key, lufs)| (VoiceKey(key), powers(lufs))).collect();
        Self(Arc::new(Mutex::new(voices)))
    }

    /// Loudness of all voices that spoke, in LUFS by key, to a tenth.
    pub fn kept(&self) -> BTreeMap<String, f32> {
        let voices = locked(&self.0);
        let known = voices.iter().filter_map(|(key, powers)| {
            let lufs = gated_loudness(powers.iter().copied())?;
            Some((key.0.clone(), (lufs * 10.0).round() / 10.0))
        });
        known.collect()
    }

    pub fn of(&self, voice: &VoiceKey) -> Vec<f32> {
        locked(&self.0)
            .get(voice)
            .map(|powers| powers.iter().copied().collect())
            .unwrap_or_default()
    }

    pub fn learn(&self, voice: &VoiceKey, line: &[f32]) {
        let Some(measured) = gated_loudness(line.iter().copied()) else { return };
        let mut voices = locked(&self.0);
        if voices.len() >= VOICES_MAX && !voices.contains_key(voice) {
            return;
        }
        let powers = voices.entry(voice.clone()).or_default();
        let known = gated_loudness(powers.iter().copied());
        let is_other = known.is_some_and(|known| (known - measured).abs() > OTHER_VOICE);
        if is_other && line.len() >= OTHER_BLOCKS {
            powers.clear();
        }
        powers.extend(line);
        powers.drain(..powers.len().saturating_sub(BLOCKS_MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> VoiceKey {
        VoiceKey::of(&Voice::as_is("flite", name))
    }

    #[test]
    fn voices_are_kept_as_loud_as_they_were() {
        let levels = VoiceLevels::new(BTreeMap::from([("gone mad 0 0 1".to_owned(), f32::NAN)]));
        assert_eq!(levels.kept(), BTreeMap::new());
        levels.learn(&key("rms"), &[power_of(-26.0); 30]);
        levels.learn(&key("slt"), &[0.0; 30]);
        let kept = levels.kept();
        assert_eq!(kept, BTreeMap::from([("flite rms 0 0 1".to_owned(), -26.0)]));
        assert_eq!(VoiceLevels::new(kept.clone()).kept(), kept);
    }

    #[test]
    fn voice_that_became_another_is_learnt_anew() {
        let levels = VoiceLevels::default();
        for _ in 0..100 {
            levels.learn(&key("rms"), &[power_of(-14.0); 20]);
        }
        assert_eq!(levels.of(&key("rms")).len(), BLOCKS_MAX);
        levels.learn(&key("rms"), &[power_of(-30.0); 20]);
        assert_eq!(levels.kept().values().copied().collect::<Vec<_>>(), [-30.0]);
    }
}
