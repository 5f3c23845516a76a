//! Music that tests make, 48 kHz mono, and how loud a pitch is in what is heard of it.
//!
//! Entry functions: [`tone`], [`stairs`], [`clicks`] and [`music_wav`]; [`power`], [`stair`] and [`clicks_in`]
//! read them back. 20 ms hold whole periods of every pitch that is a multiple of 50 Hz.
#![expect(clippy::cast_possible_truncation, reason = "samples, and seconds of sound")]

use std::f64::consts::TAU;

use super::speech::{Format, as_wav};

/// Samples of a second.
pub const RATE: usize = 48_000;
/// Highest sample of a tone: -15 dB, which leaves room for a voice.
const PEAK: f64 = 6_000.0;
/// Length of a stair: 200 ms.
const STAIR: usize = 9_600;
/// Pitch of the first stair, in Hz.
const LOWEST: f64 = 500.0;
/// From one stair to the next, in Hz.
const RISE: f64 = 50.0;
/// Stairs: 60 s.
const STAIRS: usize = 300;
/// Height of a click.
const CLICK: i16 = 30_000;
/// Steps of a sample against both neighbours from which on it is a click: no voice has them.
const STEEP: i32 = 4_500;

/// A tone of `hz` and so many seconds; it loops without a click where that is whole periods.
pub fn tone(hz: f64, seconds: usize) -> Vec<i16> {
    sound(seconds * RATE, |_| hz)
}

/// A minute that rises by 50 Hz every 200 ms.
pub fn stairs() -> Vec<i16> {
    sound(STAIRS * STAIR, |at| pitch_of(at / STAIR))
}

fn pitch_of(stair: usize) -> f64 {
    LOWEST + RISE * stair as f64
}

fn sound(length: usize, hz: impl Fn(usize) -> f64) -> Vec<i16> {
    let mut turn = 0.0;
    let sample = |at| {
        turn = (turn + hz(at) / RATE as f64).fract();
        ((turn * TAU).sin() * PEAK).round() as i16
    };
    (0..length).map(sample).collect()
}

/// Silence with a click at the beginning of every `period` samples.
pub fn clicks(count: usize, period: usize) -> Vec<i16> {
    let one = |at| if at % period == 0 { CLICK } else { 0 };
    (0..count * period).map(one).collect()
}

/// Samples at 48 kHz as a WAV file.
pub fn music_wav(samples: &[i16]) -> Vec<u8> {
    as_wav(samples, 48_000, 1, Format::Pcm16)
}

/// Power of `hz` in sound at 48 kHz, beside whatever else is in it.
pub fn power(samples: &[i16], hz: f64) -> f64 {
    let (length, step) = (samples.len().max(1) as f64, TAU * hz / RATE as f64);
    let (mut real, mut imaginary) = (0.0, 0.0);
    for (at, sample) in samples.iter().enumerate() {
        let fade = 0.5 - 0.5 * (TAU * at as f64 / length).cos();
        let (sin, cos) = (step * at as f64).sin_cos();
        real += f64::from(*sample) * fade * cos;
        imaginary += f64::from(*sample) * fade * sin;
    }
    (real * real + imaginary * imaginary) / (length * length)
}

/// A ratio of powers in dB.
pub fn db(ratio: f64) -> f64 {
    10.0 * ratio.max(1e-12).log10()
}

/// The stair that is heard in 20 ms of [`stairs`]; `None`: none is.
pub fn stair(samples: &[i16]) -> Option<usize> {
    let powers = (0..STAIRS).map(|it| (it, power(samples, pitch_of(it))));
    let (stair, loudest) = powers.max_by(|one, other| one.1.total_cmp(&other.1))?;
    (loudest > 100.0).then_some(stair)
}

/// Places of clicks in a sound, beside voices too.
pub fn clicks_in(samples: &[i16]) -> Vec<usize> {
    let is_click = |near: &[i16]| match near {
        [before, sample, after] => {
            let sample = i32::from(*sample);
            sample - i32::from(*before) > STEEP && sample - i32::from(*after) > STEEP
        }
        _ => false,
    };
    let near = [&[0][..], samples, &[0]].concat();
    near.windows(3).enumerate().filter(|(_, near)| is_click(near)).map(|(at, _)| at).collect()
}

#[test]
fn pitches_and_clicks_are_read_back() {
    let (low, high) = (tone(1_000.0, 1), tone(9_000.0, 1));
    let frame = |sound: &[i16]| sound[9_600..10_560].to_vec();
    let both: Vec<i16> = low.iter().zip(&high).map(|(one, other)| one + other).collect();
    let ratio = db(power(&frame(&both), 9_000.0) / power(&frame(&high), 9_000.0));
    assert!(ratio.abs() < 0.1, "{ratio}");
    assert!(db(power(&frame(&low), 9_000.0) / power(&frame(&high), 9_000.0)) < -60.0);
    let rising = stairs();
    assert_eq!(stair(&rising[7 * STAIR + 960..7 * STAIR + 1_920]), Some(7));
    assert_eq!(stair(&[0; 960]), None);
    assert_eq!(clicks_in(&clicks(3, 24_000)), [0, 24_000, 48_000]);
    assert_eq!(clicks_in(&both), Vec::<usize>::new());
}
