//! Pitch and formants of a voice, independently: [`Timbre`].
//!
//! Pitch-synchronous overlap-add (Moulines and Charpentier, 1990): the voice is cut into pieces
//! around its periods, which are placed closer together or further apart. A piece keeps the mouth's
//! resonances, so a voice an octave up still sounds like a person. Playing pieces faster or slower
//! moves the resonances alone: a shorter or longer throat. Pieces without voice stay in place.
//! Duration never changes. **Never** changes a sample when nothing is to change.

mod marks;

use std::collections::VecDeque;

use self::marks::{Mark, Marks};
use super::pcm::{SampleRate, to_sample};

/// Largest shift of pitch, in semitones, either way.
const MOST_PITCH: f32 = 10.0;
/// Largest shift of formants, in semitones, either way.
const MOST_FORMANTS: f32 = 6.0;
/// Longest piece, in periods, when pieces lie far apart: longer ones would contain the next
/// period's beginning, an echo.
const LONGEST: f64 = 1.3;
const FULL: f32 = 32_767.0;

#[derive(Debug, thiserror::Error)]
pub enum TimbreError {
    #[error("pitch shift of \"{0}\" semitones is out of range (use -10 to 10)")]
    Pitch(f32),
    #[error("formant shift of \"{0}\" semitones is out of range (use -6 to 6)")]
    Formants(f32),
}

/// Changes pitch and formants of one stream, samples between -1 and 1.
#[derive(Debug)]
pub struct Timbre {
    /// `None`: nothing to change.
    shift: Option<Shift>,
}

impl Timbre {
    /// `pitch` from -10 to 10 semitones, `formants` from -6 to 6 (0: unchanged); anything else is
    /// refused.
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

    /// Appends available output to `out`. Holds back about 50 ms.
    pub fn push(&mut self, samples: &[f32], out: &mut Vec<i16>) {
        match &mut self.shift {
            None => out.extend(samples.iter().map(|sample| to_sample(sample * FULL))),
            Some(shift) => {
                shift.marks.push(samples);
                shift.lay(out);
            }
        }
    }

    /// Appends the rest: the whole output has the input's length.
    pub fn finish(&mut self, out: &mut Vec<i16>) {
        if let Some(shift) = &mut self.shift {
            shift.marks.finish();
            shift.lay(out);
            shift.emit(shift.marks.n_in(), out);
        }
    }
}

#[derive(Debug)]
struct Shift {
    marks: Marks,
    /// As a factor.
    pitch: f64,
    /// As a factor.
    formants: f64,
    /// Marks around the next piece, in order.
    ahead: VecDeque<Mark>,
    /// Position of the next piece.
    at: f64,
    /// Incomplete output with its accumulated weight.
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

    /// Places all pieces with known marks.
    fn lay(&mut self, out: &mut Vec<i16>) {
        while let Some(mark) = self.nearest() {
            let apart = if mark.voiced { mark.period / self.pitch } else { mark.period };
            // A whole period each way, or resonances would blur.
            let whole = mark.period * self.formants.recip().max(1.0);
            self.add(mark, apart.min(mark.period * LONGEST).max(whole));
            self.at += apart;
            // The earliest beginning of the next piece.
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

    /// The mark nearest to the next piece; `None`: not known yet.
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
            // Weights add up to one except where voice begins and ends; pieces far apart leave
            // silence between periods, as in a deep voice.
            out.push(to_sample(sum / weights.max(1.0) * FULL));
            self.base += 1;
        }
    }
}

#[cfg(test)]
mod tests;
