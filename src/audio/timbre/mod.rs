//! Pitch and formants of a voice, each by itself: [`Timbre`].
//!
//! Pitch-synchronous overlap-add (Moulines and Charpentier, 1990): the voice is cut into pieces
//! around each of its periods, and these are laid closer together or further apart. A piece keeps
//! the resonances of the mouth, so that a voice an octave up is still a person and no chipmunk.
//! Played faster or slower, pieces move the resonances and nothing else: a shorter or a longer
//! throat. Where there is no voice pieces stay where they are. Duration never changes.
//!
//! **Never** changes a sample when there is nothing to change.

mod marks;

use std::collections::VecDeque;

use self::marks::{Mark, Marks};
use super::pcm::{SampleRate, to_sample};

/// Most that a voice may be shifted by, in semitones, either way.
const MOST_PITCH: f32 = 10.0;
/// Most that formants may be shifted by, in semitones, either way.
const MOST_FORMANTS: f32 = 6.0;
/// Pieces that are laid far apart are so much longer than a period at most: longer ones would
/// have the next period's beginning in them, an echo.
const LONGEST: f64 = 1.3;
/// The value of a sample at full scale.
const FULL: f32 = 32_767.0;

/// A shift that is refused.
#[derive(Debug, thiserror::Error)]
pub enum TimbreError {
    /// Pitch out of range.
    #[error("pitch shift of \"{0}\" semitones is out of range (use -10 to 10)")]
    Pitch(f32),
    /// Formants out of range.
    #[error("formant shift of \"{0}\" semitones is out of range (use -6 to 6)")]
    Formants(f32),
}

/// Changes pitch and formants of one stream of sound between -1 and 1.
#[derive(Debug)]
pub struct Timbre {
    /// `None` when there is nothing to change.
    shift: Option<Shift>,
}

impl Timbre {
    /// `pitch` from -10 to 10 semitones, `formants` from -6 to 6; 0: unchanged.
    ///
    /// # Errors
    ///
    /// [`TimbreError`] when one of them is out of range or not a number.
    pub fn new(rate: SampleRate, pitch: f32, formants: f32) -> Result<Self, TimbreError> {
        if !(-MOST_PITCH..=MOST_PITCH).contains(&pitch) {
            return Err(TimbreError::Pitch(pitch));
        }
        if !(-MOST_FORMANTS..=MOST_FORMANTS).contains(&formants) {
            return Err(TimbreError::Formants(formants));
        }
        let unchanged = pitch.abs() < 0.01 && formants.abs() < 0.01;
        Ok(Self { shift: (!unchanged).then(|| Shift::new(rate, pitch, formants)) })
    }

    /// Takes the next samples and appends what is ready to `out`. About 50 ms are held back.
    pub fn push(&mut self, samples: &[f32], out: &mut Vec<i16>) {
        match &mut self.shift {
            None => out.extend(samples.iter().map(|sample| to_sample(sample * FULL))),
            Some(shift) => {
                shift.marks.push(samples);
                shift.lay(out);
            }
        }
    }

    /// Appends what was held back: the whole output is as long as the input.
    pub fn finish(&mut self, out: &mut Vec<i16>) {
        if let Some(shift) = &mut self.shift {
            shift.marks.finish();
            shift.lay(out);
            shift.emit(shift.marks.n_in(), out);
        }
    }
}

/// Lays pieces.
#[derive(Debug)]
struct Shift {
    marks: Marks,
    /// Pitch as a factor.
    pitch: f64,
    /// Formants as a factor.
    formants: f64,
    /// Marks around the next piece, in order.
    ahead: VecDeque<Mark>,
    /// Place of the next piece.
    at: f64,
    /// Sound that is not whole yet, and the weight of what was laid on it.
    laid: VecDeque<(f32, f32)>,
    /// Number of the first sample in `laid`.
    base: usize,
}

impl Shift {
    fn new(rate: SampleRate, pitch: f32, formants: f32) -> Self {
        let factor = |semitones: f32| (f64::from(semitones) / 12.0).exp2();
        Self {
            marks: Marks::new(rate),
            pitch: factor(pitch),
            formants: factor(formants),
            ahead: VecDeque::new(),
            at: 0.0,
            laid: VecDeque::new(),
            base: 0,
        }
    }

    /// Lays all pieces whose marks are known.
    fn lay(&mut self, out: &mut Vec<i16>) {
        while let Some(mark) = self.nearest() {
            let apart = if mark.voiced { mark.period / self.pitch } else { mark.period };
            // A whole period each way, or resonances would be blurred.
            let whole = mark.period * self.formants.recip().max(1.0);
            self.add(mark, apart.min(mark.period * LONGEST).max(whole));
            self.at += apart;
            // The next piece, as long as it may be, begins here.
            let begins = (self.at - self.marks.longest()).max(0.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative"
            )]
            self.emit((begins as usize).min(self.marks.n_in()), out);
            self.marks.forget(self.at);
        }
    }

    /// The mark nearest to where the next piece is laid; `None`: it is not known yet.
    fn nearest(&mut self) -> Option<Mark> {
        loop {
            match (self.ahead.front(), self.ahead.get(1)) {
                (Some(one), Some(other)) => {
                    if (other.at - self.at).abs() >= (one.at - self.at).abs() {
                        return Some(*one);
                    }
                    self.ahead.pop_front();
                }
                _ => self.ahead.push_back(self.marks.next()?),
            }
        }
    }

    /// Adds the piece around `mark`, `half` samples each way.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positions in a stream of samples"
    )]
    fn add(&mut self, mark: Mark, half: f64) {
        let first = (self.at - half).ceil().max(self.base as f64) as usize;
        let last = (self.at + half).floor().max(0.0) as usize;
        for place in first..=last {
            let away = place as f64 - self.at;
            let weight = (0.5 + 0.5 * (std::f64::consts::PI * away / half).cos()) as f32;
            let sample = self.marks.between(mark.at + away * self.formants);
            let index = place - self.base;
            if self.laid.len() <= index {
                self.laid.resize(index + 1, (0.0, 0.0));
            }
            if let Some((sum, weights)) = self.laid.get_mut(index) {
                *sum += sample * weight;
                *weights += weight;
            }
        }
    }

    /// Appends the sound before sample number `until`.
    fn emit(&mut self, until: usize, out: &mut Vec<i16>) {
        while self.base < until {
            let (sum, weights) = self.laid.pop_front().unwrap_or_default();
            // Weights add up to one but where voice begins and ends; where pieces are far apart
            // there is silence between periods, as there is in a deep voice.
            out.push(to_sample(sum / weights.max(1.0) * FULL));
            self.base += 1;
        }
    }
}

#[cfg(test)]
mod tests;
