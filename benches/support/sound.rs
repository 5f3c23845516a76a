//! Sound of the player's microphone: 20 ms frames of 16 kHz mono.

use std::f64::consts::PI;

use glyphoxa::measure::{Frame, SampleRate};

/// 20 ms at 16 kHz.
pub const FRAME: usize = 320;
/// First sample of the frame after which the recogniser has its final.
pub const LAST: i16 = 1;
/// First sample of a frame with which the recogniser has its partial.
pub const WORD: i16 = 2;

/// A silent frame, newly allocated as a decoder does it.
pub fn silence() -> Frame {
    Frame::silence(SampleRate::HZ_16000)
}

/// The frame with `mark` as its first sample.
pub fn marked(frame: &Frame, mark: i16) -> Frame {
    let mut samples = frame.samples().to_vec();
    if let Some(first) = samples.first_mut() {
        *first = mark;
    }
    Frame::padded(&samples, SampleRate::HZ_16000)
}

/// `frames` of a voice-like buzz through three moving resonances in syllables of 160 ms; no frame
/// is marked.
pub fn babble(frames: usize) -> Vec<Frame> {
    let (mut phase, mut states) = (0.0_f64, [[0.0_f64; 2]; 3]);
    let samples: Vec<i16> = (0..frames * FRAME)
        .map(|index| {
            let time = index as f64 / 16_000.0;
            phase += (120.0 + 20.0 * (time * 4.0).sin()) / 16_000.0;
            let pulse = if phase >= 1.0 { 1.0 } else { 0.0 };
            phase = phase.fract();
            let vowel = (time / 0.16).floor();
            let formants = [
                500.0 + 250.0 * (vowel * 1.7).sin(),
                1_500.0 + 600.0 * (vowel * 2.9).cos(),
                2_500.0,
            ];
            let mut voice = 0.0;
            for (formant, [newer, older]) in formants.into_iter().zip(&mut states) {
                let keep = (-PI * 80.0 / 16_000.0).exp();
                let turn = 2.0 * PI * formant / 16_000.0;
                let out = pulse + 2.0 * keep * turn.cos() * *newer - keep * keep * *older;
                (*older, *newer) = (*newer, out);
                voice += out;
            }
            let syllable = (PI * (time / 0.16).fract()).sin().sqrt();
            sample(voice * syllable * 2_000.0)
        })
        .collect();
    let frames = samples.chunks(FRAME).map(|samples| Frame::padded(samples, SampleRate::HZ_16000));
    frames.map(|frame| marked(&frame, 0)).collect()
}

/// Half a second of speech, the last frame marked [`LAST`]. A recogniser that ends utterances itself is
/// opened by a voice, so silence would not do.
pub fn utterance() -> Vec<Frame> {
    let mut frames = babble(25);
    if let Some(last) = frames.last_mut() {
        *last = marked(last, LAST);
    }
    frames
}

/// `samples` of a steady tone of 440 Hz at `rate` Hz.
pub fn tone(samples: usize, rate: f64) -> Vec<i16> {
    (0..samples).map(|n| sample(8_000.0 * (2.0 * PI * 440.0 * n as f64 / rate).sin())).collect()
}

/// The nearest sample.
#[expect(clippy::cast_possible_truncation, reason = "clamped")]
fn sample(value: f64) -> i16 {
    value.clamp(-30_000.0, 30_000.0) as i16
}
