//! Tests of the layers' mix.

use std::sync::Arc;

use super::*;
use crate::audio::FRAME_SAMPLES_48K;

/// A sound that is complete, or arrives in pieces.
struct Sound {
    samples: Vec<i16>,
    at: usize,
    /// Most samples per call.
    piece: usize,
}

impl Samples for Sound {
    fn read(&mut self, into: &mut [i16]) -> usize {
        let left = &self.samples[self.at..];
        let count = left.len().min(into.len()).min(self.piece);
        into[..count].copy_from_slice(&left[..count]);
        self.at += count;
        count
    }

    fn is_over(&self) -> bool {
        self.at == self.samples.len()
    }

    fn wait(&self, _count: usize) {}
}

/// A sound that never arrives.
struct Late;

impl Samples for Late {
    fn read(&mut self, _into: &mut [i16]) -> usize {
        0
    }

    fn is_over(&self) -> bool {
        false
    }

    fn wait(&self, _count: usize) {}
}

fn track(title: &str, layer: Layer) -> Arc<Track> {
    Arc::new(Track { layer, ..Track::plain(title) })
}

fn sound(samples: Vec<i16>) -> Box<dyn Samples> {
    Box::new(Sound { samples, at: 0, piece: usize::MAX })
}

/// 10 s of noise, the same for each seed.
fn noise(seed: u32) -> Vec<i16> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        i16::try_from(state >> 19).unwrap() - 4_096
    };
    (0..480_000).map(next).collect()
}

fn steady(level: i16) -> Box<dyn Samples> {
    sound(vec![level; 480_000])
}

fn frames(mixer: &mut Mixer, count: usize) -> Vec<i16> {
    let mut heard = Vec::new();
    for _ in 0..count {
        let mut frame = [1; FRAME_SAMPLES_48K];
        mixer.render(&mut frame);
        heard.extend(frame);
    }
    heard
}

fn power(samples: &[i16]) -> f64 {
    samples.iter().map(|&it| f64::from(it).powi(2)).sum::<f64>() / samples.len() as f64
}

fn db(of: f64, to: f64) -> f64 {
    10.0 * (of / to).log10()
}

#[test]
fn one_track_passes_unchanged_to_its_end() {
    let mut mixer = Mixer::new();
    let samples: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    mixer.play(track("All", Layer::Music), sound(samples.clone()));
    let heard = frames(&mut mixer, 69);
    assert_eq!(heard[..samples.len()], samples);
    assert!(heard[samples.len()..].iter().all(|&it| it == 0));
    let mut frame = [1; FRAME_SAMPLES_48K];
    assert!(!mixer.render(&mut frame), "it is over");
    assert_eq!(frame, [0; FRAME_SAMPLES_48K]);
}

#[test]
fn crossfade_keeps_its_power() {
    let mut mixer = Mixer::new();
    mixer.play(track("Inn", Layer::Music), sound(noise(1)));
    let before = power(&frames(&mut mixer, 50));
    mixer.play(track("Battle", Layer::Music), sound(noise(2)));
    assert_eq!(mixer.status().playing, [(Layer::Music, "Battle".to_owned())]);
    for tenth in 0..10 {
        let off = db(power(&frames(&mut mixer, 10)), before);
        assert!(off.abs() < 1.0, "{off} dB after {tenth} tenths");
    }
    let heard = frames(&mut mixer, 1);
    assert_eq!(heard, noise(2)[96_000..96_960], "the old one is gone");
}

#[test]
fn track_not_there_yet_leaves_the_old_one() {
    let mut mixer = Mixer::new();
    mixer.play(track("Inn", Layer::Music), sound(noise(1)));
    frames(&mut mixer, 1);
    mixer.play(track("Late", Layer::Music), Box::new(Late));
    let heard = frames(&mut mixer, 200);
    assert_eq!(heard, noise(1)[960..201 * 960]);
    mixer.play(track("Empty", Layer::Music), sound(Vec::new()));
    frames(&mut mixer, 1);
    assert_eq!(mixer.status().playing, [(Layer::Music, "Inn".to_owned())]);
}

#[test]
fn slow_source_keeps_its_place() {
    let mut mixer = Mixer::new();
    let samples: Vec<i16> = (1..=2_000).collect();
    let slow = Sound { samples: samples.clone(), at: 0, piece: 500 };
    mixer.play(track("Slow", Layer::Music), Box::new(slow));
    let heard = frames(&mut mixer, 4);
    let sounding: Vec<i16> = heard.iter().copied().filter(|&it| it != 0).collect();
    assert_eq!(sounding, samples);
    assert!(heard[500..960].iter().all(|&it| it == 0));
}

#[test]
fn layers_and_effects_sound_together() {
    let mut mixer = Mixer::new();
    mixer.play(track("Inn", Layer::Music), steady(1_000));
    mixer.play(track("Rain", Layer::Ambience), steady(200));
    mixer.play(track("Door", Layer::Effect), sound(vec![30; 960]));
    mixer.play(track("Bell", Layer::Effect), sound(vec![4; 480]));
    let heard = frames(&mut mixer, 2);
    assert_eq!((heard[0], heard[500], heard[1_000]), (1_234, 1_230, 1_200));
    let playing = mixer.status().playing;
    let wanted = [(Layer::Music, "Inn".to_owned()), (Layer::Ambience, "Rain".to_owned())];
    assert_eq!(playing, wanted);
    for _ in 0..9 {
        mixer.play(track("Drum", Layer::Effect), steady(10));
    }
    assert_eq!(frames(&mut mixer, 1)[0], 1_280, "the oldest effect gave way");
}

#[test]
fn loud_layers_together_do_not_wrap() {
    let mut mixer = Mixer::new();
    mixer.play(track("Inn", Layer::Music), steady(30_000));
    mixer.play(track("Rain", Layer::Ambience), steady(30_000));
    assert!(frames(&mut mixer, 10).iter().all(|&it| it > 32_000));
}

#[test]
fn gain_of_a_track_is_bounded() {
    let mut mixer = Mixer::new();
    let of = |gain_db| Arc::new(Track { gain_db, ..(*track("Inn", Layer::Effect)).clone() });
    mixer.play(of(-6.02), steady(1_000));
    assert_eq!(frames(&mut mixer, 1)[0], 500);
    mixer.silence();
    mixer.play(of(f32::NAN), steady(1_000));
    assert_eq!(frames(&mut mixer, 1)[0], 1_000);
}

#[test]
fn duck_takes_40_ms_and_the_way_back_600() {
    let mut mixer = Mixer::new();
    mixer.play(track("Inn", Layer::Music), steady(20_000));
    frames(&mut mixer, 1);
    mixer.duck(true);
    let down = frames(&mut mixer, 3);
    assert!(down[0] > 19_900 && down[959] > 6_000, "{} {}", down[0], down[959]);
    assert!((5_020..=5_027).contains(&down[1_920]), "{}", down[1_920]);
    mixer.duck(true);
    mixer.duck(false);
    let up = frames(&mut mixer, 31);
    assert!(up[0] < 5_100 && up[14_400] < 19_000, "{} {}", up[0], up[14_400]);
    assert!(up[28_800..].iter().all(|&it| it == 20_000));
    assert!(up.windows(2).all(|two| (0..=8).contains(&(two[1] - two[0]))), "no step");
}

#[test]
fn track_begun_under_speech_begins_ducked() {
    let mut mixer = Mixer::new();
    mixer.duck(true);
    mixer.play(track("Inn", Layer::Music), steady(20_000));
    assert!(frames(&mut mixer, 1).iter().all(|&it| it < 5_100));
}

#[test]
fn volume_moves_and_ends_exact() {
    let mut mixer = Mixer::new();
    mixer.play(track("Inn", Layer::Music), steady(10_000));
    mixer.set_volume(50);
    let heard = frames(&mut mixer, 6);
    assert!(heard[0] > 9_900, "a ramp, no step");
    assert_eq!((heard[5_000], mixer.status().volume), (2_500, 50));
    mixer.set_volume(0);
    assert_eq!(frames(&mut mixer, 6)[5_000], 0);
    mixer.set_volume(200);
    assert_eq!((frames(&mut mixer, 6)[5_000], mixer.status().volume), (10_000, 100));
}

#[test]
fn stop_fades_out_within_two_seconds() {
    let mut mixer = Mixer::new();
    mixer.play(track("Inn", Layer::Music), steady(10_000));
    mixer.play(track("Rain", Layer::Ambience), Box::new(Late));
    frames(&mut mixer, 1);
    mixer.stop();
    assert!(mixer.status().playing.is_empty());
    let heard = frames(&mut mixer, 101);
    assert!(heard.windows(2).all(|two| two[1] <= two[0]) && heard[48_000] > 1_000);
    assert_eq!(heard[95_999], 0);
    assert!(mixer.is_silent());
}

#[test]
fn silence_empties_the_very_next_frame() {
    let mut mixer = Mixer::new();
    mixer.play(track("Inn", Layer::Music), steady(10_000));
    mixer.play(track("Door", Layer::Effect), steady(10_000));
    frames(&mut mixer, 1);
    mixer.silence();
    let mut frame = [1; FRAME_SAMPLES_48K];
    assert!(!mixer.render(&mut frame));
    assert_eq!(frame, [0; FRAME_SAMPLES_48K]);
}

#[test]
fn orders_in_a_row_keep_few_tracks() {
    let mut mixer = Mixer::new();
    for _ in 0..50 {
        mixer.play(track("Inn", Layer::Music), steady(100));
        frames(&mut mixer, 1);
    }
    let loudest = frames(&mut mixer, 1).into_iter().max();
    assert!(loudest.is_some_and(|it| it <= 400), "{loudest:?}");
}

#[test]
fn one_track_too_many_ends_without_a_click() {
    for layer in [Layer::Music, Layer::Effect] {
        let mut mixer = Mixer::new();
        for _ in 0..8 {
            mixer.play(track("Hum", layer), steady(1_000));
            frames(&mut mixer, 2);
        }
        let mut heard = frames(&mut mixer, 1);
        // Consecutive orders end one effect each; those not audible yet are dropped at once.
        for _ in 0..20 {
            mixer.play(track("Hush", layer), steady(0));
        }
        heard.extend(frames(&mut mixer, 3));
        let step = heard.windows(2).map(|two| (two[1] - two[0]).abs()).max();
        assert!(step <= Some(20), "{layer:?}: {step:?}");
    }
}
