//! Finds the periods of a voice.
//!
//! Entry type: [`Marks`]. Each mark is found from the previous one: where the sound most resembles
//! its surroundings, about a period later.

use super::super::pcm::SampleRate;

/// The deepest and the highest voice, in Hz.
const VOICES: (f64, f64) = (60.0, 500.0);
/// Distance of marks without voice, in seconds.
const UNVOICED: f64 = 0.005;
/// Half the compared length, in seconds: together about a period of a deep voice.
const COMPARED: f64 = 0.006;
/// A voice begins at this self-similarity a period later, and ends below [`ENDS`].
const BEGINS: f32 = 0.6;
const ENDS: f32 = 0.35;
/// Softer sound is not voice; full scale is 1.
const SILENCE: f32 = 0.004;
/// Largest relative change of a period.
const CHANGE: f64 = 0.25;
/// Marks between checks whether another period fits much better.
const CHECKED: usize = 6;
/// Least gain in similarity for a shorter or longer period.
const BETTER: f32 = 0.12;

/// The middle of a period, or of a stretch without voice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Its sample number.
    pub at: f64,
    /// In samples.
    pub period: f64,
    pub voiced: bool,
}

#[derive(Debug)]
pub struct Marks {
    rate: f64,
    input: Vec<f32>,
    /// Number of the first sample in `input`.
    base: usize,
    n_in: usize,
    is_over: bool,
    last: Option<Mark>,
    /// Voiced marks since the period was last checked.
    unchecked: usize,
}

impl Marks {
    pub fn new(rate: SampleRate) -> Self {
        Self {
            rate: f64::from(rate.hz()),
            input: Vec::new(),
            base: 0,
            n_in: 0,
            is_over: false,
            last: None,
            unchecked: 0,
        }
    }

    pub fn push(&mut self, samples: &[f32]) {
        self.n_in += samples.len();
        self.input.extend_from_slice(samples);
    }

    /// Ends the stream; silence follows.
    pub fn finish(&mut self) {
        self.is_over = true;
        self.input.resize(self.input.len() + self.reach() * 2, 0.0);
    }

    pub const fn n_in(&self) -> usize {
        self.n_in
    }

    /// Longest half of a piece, in samples.
    pub fn longest(&self) -> f64 {
        1.5 * self.rate / VOICES.0
    }

    /// Samples needed after a mark to find the next, and to place both pieces.
    fn reach(&self) -> usize {
        count(4.0 * self.rate / VOICES.0 + 2.0 * COMPARED * self.rate)
    }

    /// Drops input that no piece at `at` or later needs.
    pub fn forget(&mut self, at: f64) {
        let oldest = self.last.map_or(at, |last| last.at.min(at));
        let needed = count((oldest - 4.0 * self.longest()).max(0.0));
        let old = needed.saturating_sub(self.base).min(self.input.len());
        if old > 8_192 {
            self.input.drain(..old);
            self.base += old;
        }
    }

    /// The sound at `at`, interpolated by a cubic through four samples.
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1")]
    pub fn between(&self, at: f64) -> f32 {
        let whole = at.floor();
        let t = (at - whole) as f32;
        let sample = |by: f64| self.sample(whole + by);
        let [a, b, c, d] = [sample(-1.0), sample(0.0), sample(1.0), sample(2.0)];
        let (m, n) = ((c - a) * 0.5, (d - b) * 0.5);
        let slope = b - c;
        ((2.0 * slope + m + n) * t + (-3.0 * slope - 2.0 * m - n)) * t * t + m * t + b
    }

    /// Silence before and after the stream.
    fn sample(&self, number: f64) -> f32 {
        if number < self.base as f64 {
            return 0.0;
        }
        self.input.get(count(number) - self.base).copied().unwrap_or_default()
    }

    /// Similarity of the sound around `one` and around `other`: -1 to 1.
    fn likeness(&self, one: f64, other: f64) -> f32 {
        let half = count(COMPARED * self.rate);
        let around = |at: f64| {
            let from = count(at).saturating_sub(half).saturating_sub(self.base);
            self.input.get(from..from + 2 * half).unwrap_or_default()
        };
        let (one, other) = (around(one), around(other));
        let (mut product, mut first, mut second) = (0.0, 1e-9, 1e-9);
        let mut at = 0;
        // A plain loop, because debug builds do not optimise; every other sample is enough for the
        // voice's periods.
        while at < one.len().min(other.len()) {
            let (a, b) = (one[at], other[at]);
            product += a * b;
            first += a * a;
            second += b * b;
            at += 2;
        }
        product / f32::sqrt(first * second)
    }

    /// The distance in `from..=to`, in samples, at which the sound around `at` recurs best, and its
    /// similarity.
    fn best(&self, at: f64, from: f64, to: f64) -> (f64, f32) {
        let mut best = (from, -1.0);
        let mut distance = from.round();
        while distance <= to {
            let likeness = self.likeness(at, at + distance);
            if likeness > best.1 {
                best = (distance, likeness);
            }
            distance += 1.0;
        }
        best
    }

    /// The shortest period that fits nearly as well as any, since two periods fit as well as one.
    fn period(&self, at: f64) -> Option<(f64, f32)> {
        let half = count(COMPARED * self.rate);
        let from = count(at).saturating_sub(half).saturating_sub(self.base);
        let piece = self.input.get(from..from + 2 * half).unwrap_or_default();
        let energy: f32 = piece.iter().map(|sample| sample * sample).sum();
        if energy < SILENCE * SILENCE * piece.len() as f32 {
            return None;
        }
        let (shortest, longest) = (self.rate / VOICES.1, self.rate / VOICES.0);
        let best = self.best(at, shortest, longest);
        let mut found = best;
        for parts in [4.0, 3.0, 2.0] {
            let near = best.0 / parts;
            if near >= shortest {
                let part = self.best(at, (near * 0.9).max(shortest), near * 1.1);
                if part.1 > best.1 * 0.88 {
                    found = part;
                    break;
                }
            }
        }
        (found.1 > BEGINS).then_some(found)
    }

    /// `None`: not known yet, or the stream is over.
    pub fn next(&mut self) -> Option<Mark> {
        let Some(last) = self.last else {
            let period = UNVOICED * self.rate;
            return Some(*self.last.insert(Mark { at: 0.0, period, voiced: false }));
        };
        let known = self.base + self.input.len();
        if count(last.at) + self.reach() > known {
            return None;
        }
        let mark = if last.voiced { self.after_voice(last) } else { self.after_none(last.at) };
        self.last = Some(mark);
        Some(mark)
    }

    /// The next period of a voice, or its end.
    fn after_voice(&mut self, last: Mark) -> Mark {
        let (near, far) = (last.period * (1.0 - CHANGE), last.period * (1.0 + CHANGE));
        let (period, likeness) = self.best(last.at, near, far);
        self.unchecked += 1;
        if self.unchecked >= CHECKED || likeness < ENDS {
            self.unchecked = 0;
            if let Some((other, better)) = self.period(last.at)
                && (other < near || other > far)
                && better > likeness + BETTER
            {
                return Mark { at: last.at + other, period: other, voiced: true };
            }
        }
        if likeness < ENDS {
            let period = UNVOICED * self.rate;
            return Mark { at: last.at + period, period, voiced: false };
        }
        Mark { at: last.at + period, period, voiced: true }
    }

    /// The first period of a voice, at its loudest point, or a mark without voice.
    fn after_none(&mut self, from: f64) -> Mark {
        let step = UNVOICED * self.rate;
        let at = from + step;
        let Some((period, _)) = self.period(at) else {
            return Mark { at, period: step, voiced: false };
        };
        self.unchecked = 0;
        let mut peak = (at, 0.0);
        for by in 0..count(period) {
            let place = at + by as f64;
            let loud = self.sample(place).abs();
            if loud > peak.1 {
                peak = (place, loud);
            }
        }
        Mark { at: peak.0, period, voiced: true }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate")]
fn count(value: f64) -> usize {
    value.round() as usize
}
