//! Sound of a voice: pitch, resonances, brightness.
//!
//! Entry type: [`Sound`]; entry functions: [`pitch`], [`formants`], [`centroid`].

#![expect(clippy::cast_precision_loss, reason = "lengths of seconds of sound")]
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "samples and indices")]

use std::f32::consts::{PI, TAU};

/// Something said.
pub struct Sound {
    /// Between -1 and 1.
    pub samples: Vec<f32>,
    /// Samples of a second.
    pub hz: f32,
}

impl Sound {
    /// 16-bit samples at 48 kHz, as the program writes them; a third of that is enough to tell voices.
    pub fn of_48_khz(samples: &[i16]) -> Self {
        let third = |three: &[i16]| three.iter().map(|it| f32::from(*it)).sum::<f32>() / 98_304.0;
        Self { samples: samples.chunks_exact(3).map(third).collect(), hz: 16_000.0 }
    }

    /// Duration of the sound.
    pub fn seconds(&self) -> f32 {
        self.samples.len() as f32 / self.hz
    }
}

/// Pieces of 90 ms, each 11 ms after the last, that are loud enough to be a voice.
fn pieces(said: &Sound) -> impl Iterator<Item = &[f32]> {
    let length = (said.hz * 0.045) as usize;
    let loud =
        move |piece: &&[f32]| piece.iter().map(|it| it * it).sum::<f32>() > 0.0016 * length as f32;
    said.samples.windows(2 * length).step_by(length / 4).filter(loud)
}

/// Low, middle and high pitch, where there is one.
pub fn pitch(said: &Sound) -> (f32, f32, f32) {
    // Every fourth piece overlaps the last by half, which is enough.
    let some = pieces(said).step_by(4);
    let mut all: Vec<f32> = some.filter_map(|piece| pitch_of(piece, said.hz)).collect();
    all.sort_by(f32::total_cmp);
    let at = |part: usize| all.get(all.len() * part / 100).copied().unwrap_or_default();
    (at(10), at(50), at(90))
}

/// The pitch of a piece, if it has one: its period is where it is most like itself.
fn pitch_of(piece: &[f32], hz: f32) -> Option<f32> {
    let (one, _) = piece.split_at(piece.len() / 2);
    // Energy of the first samples, by their number.
    let begun = piece.iter().scan(0.0_f64, |sum, it| {
        *sum += f64::from(it * it);
        Some(*sum)
    });
    let energy: Vec<f64> = std::iter::once(0.0).chain(begun).collect();
    let loud = |from: usize| {
        let at = |count: usize| energy.get(count).copied().unwrap_or_default();
        (at(from + one.len()) - at(from)) as f32 + 1e-9
    };
    let likeness = |lag: usize| {
        let other = piece.get(lag..).unwrap_or_default();
        let product: f32 = one.iter().zip(other).map(|(a, b)| a * b).sum();
        product / (loud(0) * loud(lag)).sqrt()
    };
    let first = (hz / 450.0) as usize;
    let all: Vec<f32> = (first..(hz / 55.0) as usize).map(likeness).collect();
    let best = all.iter().copied().fold(0.0, f32::max);
    if best < 0.7 {
        return None;
    }
    let mut at = all.iter().position(|it| *it > 0.9 * best)?;
    while all.get(at + 1).is_some_and(|next| *next > all.get(at).copied().unwrap_or_default()) {
        at += 1;
    }
    Some(hz / (first + at) as f32)
}

/// The middle of the three lowest resonances over all pieces, by linear prediction.
pub fn formants(said: &Sound) -> [f32; 3] {
    let all: Vec<[f32; 3]> = pieces(said).filter_map(|piece| tops(piece, said.hz)).collect();
    [0, 1, 2].map(|n| middle(all.iter().filter_map(|it| it.get(n).copied()).collect()))
}

/// The three lowest tops of a piece's spectrum.
fn tops(piece: &[f32], hz: f32) -> Option<[f32; 3]> {
    const ORDER: usize = 24;
    let emphasised =
        piece.windows(2).map(|w| w.last().zip(w.first()).map_or(0.0, |(b, a)| b - 0.95 * a));
    let length = piece.len() as f32;
    let faded: Vec<f32> = emphasised
        .enumerate()
        .map(|(n, it)| it * (0.54 - 0.46 * (TAU * n as f32 / length).cos()))
        .collect();
    let same =
        |lag: usize| -> f32 { faded.iter().zip(faded.iter().skip(lag)).map(|(a, b)| a * b).sum() };
    let same: Vec<f32> = (0..=ORDER).map(same).collect();
    let mut prediction = vec![1.0_f32];
    let mut error = same.first()? * 1.0001;
    for n in 1..=ORDER {
        let sum: f32 =
            prediction.iter().zip(same.iter().take(n + 1).rev()).map(|(a, b)| a * b).sum();
        let reflected = -sum / error;
        prediction.push(0.0);
        let turned: Vec<f32> = prediction.iter().rev().copied().collect();
        prediction.iter_mut().zip(turned).for_each(|(a, b)| *a += reflected * b);
        error *= 1.0 - reflected * reflected;
    }
    let loud = |n: usize| {
        let (sin, cos) = (TAU * 20.0 * n as f32 / hz).sin_cos();
        let (mut re, mut im) = (0.0_f32, 0.0_f32);
        // Turned once more for each coefficient.
        let (mut x, mut y) = (1.0_f32, 0.0_f32);
        for a in &prediction {
            (re, im) = (re + a * x, im - a * y);
            (x, y) = (x * cos - y * sin, y * cos + x * sin);
        }
        1.0 / (re * re + im * im)
    };
    let all: Vec<f32> = (0..250).map(loud).collect();
    let found: Vec<f32> = all
        .windows(3)
        .enumerate()
        .filter(|(n, w)| matches!(w, [a, b, c] if b > a && b > c && *n > 10))
        .map(|(n, _)| 20.0 * (n + 1) as f32)
        .take(3)
        .collect();
    found.try_into().ok()
}

/// Spectral centroid, in Hz.
pub fn centroid(said: &Sound) -> f32 {
    let (mut weighted, mut all) = (0.0, 0.0);
    for piece in pieces(said).step_by(4) {
        let piece = piece.get(..1_024).unwrap_or(piece);
        for n in 1..256 {
            let turn = 2.0 * PI * n as f32 / 512.0;
            let sum = piece.iter().enumerate().fold((0.0, 0.0), |(re, im), (k, sample)| {
                let fade = 0.5 - 0.5 * (TAU * k as f32 / piece.len() as f32).cos();
                (
                    re + sample * fade * (turn * k as f32).cos(),
                    im + sample * fade * (turn * k as f32).sin(),
                )
            });
            let power = sum.0 * sum.0 + sum.1 * sum.1;
            weighted += power * n as f32 * said.hz / 512.0;
            all += power;
        }
    }
    weighted / f32::max(all, 1e-9)
}

/// The median.
pub fn middle(mut all: Vec<f32>) -> f32 {
    all.sort_by(f32::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}
