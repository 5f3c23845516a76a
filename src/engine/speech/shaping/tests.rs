use std::sync::OnceLock;

use super::*;
use crate::{
    audio::{FRAME_SAMPLES_48K, Loudness, TARGET_LUFS, factor_of, to_sample},
    domain::Voice,
};

/// Rate of the stand-ins.
const RATE: SampleRate = SampleRate::HZ_24000;
/// Length of the lines, in seconds.
const LINES: [u32; 5] = [2, 3, 1, 2, 3];
/// Chunks of 20 ms, and whole lines.
const CHUNKS: [usize; 2] = [480, 240_000];
/// Highest sample that leaves: -1.5 dB.
const HIGHEST: u16 = 27_560;

fn key() -> VoiceKey {
    VoiceKey::of(&Voice::as_is("stand-in", "a"))
}

/// Similar to speech: syllables of uneven strength on 150 Hz, with a pause each second.
fn speech(seconds: u32) -> Vec<f32> {
    let buzz =
        |turn: f32| (1..20_u8).map(f32::from).map(move |n| (turn * n).sin() / n).sum::<f32>();
    let period: Vec<f32> =
        (0..160_u8).map(|at| buzz(std::f32::consts::TAU * f32::from(at) / 160.0)).collect();
    let strengths = [0.3, 1.0, 0.6, 0.8, 0.4, 0.9, 0.5, 0.7, 0.0, 0.0];
    let syllables = (0..seconds * 10).map(|at| strengths[((at + at / 10) % 10) as usize]);
    let syllable = |strength: f32| {
        let rise = |at: u16| (std::f32::consts::PI * f32::from(at) / 2_400.0).sin();
        let voice = (0..2_400_u16).zip(period.iter().cycle());
        voice.map(|(at, voice)| strength * rise(at) * voice).collect::<Vec<_>>()
    };
    syllables.flat_map(syllable).collect()
}

/// The lines without levelling.
fn lines() -> &'static [Vec<f32>] {
    static SPOKEN: OnceLock<Vec<Vec<f32>>> = OnceLock::new();
    SPOKEN.get_or_init(|| LINES.into_iter().map(speech).collect())
}

#[expect(clippy::cast_possible_truncation, reason = "a level in LUFS has few digits")]
fn lufs(samples: &[i16], rate: SampleRate) -> f32 {
    let mut loudness = Loudness::new(rate).unwrap();
    loudness.push(samples);
    loudness.lufs().unwrap() as f32
}

/// Lines of a service with this loudness.
fn service(wanted: f32) -> Vec<Vec<i16>> {
    let as_loud = |factor: f32| -> Vec<Vec<i16>> {
        let line = |line: &Vec<f32>| line.iter().map(|it| to_sample(it * factor)).collect();
        lines().iter().map(line).collect()
    };
    let quiet = lufs(&as_loud(1_000.0).concat(), RATE);
    let lines = as_loud(1_000.0 * factor_of(wanted - quiet));
    let is = lufs(&lines.concat(), RATE);
    assert!((is - wanted).abs() < 1.0, "the stand-in has {is} LUFS");
    lines
}

/// A levelled line, in chunks; checks that no frame leaves later than without levelling.
fn leaves(levels: &VoiceLevels, volume: f32, line: &[i16], chunk: usize) -> Vec<i16> {
    let (mut levelled, mut plain) = (Shaping::new(volume), Shaping::new(1.0));
    levelled.level(levels, key());
    let mut frames = Vec::new();
    for samples in line.chunks(chunk) {
        let chunk = Pcm { samples: samples.to_vec(), rate: RATE };
        let made = levelled.push(&chunk).unwrap();
        assert_eq!(made.len(), plain.push(&chunk).unwrap().len(), "levelling holds sound back");
        frames.extend(made);
    }
    frames.extend(levelled.finish());
    frames.iter().flat_map(|frame| frame.samples().to_vec()).collect()
}

/// Loudness of all lines of a service, and of each of them, after levelling.
fn levelled(levels: &VoiceLevels, wanted: f32, chunk: usize) -> (f32, Vec<f32>) {
    let lines = service(wanted).into_iter();
    let lines: Vec<_> = lines.map(|line| leaves(levels, 1.0, &line, chunk)).collect();
    let highest = lines.iter().flatten().map(|sample| sample.unsigned_abs()).max();
    assert!(highest.is_some_and(|highest| highest <= HIGHEST), "{highest:?}");
    let each = lines.iter().map(|line| lufs(line, SampleRate::HZ_48000)).collect();
    (lufs(&lines.concat(), SampleRate::HZ_48000), each)
}

#[test]
fn services_of_any_loudness_leave_alike() {
    for wanted in [-30.0, -20.0, -10.0] {
        for chunk in CHUNKS {
            let (all, each) = levelled(&VoiceLevels::default(), wanted, chunk);
            println!("{wanted} LUFS in chunks of {chunk}: {all:.1}, by line {each:.1?}");
            let off = |lufs: f32| (lufs - TARGET_LUFS).abs();
            assert!(off(all) <= 1.0, "{wanted} {chunk}: {all}");
            assert!(each.iter().all(|it| off(*it) <= 3.0), "{wanted} {chunk}: {each:?}");
        }
    }
}

#[test]
fn kept_voice_begins_at_its_level() {
    let learnt = VoiceLevels::default();
    let _ = levelled(&learnt, -30.0, 480);
    let again = VoiceLevels::new(learnt.kept());
    let line = &service(-30.0)[0];
    let first = |levels: &VoiceLevels| {
        let left = leaves(levels, 1.0, line, 480);
        let words = left.iter().take(5 * FRAME_SAMPLES_48K);
        words.map(|sample| sample.unsigned_abs()).max().unwrap()
    };
    let (known, unknown) = (first(&again), first(&VoiceLevels::default()));
    assert!(known > 2 * unknown, "{known} {unknown}");
}

#[test]
fn kept_level_that_is_wrong_is_made_good() {
    let before = VoiceLevels::default();
    let _ = levelled(&before, -20.0, 2_400);
    for wanted in [-30.0, -10.0] {
        let (_, each) = levelled(&VoiceLevels::new(before.kept()), wanted, 2_400);
        assert!(each.iter().all(|it| (it - TARGET_LUFS).abs() <= 3.0), "{wanted}: {each:?}");
    }
}

#[test]
fn volume_of_an_npc_comes_on_top() {
    let levels = VoiceLevels::default();
    let _ = levelled(&levels, -20.0, 2_400);
    let line = &service(-20.0)[1];
    let at = |volume| lufs(&leaves(&levels, volume, line, 2_400), SampleRate::HZ_48000);
    let (half, plain) = (at(0.5), at(1.0));
    assert!((plain - half - 6.0).abs() < 0.5, "{plain} {half}");
    assert!(leaves(&levels, 0.0, line, 2_400).iter().all(|sample| *sample == 0));
}
