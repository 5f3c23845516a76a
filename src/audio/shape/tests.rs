use super::*;
use crate::extent;
use proptest::prelude::*;
use std::f64::consts::TAU;

const RATE: SampleRate = SampleRate::HZ_16000;

fn shaped(rate: SampleRate, sound: &[i16], pitch: f32, speed: f32) -> Vec<i16> {
    let mut shape = Shape::new(rate, pitch, speed).unwrap();
    let mut out = Vec::new();
    shape.push(sound, &mut out);
    shape.finish(&mut out);
    out
}

#[expect(clippy::cast_possible_truncation, reason = "as precise as samples need")]
fn sample(value: f64) -> i16 {
    to_sample(value as f32)
}

fn tone(hz: f64, rate: SampleRate, seconds: f64) -> Vec<i16> {
    let step = TAU * hz / f64::from(rate.hz());
    let len = to_count(seconds * f64::from(rate.hz()));
    (0..len).map(|n| sample(10_000.0 * (step * n as f64).sin())).collect()
}

/// Decaying rings, `hz` of them per second: a voice without words.
fn pulses(hz: f64, rate: SampleRate, seconds: f64) -> Vec<i16> {
    let rate = f64::from(rate.hz());
    (0..to_count(seconds * rate))
        .map(|n| {
            let age = (n as f64 * hz / rate).fract() / hz;
            sample(12_000.0 * (-age * 700.0).exp() * (TAU * 900.0 * age).sin())
        })
        .collect()
}

/// The lag, between 2 and 20 ms, of the highest self-similarity, as a frequency.
fn pitch_of(sound: &[i16], rate: SampleRate) -> f64 {
    let hz = f64::from(rate.hz());
    let part: Vec<f64> = sound.iter().map(|&s| f64::from(s)).collect();
    let score = |lag: usize| {
        let (a, b) = (&part[..part.len() - lag], &part[lag..]);
        let energy = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>();
        a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / (energy(a) * energy(b)).sqrt()
    };
    let lags = to_count(hz * 0.002)..to_count(hz * 0.013);
    let peak = lags.clone().map(score).fold(0.0, f64::max);
    // The shortest lag that is as good as the best: longer ones are its multiples.
    let mut lag = lags.clone().find(|&lag| score(lag) > 0.9 * peak).unwrap();
    while score(lag + 1) > score(lag) {
        lag += 1;
    }
    // A parabola through the peak and its neighbours gives the fraction.
    let (a, b, c) = (score(lag - 1), score(lag), score(lag + 1));
    hz / (lag as f64 + 0.5 * (a - c) / (a - 2.0 * b + c))
}

fn largest_jump(sound: &[i16]) -> f64 {
    sound
        .windows(2)
        .map(|w| f64::from((i32::from(w[1]) - i32::from(w[0])).abs()))
        .fold(0.0, f64::max)
}

const SHAPES: [(f32, f32); 12] = [
    (-10.0, 1.0),
    (-4.0, 1.0),
    (3.0, 1.0),
    (10.0, 1.0),
    (0.0, 0.5),
    (0.0, 0.8),
    (0.0, 1.3),
    (0.0, 2.0),
    (-10.0, 2.0),
    (10.0, 0.5),
    (5.0, 1.5),
    (-3.0, 0.7),
];

#[test]
fn pitch_and_duration_scale_without_clicks() {
    // All shapes at one rate; every third at the others.
    let some = if extent::whole() { 1 } else { 3 };
    let rates = [(RATE, 1), (SampleRate::HZ_24000, some), (SampleRate::new(22_050).unwrap(), some)];
    for (rate, every) in rates {
        for (name, sound) in
            [("tone", tone(200.0, rate, 0.6)), ("pulses", pulses(200.0, rate, 0.6))]
        {
            for (pitch, speed) in SHAPES.into_iter().step_by(every) {
                let out = shaped(rate, &sound, pitch, speed);
                let case = format!("{name} at {rate}, {pitch} semitones, speed {speed}");
                let duration = out.len() as f64 / sound.len() as f64 * f64::from(speed);
                assert!((duration - 1.0).abs() < 0.001, "{case}: {duration} of the duration");
                let ratio = f64::from(pitch / 12.0).exp2();
                let middle = out.len() / 2 - 600..out.len() / 2 + 600;
                let found = pitch_of(&out[middle], rate) / 200.0;
                assert!((found / ratio - 1.0).abs() < 0.02, "{case}: {found} for {ratio}");
                // Raising the pitch steepens the slopes by the same ratio; the very ends may ring.
                let inner = &out[200..out.len() - 400];
                let limit = largest_jump(&sound) * ratio.max(1.0) * 1.15;
                assert!(
                    largest_jump(inner) <= limit,
                    "{case}: {} over {limit}",
                    largest_jump(inner)
                );
            }
        }
    }
}

#[test]
fn tone_stays_as_loud_as_it_was() {
    for (pitch, speed) in SHAPES {
        let out = shaped(RATE, &tone(200.0, RATE, 1.0), pitch, speed);
        for part in out[1_000..out.len() - 1_000].chunks_exact(400) {
            let peak = part.iter().map(|s| s.unsigned_abs()).max().unwrap();
            assert!((9_000..=10_600).contains(&peak), "{pitch} semitones, speed {speed}: {peak}");
        }
    }
}

#[test]
fn nothing_to_change_changes_nothing() {
    let sound: Vec<i16> = (i16::MIN..i16::MAX).step_by(7).collect();
    assert_eq!(shaped(RATE, &sound, 0.0, 1.0), sound);
}

#[test]
fn first_sound_comes_early() {
    for (pitch, speed) in SHAPES {
        let mut shape = Shape::new(RATE, pitch, speed).unwrap();
        let (mut out, mut millis) = (Vec::new(), 0);
        while out.is_empty() && millis <= 60 {
            shape.push(&pulses(150.0, RATE, 0.01), &mut out);
            millis += 10;
        }
        assert!(millis <= 60, "{pitch} semitones, speed {speed}: first sound after {millis} ms");
    }
}

#[test]
fn silence_and_short_sounds_survive() {
    assert_eq!(shaped(RATE, &[], 3.0, 1.2), Vec::<i16>::new());
    let silence = shaped(RATE, &[0; 8_000], -5.0, 0.8);
    assert!(silence.len().abs_diff(10_000) <= 1 && silence.iter().all(|&s| s == 0));
    for len in [1, 2, 10, 300] {
        let out = shaped(RATE, &vec![500; len], 7.0, 0.5);
        assert!(out.len().abs_diff(2 * len) <= 1, "{len} became {}", out.len());
    }
    let lowest = SampleRate::new(4_000).unwrap();
    assert_eq!(shaped(lowest, &tone(100.0, lowest, 1.0), 0.0, 2.0).len(), 2_000);
}

#[test]
fn shapes_out_of_range_are_refused() {
    let error = |pitch, speed| Shape::new(RATE, pitch, speed).unwrap_err().to_string();
    assert_eq!(
        error(10.5, 1.0),
        "pitch shift of \"10.5\" semitones is out of range (use -10 to 10)"
    );
    assert_eq!(error(0.0, 0.4), "speed factor of \"0.4\" is out of range (use 0.5 to 2.0)");
    assert!(error(f32::NAN, 1.0).contains("NaN"));
    assert!(error(0.0, f32::INFINITY).contains("inf"));
    assert!(Shape::new(SampleRate::new(768_000).unwrap(), 10.0, 1.0).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if extent::whole() { 48 } else { 16 }))]
    #[test]
    fn pieces_and_reuse_make_no_difference(
        pitch in -10.0_f32..10.0,
        speed in 0.5_f32..2.0,
        pieces in prop::collection::vec(0_usize..1_500, 0..8),
    ) {
        let mut sound = pulses(130.0, RATE, 1.0);
        sound.truncate(pieces.iter().sum());
        let whole = shaped(RATE, &sound, pitch, speed);
        prop_assert!((whole.len() as f64 - sound.len() as f64 / f64::from(speed)).abs() <= 2.0);
        let mut shape = Shape::new(RATE, pitch, speed).unwrap();
        for _ in 0..2 {
            let (mut out, mut rest) = (Vec::new(), sound.as_slice());
            for &len in &pieces {
                let (piece, later) = rest.split_at(len.min(rest.len()));
                shape.push(piece, &mut out);
                rest = later;
            }
            shape.finish(&mut out);
            prop_assert_eq!(&out, &whole);
        }
    }
}
