//! Levels one line of a voice to the common loudness, while it is made.
//!
//! In: 48 kHz sound in the service's pieces. Out: as many samples, without delay. A piece is
//! measured before it leaves, so a piece with a whole line is right at once. A known voice starts
//! with its own gain, which then moves slowly, and only as far as the line differs from its voice
//! by more than 2 LU. An unknown voice starts unchanged, or quieter if it is too loud, and arrives
//! within its first words. Peaks end at -1 dBTP.
//!
//! Entry type: [`Levelling`].

use super::levels::{VoiceKey, VoiceLevels};
use crate::audio::{
    Ceiling, GatingBlocks, SampleRate, TARGET_LUFS, factor_of, gated_loudness, loudness_of,
    to_sample,
};

/// Most that a voice is raised or lowered, in dB.
const RAISED_MAX: f32 = 20.0;
const LOWERED_MAX: f32 = 30.0;
/// Tolerated distance from the target, in LU: voices vary.
const SPREAD: f32 = 2.0;
/// Added to it, divided by the number of blocks, because first words say little about a line.
const UNSURE: f32 = 4.0;
/// Least part of the first block that counts.
const SHARE_MIN: f32 = 0.25;
/// Blocks after which a voice is known: about a second.
const SURE_BLOCKS: usize = 10;
/// A line this far from its voice, in LU, makes it unknown.
const FAR: f32 = 6.0;
/// Fastest rise and fall of the gain, in dB/s: of known voices, and of unknown ones.
const SLOW: (f32, f32) = (12.0, 12.0);
const FAST: (f32, f32) = (30.0, 120.0);

pub struct Levelling {
    levels: VoiceLevels,
    voice: VoiceKey,
    /// Powers of the voice's earlier blocks, then of this line's.
    powers: Vec<f32>,
    before: usize,
    blocks: GatingBlocks,
    /// In dB; `None`: nothing has left.
    gain: Option<f32>,
    ceiling: Ceiling,
}

impl Levelling {
    pub fn new(levels: &VoiceLevels, voice: VoiceKey) -> Self {
        let powers = levels.of(&voice);
        Self {
            levels: levels.clone(),
            voice,
            before: powers.len(),
            powers,
            blocks: GatingBlocks::new(),
            gain: None,
            ceiling: Ceiling::new(),
        }
    }

    /// Levels the next samples, and applies `volume` after that.
    pub fn apply(&mut self, samples: &mut [i16], volume: f32) {
        if samples.is_empty() {
            return;
        }
        self.blocks.push(samples, &mut self.powers);
        let (target, (rise, fall)) = self.target();
        let from = self.gain.unwrap_or_else(|| self.first(target));
        let seconds = SampleRate::HZ_48000.duration_of(samples.len()).as_secs_f32();
        let to = target.clamp(from - fall * seconds, from + rise * seconds);
        self.gain = Some(to);
        let (mut factor, end) = (volume * factor_of(from), volume * factor_of(to));
        let step = (end - factor) / samples.len() as f32;
        let louder = samples.iter().map(|sample| {
            factor += step;
            f32::from(*sample) * factor
        });
        let mut levelled: Vec<f32> = louder.collect();
        self.ceiling.apply(&mut levelled);
        for (sample, level) in samples.iter_mut().zip(levelled) {
            *sample = to_sample(level);
        }
    }

    fn own(&self) -> &[f32] {
        self.powers.get(self.before..).unwrap_or_default()
    }

    fn first(&self, target: f32) -> f32 {
        let is_unknown = self.before == 0 && self.own().is_empty();
        if is_unknown { target.min(0.0) } else { target }
    }

    /// Target gain by the sound so far, and its fastest change.
    fn target(&self) -> (f32, (f32, f32)) {
        let known = gated_loudness(self.powers.iter().take(self.before).copied());
        let line = gated_loudness(self.own().iter().copied());
        let (power, share) = self.blocks.so_far();
        // A beginning may be quieter than the line, but hardly louder.
        let early = Some(loudness_of(power)).filter(|it| share >= SHARE_MIN && known < Some(*it));
        let is_far = |known: &f32| line.or(early).is_some_and(|it| (known - it).abs() > FAR);
        let loudness = match (known.filter(|known| !is_far(known)), line) {
            (Some(known), Some(line)) => {
                let all = gated_loudness(self.powers.iter().copied()).unwrap_or(known);
                let spread = SPREAD + UNSURE / self.own().len().max(1) as f32;
                all.clamp(line - spread, line + spread)
            }
            (Some(known), None) => known,
            (None, Some(line)) => line,
            (None, None) => guess(loudness_of(power), share),
        };
        let is_sure = self.before >= SURE_BLOCKS && known.is_some_and(|known| !is_far(&known));
        let target = (TARGET_LUFS - loudness).clamp(-LOWERED_MAX, RAISED_MAX);
        (target, if is_sure { SLOW } else { FAST })
    }
}

/// Loudness of an unknown voice's line, by this `share` of its first block.
fn guess(early: f32, share: f32) -> f32 {
    match early {
        _ if !early.is_finite() => TARGET_LUFS,
        _ if early > TARGET_LUFS => early,
        _ => TARGET_LUFS + (early - TARGET_LUFS) * share,
    }
}

impl Drop for Levelling {
    fn drop(&mut self) {
        let (power, share) = self.blocks.so_far();
        match self.own() {
            [] if share >= SHARE_MIN => self.levels.learn(&self.voice, &[power]),
            line => self.levels.learn(&self.voice, line),
        }
    }
}
