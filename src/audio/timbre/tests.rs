use proptest::prelude::*;

use super::*;

const RATE: SampleRate = SampleRate::HZ_24000;
const HZ: f32 = 24_000.0;
/// Resonances of an "eh" and their widths, in Hz: far enough apart to tell them from each other
/// after any shift.
const MOUTH: [(f32, f32); 3] = [(550.0, 80.0), (1_700.0, 110.0), (2_600.0, 160.0)];

/// A second of a mouth that sings "eh" at `pitch`: pulses through resonances.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sample number")]
fn vowel(pitch: f32) -> Vec<f32> {
    let mut sound = vec![0.0; 24_000];
    let (mut at, mut wobble) = (0.0, 0.0_f32);
    while at < 23_999.0 {
        sound[at as usize] = 1.0;
        // No person sings a machine's tone.
        wobble += 0.7;
        at += HZ / (pitch * (1.0 + 0.02 * wobble.sin()));
    }
    for (hz, wide) in MOUTH {
        let radius = (-std::f32::consts::PI * wide / HZ).exp();
        let turn = 2.0 * radius * (std::f32::consts::TAU * hz / HZ).cos();
        let (mut one, mut two) = (0.0, 0.0);
        for sample in &mut sound {
            let now = *sample + turn * one - radius * radius * two;
            (two, one) = (one, now);
            *sample = now;
        }
    }
    let loudest = sound.iter().fold(0.0_f32, |most, sample| most.max(sample.abs()));
    sound.iter().map(|sample| sample / loudest * 0.6).collect()
}

fn shifted(sound: &[f32], pitch: f32, formants: f32) -> Vec<f32> {
    let mut timbre = Timbre::new(RATE, pitch, formants).unwrap();
    let mut out = Vec::new();
    sound.chunks(1_000).for_each(|piece| timbre.push(piece, &mut out));
    timbre.finish(&mut out);
    assert_eq!(out.len(), sound.len());
    out.iter().map(|sample| f32::from(*sample) / FULL).collect()
}

/// The pitch in the middle of `sound`: the period of its highest self-similarity.
fn pitch_of(sound: &[f32]) -> f32 {
    let likeness = |lag: usize| {
        let (a, b) = (&sound[8_000..14_000], &sound[8_000 + lag..14_000 + lag]);
        let product: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        product / (b.iter().map(|b| b * b).sum::<f32>() + 1e-6).sqrt()
    };
    let lags = 48..400_usize;
    let all: Vec<f32> = lags.clone().map(likeness).collect();
    let best = all.iter().copied().fold(0.0, f32::max);
    let near = all.iter().position(|it| *it > best * 0.95).unwrap();
    // Uphill from the first that is nearly as good.
    let top = (near..near + 20).max_by(|a, b| all[*a].total_cmp(&all[*b])).unwrap();
    HZ / (lags.start + top) as f32
}

/// The two lowest resonances: peaks of the linear-prediction spectrum.
fn formants_of(sound: &[f32]) -> [f32; 2] {
    const ORDER: usize = 14;
    // Higher sounds weigh as much as lower ones.
    let middle: Vec<f32> = sound[8_000..14_000].windows(2).map(|w| w[1] - 0.95 * w[0]).collect();
    let same = |lag: usize| -> f64 {
        middle.iter().zip(&middle[lag..]).map(|(a, b)| f64::from(a * b)).sum()
    };
    let same: Vec<f64> = (0..=ORDER).map(same).collect();
    let mut prediction = vec![1.0_f64];
    let mut error = same[0] * 1.000_01;
    for n in 1..=ORDER {
        let sum: f64 = prediction.iter().enumerate().map(|(k, a)| a * same[n - k]).sum();
        let reflected = -sum / error;
        prediction.push(0.0);
        let before = prediction.clone();
        for k in 1..=n {
            prediction[k] += reflected * before[n - k];
        }
        error *= 1.0 - reflected * reflected;
    }
    let loud = |hz: f64| {
        let turn = std::f64::consts::TAU * hz / f64::from(HZ);
        let (re, im) = prediction.iter().enumerate().fold((0.0, 0.0), |(re, im), (k, a)| {
            (re + a * (turn * k as f64).cos(), im - a * (turn * k as f64).sin())
        });
        1.0 / (re * re + im * im)
    };
    let all: Vec<f64> = (0..500).map(|n| loud(f64::from(n) * 10.0)).collect();
    let tops: Vec<f32> = (30..499)
        .filter(|n| all[*n] > all[n - 1] && all[*n] > all[n + 1])
        .map(|n| n as f32 * 10.0)
        .collect();
    [tops[0], tops[1]]
}

#[track_caller]
fn assert_near(found: f32, expected: f32, part: f32) {
    assert!((found / expected - 1.0).abs() < part, "{found} is not {expected}");
}

#[test]
fn pitch_moves_and_the_mouth_stays() {
    for pitch in [90.0, 110.0, 130.0] {
        let sound = vowel(pitch);
        let mouth = formants_of(&sound);
        assert_near(pitch_of(&sound), pitch, 0.04);
        for semitones in [-6.0, -3.0, 3.0, 6.0] {
            let out = shifted(&sound, semitones, 0.0);
            assert_near(pitch_of(&out), pitch * (semitones / 12.0).exp2(), 0.04);
            let moved = formants_of(&out);
            // Harmonics of a high voice are so far apart that a peak lies on the nearest.
            assert_near(moved[0], mouth[0], 0.12);
            assert_near(moved[1], mouth[1], 0.12);
        }
    }
}

#[test]
fn mouth_moves_and_pitch_stays() {
    let sound = vowel(110.0);
    let mouth = formants_of(&sound);
    for semitones in [-5.0, -3.0, 3.0, 5.0_f32] {
        let out = shifted(&sound, 0.0, semitones);
        assert_near(pitch_of(&out), 110.0, 0.03);
        let moved = formants_of(&out);
        let factor = (semitones / 12.0).exp2();
        assert_near(moved[0], mouth[0] * factor, 0.1);
        assert_near(moved[1], mouth[1] * factor, 0.1);
    }
}

#[test]
fn loudness_stays_and_noise_is_no_voice() {
    let mut state = 1_u32;
    let noise: Vec<f32> = (0..24_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (f32::from(state.to_be_bytes()[0]) / 255.0 - 0.5) * 0.3
        })
        .collect();
    let loud =
        |sound: &[f32]| (sound.iter().map(|it| it * it).sum::<f32>() / sound.len() as f32).sqrt();
    for sound in [noise, vowel(120.0)] {
        for (pitch, formants) in [(4.0, 0.0), (-4.0, 0.0), (0.0, 3.0), (0.0, -3.0)] {
            let out = shifted(&sound, pitch, formants);
            let by = 20.0 * (loud(&out) / loud(&sound)).log10();
            assert!(by.abs() < 3.0, "{by} dB for {pitch} and {formants}");
        }
    }
    assert!(shifted(&[0.0; 5_000], 3.0, 2.0).iter().all(|sample| *sample == 0.0));
}

#[test]
fn nothing_to_change_changes_nothing() {
    let sound = vowel(100.0);
    let plain: Vec<i16> = sound.iter().map(|sample| to_sample(sample * FULL)).collect();
    let mut out = Vec::new();
    let mut timbre = Timbre::new(RATE, 0.0, 0.0).unwrap();
    timbre.push(&sound, &mut out);
    timbre.finish(&mut out);
    assert_eq!(out, plain);
    for (pitch, formants) in [(10.1, 0.0), (f32::NAN, 0.0), (0.0, -6.1), (0.0, f32::NAN)] {
        Timbre::new(RATE, pitch, formants).unwrap_err();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pieces_make_no_difference_and_length_stays(
        sound in prop::collection::vec(-1.0_f32..1.0, 0..4_000),
        pitch in -10.0_f32..10.0,
        formants in -6.0_f32..6.0,
        piece in 1_usize..900,
    ) {
        let said = |piece: usize| {
            let mut timbre = Timbre::new(RATE, pitch, formants).unwrap();
            let mut out = Vec::new();
            sound.chunks(piece).for_each(|part| timbre.push(part, &mut out));
            timbre.finish(&mut out);
            out
        };
        let whole = said(sound.len().max(1));
        prop_assert_eq!(whole.len(), sound.len());
        prop_assert_eq!(said(piece), whole);
    }
}
