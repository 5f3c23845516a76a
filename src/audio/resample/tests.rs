use super::*;
use crate::extent;
use proptest::prelude::*;
use std::f64::consts::TAU;

fn rate(hz: u32) -> SampleRate {
    SampleRate::new(hz).unwrap()
}

#[expect(clippy::cast_possible_truncation, reason = "as precise as samples need")]
fn sample(value: f64) -> i16 {
    to_sample(value as f32)
}

fn tone(hz: f64, rate: SampleRate, len: usize) -> Vec<i16> {
    let step = TAU * hz / f64::from(rate.hz());
    (0..len).map(|n| sample(12_000.0 * (step * n as f64).sin())).collect()
}

fn convert(from: SampleRate, to: SampleRate, samples: &[i16]) -> Vec<i16> {
    let mut out = Vec::new();
    let mut resampler = Resampler::new(from, to).unwrap();
    resampler.push(samples, &mut out);
    resampler.finish(&mut out);
    out
}

const PAIRS: [(u32, u32); 10] = [
    (16_000, 48_000),
    (22_050, 48_000),
    (24_000, 48_000),
    (44_100, 16_000),
    (48_000, 16_000),
    (44_100, 48_000),
    (8_000, 48_000),
    (11_025, 16_000),
    (16_951, 16_000),
    (768_000, 16_000),
];

#[test]
fn tone_stays_the_same_tone_at_the_same_time() {
    for (from, to) in PAIRS {
        let (from, to) = (rate(from), rate(to));
        let n = to_usize(u64::from(from.hz() / 4));
        let out = convert(from, to, &tone(440.0, from, n));
        let wanted = tone(440.0, to, out.len());
        assert!(out.len().abs_diff(to_usize(u64::from(to.hz() / 4))) <= 1, "{from} {to}");
        // The first and last 10 ms hold the filter's response to the tone's sudden start and end.
        let margin = to.samples_in(std::time::Duration::from_millis(10));
        let middle = margin..out.len() - margin;
        let error: f64 = out[middle.clone()]
            .iter()
            .zip(&wanted[middle.clone()])
            .map(|(&a, &b)| f64::from(i32::from(a) - i32::from(b)).powi(2))
            .sum();
        // A tenth of an output sample late at 16 kHz measures −35 dB.
        let db = 10.0 * (error / middle.len() as f64 / (12_000.0 * 12_000.0 / 2.0)).log10();
        assert!(db < -35.0, "{from} to {to}: error of {db:.1} dB");
    }
}

#[test]
fn frequencies_above_nyquist_are_removed() {
    let from = rate(48_000);
    for hz in [8_100.0, 9_000.0, 12_000.0, 20_000.0] {
        let out = convert(from, rate(16_000), &tone(hz, from, 24_000));
        let loudest = out[200..7_800].iter().map(|s| s.unsigned_abs()).max().unwrap();
        assert!(loudest <= 12, "{hz} Hz comes through at {loudest}");
    }
    let out = convert(from, rate(16_000), &tone(7_000.0, from, 24_000));
    let loudest = out[200..7_800].iter().map(|s| s.unsigned_abs()).max().unwrap();
    assert!(loudest > 11_900, "7 kHz is weakened to {loudest}");
}

#[test]
fn no_image_appears_above_the_old_band() {
    let out = convert(rate(16_000), rate(48_000), &tone(3_000.0, rate(16_000), 8_000));
    // A whole number of periods, so that the tone leaks into no other bin.
    let middle = &out[2_400..2_400 + 19_200];
    for image in [13_000.0, 19_000.0] {
        let step = TAU * image / 48_000.0;
        let (re, im) = middle.iter().enumerate().fold((0.0, 0.0), |(re, im), (n, &s)| {
            let (sin, cos) = (step * n as f64).sin_cos();
            (re + f64::from(s) * cos, im + f64::from(s) * sin)
        });
        let db = 20.0 * (f64::hypot(re, im) / 19_200.0 * 2.0 / 12_000.0).log10();
        assert!(db < -70.0, "image at {image} Hz of {db:.1} dB");
    }
}

#[test]
fn little_is_held_back_after_the_first_20_ms() {
    for (from, to) in [(16_000, 48_000), (22_050, 48_000), (24_000, 48_000), (44_100, 16_000)] {
        let (from, to) = (rate(from), rate(to));
        let mut out = Vec::new();
        let mut resampler = Resampler::new(from, to).unwrap();
        resampler.push(&vec![0; from.frame_len()], &mut out);
        let held = to.frame_len() - out.len();
        assert!(to.duration_of(held).as_micros() <= 12_000, "{from} to {to}: {held} samples");
    }
}

#[test]
fn equal_rates_change_nothing() {
    let sound: Vec<i16> = (i16::MIN..=i16::MAX).step_by(3).collect();
    assert_eq!(convert(rate(24_000), rate(24_000), &sound), sound);
}

#[test]
fn full_scale_never_wraps_and_constant_stays() {
    let square: Vec<i16> =
        (0..1_600).map(|n| if n / 20 % 2 == 0 { i16::MAX } else { i16::MIN }).collect();
    let out = convert(rate(16_000), rate(48_000), &square);
    // Between the edges it rings by at most 9 % (Gibbs); wrapping round would change the sign.
    assert!(out[60..4_740].chunks(60).all(|half| {
        let middle = half[30];
        half[10..50].iter().all(|s| s.signum() == middle.signum())
    }));
    let out = convert(rate(16_000), rate(48_000), &[10_000; 1_600]);
    assert!(out[300..4_500].iter().all(|s| s.abs_diff(10_000) <= 1));
}

#[test]
fn absurd_ratios_are_refused() {
    let error = Resampler::new(rate(1), rate(48_000)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot resample from 1 Hz to 48000 Hz (the rates may differ 100-fold at most)"
    );
    assert!(Resampler::new(rate(768_000), rate(1)).is_err());
    assert!(Resampler::new(rate(768_000), rate(8_000)).is_ok());
    assert!(Resampler::new(rate(1), rate(99)).is_ok());
}

#[test]
fn nothing_in_gives_nothing_out() {
    assert_eq!(convert(rate(16_000), rate(48_000), &[]), Vec::<i16>::new());
    assert_eq!(convert(rate(48_000), rate(16_000), &[5]).len(), 0);
    assert_eq!(convert(rate(16_000), rate(48_000), &[5]).len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if extent::whole() { 64 } else { 24 }))]
    #[test]
    fn pieces_and_reuse_make_no_difference(
        pair in prop::sample::select(&PAIRS[..9]),
        pieces in prop::collection::vec(0_usize..1_500, 0..12),
        seed in any::<u32>(),
    ) {
        let n: usize = pieces.iter().sum();
        let mut state = seed;
        let sound: Vec<i16> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            i16::from_ne_bytes([state.to_be_bytes()[0], state.to_be_bytes()[1]])
        }).take(n).collect();
        let (from, to) = (rate(pair.0), rate(pair.1));
        let whole = convert(from, to, &sound);
        let exact = n as f64 * f64::from(to.hz()) / f64::from(from.hz());
        prop_assert!((whole.len() as f64 - exact).abs() <= 1.0);
        let mut resampler = Resampler::new(from, to).unwrap();
        for _ in 0..2 {
            let (mut out, mut rest) = (Vec::new(), sound.as_slice());
            for &len in &pieces {
                let (piece, later) = rest.split_at(len);
                resampler.push(piece, &mut out);
                rest = later;
            }
            resampler.finish(&mut out);
            prop_assert_eq!(&out, &whole);
        }
    }
}
