//! Voice activity detection: which audio of a speaker is speech.
//!
//! Entry type: [`Vad`], one for each speaker. Judges only the newest block; [`turn`](super::turn)
//! interprets pauses, counting silence from the last voiced frame.
//! **Never**: extends speech past its end, resamples, allocates while listening.

use earshot::Detector;

/// Samples judged at once: 16 ms.
const BLOCK: usize = 256;

/// Scores, 0 to 1, at which speech starts and continues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VadOptions {
    /// Starts speech if reached by [`strong_blocks`](Self::strong_blocks) in a row.
    pub strong: f32,
    /// Blocks of 16 ms; at least one.
    pub strong_blocks: u32,
    /// Probable speech; starts it if reached by [`weak_blocks`](Self::weak_blocks) in a row.
    pub weak: f32,
    /// Blocks of 16 ms; at least one.
    pub weak_blocks: u32,
    /// Speech continues while this is reached.
    pub stay: f32,
    /// Level (RMS, of 32,768) below which a block is silence whatever its score: the model still
    /// hears a voice for 100 to 300 ms after it has ended in silence.
    pub floor: f32,
}

impl Default for VadOptions {
    fn default() -> Self {
        Self { strong: 0.7, strong_blocks: 2, weak: 0.5, weak_blocks: 4, stay: 0.35, floor: 33.0 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Voicing {
    /// The newest block is more likely speech than not: enough to duck, not to act.
    pub probable: bool,
    /// Speech has started and continues.
    pub voiced: bool,
}

/// One speaker's voice activity; 8.5 kB, nearly all on the heap.
pub struct Vad {
    detector: Box<Detector>,
    /// An incomplete block; capacity of one block.
    pending: Vec<i16>,
    gate: Gate,
}

impl Vad {
    /// A speaker who has not spoken yet.
    pub fn new(options: VadOptions) -> Self {
        Self {
            detector: Detector::default_boxed(),
            pending: Vec::with_capacity(BLOCK),
            gate: Gate::new(options),
        }
    }

    /// Judges the newest whole block of 16 kHz mono audio; without one, repeats the last judgement.
    pub fn push(&mut self, mut samples: &[i16]) -> Voicing {
        while !samples.is_empty() {
            let missing = BLOCK.saturating_sub(self.pending.len());
            let (block, rest) = samples.split_at(missing.min(samples.len()));
            samples = rest;
            self.pending.extend_from_slice(block);
            if self.pending.len() == BLOCK {
                let score = self.detector.predict_i16(&self.pending);
                self.gate.judge(score, level(&self.pending));
                self.pending.clear();
            }
        }
        self.gate.voicing
    }
}

#[expect(clippy::cast_precision_loss, reason = "a block has a few hundred samples")]
fn level(block: &[i16]) -> f32 {
    let sum: f32 = block.iter().map(|&sample| f32::from(sample) * f32::from(sample)).sum();
    (sum / block.len().max(1) as f32).sqrt()
}

/// True if 16 kHz mono audio is too quiet for any voice, whatever the detector's score.
pub fn is_silent(samples: &[i16]) -> bool {
    level(samples) < VadOptions::default().floor
}

struct Gate {
    options: VadOptions,
    voicing: Voicing,
    /// Speech has started and continues, by score alone.
    speaks: bool,
    strong: u32,
    weak: u32,
}

impl Gate {
    fn new(options: VadOptions) -> Self {
        Self { options, voicing: Voicing::default(), speaks: false, strong: 0, weak: 0 }
    }

    fn judge(&mut self, score: f32, level: f32) {
        let VadOptions { strong, strong_blocks, weak, weak_blocks, stay, floor } = self.options;
        self.strong = if score >= strong { self.strong.saturating_add(1) } else { 0 };
        self.weak = if score >= weak { self.weak.saturating_add(1) } else { 0 };
        let starts = self.strong >= strong_blocks.max(1) || self.weak >= weak_blocks.max(1);
        self.speaks = starts || (self.speaks && score >= stay);
        let loud = level >= floor;
        self.voicing = Voicing { probable: loud && score >= weak, voiced: loud && self.speaks };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Voicing after each score: `p` probable, `V` voiced, `B` both, `.` neither.
    fn judged(scores: &[f32]) -> String {
        let mut gate = Gate::new(VadOptions::default());
        let letter = |score: &f32| {
            gate.judge(*score, 1_000.0);
            match (gate.voicing.probable, gate.voicing.voiced) {
                (true, true) => 'B',
                (true, false) => 'p',
                (false, true) => 'V',
                (false, false) => '.',
            }
        };
        scores.iter().map(letter).collect()
    }

    /// A buzz through two moving formants, in syllables of 160 ms with short dips.
    #[expect(clippy::cast_possible_truncation, reason = "samples are clamped")]
    fn babble(samples: usize) -> Vec<i16> {
        let (mut phase, mut states) = (0.0_f32, [[0.0_f32; 2]; 3]);
        let sample = |index: usize| {
            let t = index as f32 / 16_000.0;
            phase += (120.0 + 20.0 * (t * 4.0).sin()) / 16_000.0;
            let pulse = if phase >= 1.0 { 1.0 } else { 0.0 };
            phase = phase.fract();
            let vowel = (t / 0.16).floor();
            let formants = [
                500.0 + 250.0 * (vowel * 1.7).sin(),
                1_500.0 + 600.0 * (vowel * 2.9).cos(),
                2_500.0,
            ];
            let mut voice = 0.0;
            for (formant, [a, b]) in formants.into_iter().zip(&mut states) {
                let r = (-std::f32::consts::PI * 80.0 / 16_000.0).exp();
                let turn = 2.0 * std::f32::consts::PI * formant / 16_000.0;
                let out = pulse + 2.0 * r * turn.cos() * *a - r * r * *b;
                (*b, *a) = (*a, out);
                voice += out;
            }
            let syllable = (std::f32::consts::PI * (t / 0.16).fract()).sin().sqrt();
            (voice * syllable * 2_000.0).clamp(-30_000.0, 30_000.0) as i16
        };
        (0..samples).map(sample).collect()
    }

    #[test]
    fn two_strong_or_four_weak_blocks_start_it() {
        assert_eq!(judged(&[0.7, 0.7]), "pB");
        assert_eq!(judged(&[0.9, 0.6, 0.9, 0.6]), "pppB");
        assert_eq!(judged(&[0.5, 0.5, 0.5, 0.49, 0.5]), "ppp.p");
        assert_eq!(judged(&[0.9, 0.1, 0.9, 0.1]), "p.p.");
    }

    #[test]
    fn voicing_holds_at_low_score_and_ends_at_once() {
        assert_eq!(judged(&[0.8, 0.8, 0.36, 0.35, 0.34, 0.36]), "pBVV..");
        assert_eq!(judged(&[0.8, 0.8, 0.1, 0.8, 0.8]), "pB.pB");
    }

    #[test]
    fn near_silence_is_unvoiced_and_speech_resumes() {
        let mut gate = Gate::new(VadOptions::default());
        let heard = [(0.9, 900.0), (0.9, 900.0), (0.9, 5.0), (0.6, 0.0), (0.6, 900.0)];
        let voiced = heard.map(|(score, level)| {
            gate.judge(score, level);
            gate.voicing.voiced
        });
        assert_eq!(voiced, [false, true, false, false, true]);
    }

    #[test]
    fn zero_block_thresholds_keep_silence_unvoiced() {
        let mut gate =
            Gate::new(VadOptions { strong_blocks: 0, weak_blocks: 0, ..VadOptions::default() });
        gate.judge(0.1, 1_000.0);
        assert_eq!(gate.voicing, Voicing::default());
    }

    #[test]
    fn speech_is_voiced_and_silence_is_not() {
        let mut vad = Vad::new(VadOptions::default());
        let silence = vec![0; 320];
        for _ in 0..50 {
            assert_eq!(vad.push(&silence), Voicing::default());
        }
        let babble = babble(32_000);
        let voiced = babble.chunks(320).filter(|frame| vad.push(frame).voiced).count();
        assert!(voiced > 60, "{voiced} of 100 frames");
        let late = (0..100).map(|_| vad.push(&silence)).skip(1).filter(|v| v.voiced).count();
        assert_eq!(late, 0, "silence after speech");
    }

    #[test]
    fn any_length_of_push_gives_the_same_answer() {
        let babble = babble(16_000);
        let mut at_once = Vad::new(VadOptions::default());
        let whole = at_once.push(&babble);
        for length in [1, 7, 255, 256, 257, 320, 5_000] {
            let mut vad = Vad::new(VadOptions::default());
            let capacity = vad.pending.capacity();
            let mut last = Voicing::default();
            for part in babble.chunks(length) {
                last = vad.push(part);
            }
            assert_eq!(last, whole, "length {length}");
            assert_eq!(vad.pending.capacity(), capacity, "no allocation");
        }
        assert_eq!(at_once.push(&[]), whole);
    }
}
