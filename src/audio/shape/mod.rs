//! Pitch and speed for voices whose service has neither: [`Shape`].
//!
//! Speed is WSOLA (Verhelst and Roelands, 1993): short pieces of sound overlap, each taken where it
//! best continues the previous one, so that no period of the voice breaks. Pitch stretches the
//! sound, then resamples it; formants move along, which makes a goblin or an ogre. **Never**
//! changes a sample when nothing is to change.

use super::pcm::{SampleRate, to_count, to_sample};
use super::resample::{ResampleError, Resampler};
use std::time::Duration;

/// Length of the cross-fade and of compared pieces. Longer than a period of the deepest voice (80
/// Hz).
const OVERLAP: Duration = Duration::from_millis(13);

/// Greatest distance of a piece from its target, each way: a little over half that period.
const SEARCH: Duration = Duration::from_millis(8);

/// The first, coarse search compares samples at about this rate: enough for the voice's periods.
const COARSE_HZ: u32 = 6_000;

#[derive(Debug, thiserror::Error)]
pub enum ShapeError {
    #[error("pitch shift of \"{semitones}\" semitones is out of range (use -10 to 10)")]
    Pitch { semitones: f32 },
    #[error("speed factor of \"{speed}\" is out of range (use 0.5 to 2.0)")]
    Speed { speed: f32 },
    #[error("cannot shift the pitch of a voice at {rate} (use a common rate such as 24000 Hz)")]
    Rate {
        rate: SampleRate,
        /// Set if the resampler refuses it.
        source: Option<ResampleError>,
    },
}

/// Changes pitch and speed of one mono stream; its rate stays.
#[derive(Debug)]
pub struct Shape {
    /// `None`: nothing to change.
    stages: Option<(Stretch, Resampler)>,
    /// Output of the first stage.
    stretched: Vec<i16>,
}

impl Shape {
    /// `pitch_semitones` from −10 to 10 (0: unchanged), `speed` from 0.5 to 2.0 (1: unchanged; 2:
    /// half as long); anything else is refused.
    pub fn new(rate: SampleRate, pitch_semitones: f32, speed: f32) -> Result<Self, ShapeError> {
        if !(-10.0..=10.0).contains(&pitch_semitones) {
            return Err(ShapeError::Pitch { semitones: pitch_semitones });
        }
        if !(0.5..=2.0).contains(&speed) {
            return Err(ShapeError::Speed { speed });
        }
        let pitch = (f64::from(pitch_semitones) / 12.0).exp2();
        let tempo = f64::from(speed) / pitch;
        let nothing_to_do = pitch_semitones.abs() < 0.01 && (speed - 1.0).abs() < 0.001;
        let stages = if nothing_to_do {
            None
        } else {
            // A 30,000th of pitch is lost to whole Hz at 16 kHz.
            let played_at = u32::try_from(to_count(f64::from(rate.hz()) * pitch)).ok();
            let played_at = played_at
                .and_then(|hz| SampleRate::new(hz).ok())
                .ok_or(ShapeError::Rate { rate, source: None })?;
            let resampler = Resampler::new(played_at, rate)
                .map_err(|source| ShapeError::Rate { rate, source: Some(source) })?;
            Some((Stretch::new(rate, tempo), resampler))
        };
        Ok(Self { stages, stretched: Vec::new() })
    }

    /// Appends available output to `out`. Holds back 21 to 50 ms, more at higher speed.
    pub fn push(&mut self, samples: &[i16], out: &mut Vec<i16>) {
        let Some((stretch, resampler)) = &mut self.stages else {
            out.extend_from_slice(samples);
            return;
        };
        stretch.push(samples, &mut self.stretched);
        resampler.push(&self.stretched, out);
        self.stretched.clear();
    }

    /// Appends the rest. The whole output then has the input's length divided by the speed; the
    /// shape is ready for another stream.
    pub fn finish(&mut self, out: &mut Vec<i16>) {
        if let Some((stretch, resampler)) = &mut self.stages {
            stretch.finish(&mut self.stretched);
            resampler.push(&self.stretched, out);
            resampler.finish(out);
            self.stretched.clear();
        }
    }
}

/// Changes duration and keeps pitch.
#[derive(Debug)]
struct Stretch {
    /// Input samples per output sample.
    tempo: f64,
    /// [`OVERLAP`] in samples.
    overlap: usize,
    /// [`SEARCH`] in samples.
    search: usize,
    /// Distance of compared samples in the coarse search.
    step: usize,
    /// Input that may still be needed.
    input: Vec<f32>,
    /// Number of the first sample in `input`.
    base: usize,
    /// Input samples so far.
    n_in: usize,
    /// Output samples so far.
    n_out: usize,
    n_pieces: usize,
    /// The input sample that would follow the last piece.
    next: usize,
}

impl Stretch {
    fn new(rate: SampleRate, tempo: f64) -> Self {
        let step = usize::try_from(rate.hz() / COARSE_HZ).unwrap_or(1).max(1);
        Self {
            tempo,
            overlap: rate.samples_in(OVERLAP).max(1),
            search: rate.samples_in(SEARCH),
            step,
            input: Vec::new(),
            base: 0,
            n_in: 0,
            n_out: 0,
            n_pieces: 0,
            next: 0,
        }
    }

    /// Places all pieces covered by the input.
    fn push(&mut self, samples: &[i16], out: &mut Vec<i16>) {
        self.n_in += samples.len();
        self.input.extend(samples.iter().map(|&s| f32::from(s)));
        while self.needed() <= self.base + self.input.len() {
            self.lay_piece(out);
        }
    }

    /// Places the rest and restarts.
    fn finish(&mut self, out: &mut Vec<i16>) {
        let wanted = to_count(self.n_in as f64 / self.tempo);
        while self.n_out < wanted {
            let missing = self.needed().saturating_sub(self.base + self.input.len());
            self.input.resize(self.input.len() + missing, 0.0);
            self.lay_piece(out);
        }
        out.truncate(out.len().saturating_sub(self.n_out - wanted));
        self.input.clear();
        (self.base, self.n_in, self.n_out, self.n_pieces, self.next) = (0, 0, 0, 0, 0);
    }

    /// Position of the next piece before the search.
    fn target(&self) -> usize {
        to_count((self.n_pieces * self.overlap) as f64 * self.tempo)
    }

    /// Input samples needed for the next piece: the compared ones, and all that the piece
    /// represents, or the output would be too long if the stream ended here.
    fn needed(&self) -> usize {
        let stands_for = ((self.n_pieces + 1) * self.overlap) as f64 * self.tempo;
        let compared = (self.target() + self.search).max(self.next) + self.overlap;
        compared.max(to_count(stands_for.ceil()))
    }

    /// Fades from the last piece's continuation into the best piece near the target.
    fn lay_piece(&mut self, out: &mut Vec<i16>) {
        let from = self.best_place();
        let (fading, rising) = (self.at(self.next), self.at(from));
        let len = self.overlap as f32;
        // The weights add up to 1: both sides are the same period of the same voice.
        out.extend(fading.iter().zip(rising).enumerate().map(|(n, (a, b))| {
            let weight = 0.5 - 0.5 * (std::f32::consts::PI * (n as f32 + 0.5) / len).cos();
            to_sample(a + (b - a) * weight)
        }));
        self.n_out += self.overlap;
        self.n_pieces += 1;
        self.next = from + self.overlap;
        self.forget();
    }

    /// The position near the target that best resembles the last piece's continuation.
    fn best_place(&self) -> usize {
        let target = self.target();
        let reach =
            |around: usize, by: usize| (around.saturating_sub(by).max(self.base), around + by);
        let (first, last) = reach(target, self.search);
        let coarse = (first..=last).step_by(self.step);
        let rough = self.most_similar(coarse, target, self.step);
        let (first, last) = reach(rough, self.step - 1);
        self.most_similar(first..=last.min(target + self.search), rough, 1)
    }

    /// The position with the highest normalised correlation; `favourite` wins a draw.
    fn most_similar(
        &self,
        places: impl Iterator<Item = usize>,
        favourite: usize,
        step: usize,
    ) -> usize {
        let wanted = self.at(self.next);
        let score = |place| similarity(wanted, self.at(place), step);
        let mut best = (favourite, score(favourite));
        for place in places {
            let score = score(place);
            if score > best.1 {
                best = (place, score);
            }
        }
        best.0
    }

    /// `overlap` samples of input from sample number `place` on.
    fn at(&self, place: usize) -> &[f32] {
        let from = place - self.base;
        self.input.get(from..from + self.overlap).unwrap_or_default()
    }

    /// Drops input that no later piece needs, now and then.
    fn forget(&mut self) {
        let needed = self.next.min(self.target().saturating_sub(self.search));
        let old = (needed - self.base).min(self.input.len());
        if old > 8 * self.overlap {
            self.input.drain(..old);
            self.base += old;
        }
    }
}

/// Correlation of every `step`th sample, relative to the loudness of `piece`.
fn similarity(wanted: &[f32], piece: &[f32], step: usize) -> f32 {
    let (mut product, mut energy) = (0.0, 1.0);
    for (a, b) in wanted.iter().zip(piece).step_by(step) {
        product += a * b;
        energy += b * b;
    }
    product / f32::sqrt(energy)
}

#[cfg(test)]
mod tests;
