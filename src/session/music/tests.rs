//! Decoding ahead, and playing decoded files.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::Duration,
};

use tempfile::TempDir;

use super::{
    decoding::{Decoded, decode_ahead},
    *,
};
use crate::{
    audio::{Clip, FRAME_SAMPLES_48K, SampleRate, write_wav},
    logic::music::{Layer, MusicFrame, MusicOrder, Samples, Track},
    session::{EventReader, TableEvent, TableEvents},
};

/// Longest wait for a thread.
const PATIENCE: Duration = Duration::from_secs(20);

fn wav(folder: &Path, name: &str, clip: &Clip) -> PathBuf {
    let file = folder.join(name);
    fs::write(&file, write_wav(clip)).unwrap();
    file
}

/// One click in otherwise quiet, rising sound.
fn click(length: i16, hz: u32) -> Clip {
    let mut samples: Vec<i16> = (0..length).map(|at| at % 50).collect();
    samples[usize::try_from(length / 2).unwrap()] = 20_000;
    Clip { samples, rate: SampleRate::new(hz).unwrap() }
}

fn track(file: PathBuf, is_looped: bool) -> Arc<Track> {
    let title = file.file_stem().unwrap().to_string_lossy().into_owned();
    Arc::new(Track { file, is_looped, ..Track::plain(&title) })
}

/// Decodes `track`; the receiver gets failures and the end of the thread.
fn decoded(track: Arc<Track>) -> (Decoded, mpsc::Receiver<String>) {
    decoded_from(track, Duration::ZERO)
}

fn decoded_from(track: Arc<Track>, from: Duration) -> (Decoded, mpsc::Receiver<String>) {
    let (failed, told) = mpsc::channel();
    let decoded = decode_ahead(track, from, move |why| failed.send(why.to_owned()).unwrap());
    (decoded, told)
}

/// The next `count` samples, or the rest.
fn read(sound: &mut Decoded, count: usize) -> Vec<i16> {
    let mut samples = vec![0; count];
    let mut at = 0;
    while at < count && !sound.is_over() {
        sound.wait((count - at).min(FRAME_SAMPLES_48K));
        at += sound.read(&mut samples[at..]);
    }
    samples.truncate(at);
    samples
}

fn has_ended(told: &mpsc::Receiver<String>) -> bool {
    told.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Disconnected)
}

#[test]
fn loop_at_48_khz_is_sample_exact() {
    let folder = TempDir::new().unwrap();
    let clip = click(1_001, 48_000);
    let (mut sound, _told) = decoded(track(wav(folder.path(), "click.wav", &clip), true));
    let heard = read(&mut sound, 480_000);
    assert_eq!(heard.len(), 480_000);
    assert!(heard.iter().eq(clip.samples.iter().cycle().take(480_000)));
}

#[test]
fn track_begins_at_any_point() {
    let folder = TempDir::new().unwrap();
    let clip = click(1_001, 48_000);
    let file = wav(folder.path(), "click.wav", &clip);
    for ms in [1_usize, 20, 50, 3_600_000] {
        let from = Duration::from_millis(u64::try_from(ms).unwrap());
        let (mut sound, _told) = decoded_from(track(file.clone(), true), from);
        let heard = read(&mut sound, 9_600);
        let wanted = clip.samples.iter().cycle().skip(ms * 48 % 1_001);
        assert!(heard.len() == 9_600 && heard.iter().eq(wanted.take(9_600)), "{ms}");
    }
    let file = wav(folder.path(), "once.wav", &click(12_000, 48_000));
    for (ms, left) in [(50, 9_600), (250, 0), (3_600_000, 0)] {
        let from = Duration::from_millis(ms);
        let (mut sound, told) = decoded_from(track(file.clone(), false), from);
        assert_eq!(read(&mut sound, 100_000).len(), left, "{ms}");
        assert!(sound.is_over() && has_ended(&told));
    }
}

#[test]
fn loop_at_44_khz_neither_drifts_nor_breaks() {
    let folder = TempDir::new().unwrap();
    let clip = click(4_410, 44_100);
    let (mut sound, _told) = decoded(track(wav(folder.path(), "click.wav", &clip), true));
    let heard = read(&mut sound, 480_000);
    let (first, rest) = heard.split_at(9_600);
    let first = &first[4_800..];
    for (nth, lap) in rest.chunks_exact(4_800).enumerate() {
        let off = lap.iter().zip(first).map(|(a, b)| (i32::from(*a) - i32::from(*b)).abs()).max();
        assert!(off <= Some(2), "lap {nth} is {off:?} off");
    }
    let loudest = first.iter().enumerate().max_by_key(|(_, it)| **it).unwrap().0;
    assert_eq!(loudest, 2_400);
}

#[test]
fn track_without_loop_ends_whole() {
    let folder = TempDir::new().unwrap();
    let clip = click(12_000, 24_000);
    let (mut sound, told) = decoded(track(wav(folder.path(), "once.wav", &clip), false));
    assert_eq!(read(&mut sound, 100_000).len(), 24_000);
    assert!(sound.is_over() && has_ended(&told));
}

#[test]
fn effect_sounds_once_though_looped() {
    let folder = TempDir::new().unwrap();
    let file = wav(folder.path(), "door.wav", &click(3_000, 48_000));
    let effect = Track { layer: Layer::Effect, ..(*track(file, true)).clone() };
    let (mut sound, _told) = decoded(Arc::new(effect));
    assert_eq!(read(&mut sound, 100_000).len(), 3_000);
}

#[test]
fn thread_ends_when_its_sound_is_dropped() {
    let folder = TempDir::new().unwrap();
    let (mut sound, told) =
        decoded(track(wav(folder.path(), "click.wav", &click(1_001, 48_000)), true));
    read(&mut sound, 10);
    drop(sound);
    assert!(has_ended(&told), "it ends, and nothing has failed");
}

#[test]
fn file_without_sound_ends_and_is_reported_once() {
    let folder = TempDir::new().unwrap();
    let of = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        file
    };
    let short = wav(folder.path(), "short.wav", &click(900, 48_000));
    let cases = [
        (folder.path().join("missing.ogg"), "No such file"),
        (folder.path().to_owned(), "this is a folder"),
        (of("empty.wav", b""), "is empty"),
        (of("text.mp3x", b"hello there, no sound"), "not a sound file"),
        (short, "a loop needs 20 ms of sound"),
    ];
    for (file, wanted) in cases {
        let (mut sound, told) = decoded(track(file, true));
        assert!(read(&mut sound, 100_000).len() <= 900);
        let why = told.recv_timeout(PATIENCE).unwrap();
        assert!(why.contains(wanted), "{why}");
        assert!(sound.is_over() && has_ended(&told));
    }
}

fn player() -> (MusicPlayer, TableEvents, EventReader) {
    let events = TableEvents::new(8);
    let told = events.subscribe();
    (MusicPlayer::new(events.downgrade()), events, told)
}

fn next(player: &MusicPlayer) -> (bool, MusicFrame) {
    let mut frame = [1; FRAME_SAMPLES_48K];
    (player.next_whole(&mut frame), frame)
}

#[test]
fn player_plays_in_order_and_falls_silent() {
    let folder = TempDir::new().unwrap();
    let clip = click(1_001, 48_000);
    let (player, _events, _told) = player();
    let sounds = player.sounds();
    assert!(!next(&player).0 && !*sounds.borrow());
    player.order(MusicOrder::Play(track(wav(folder.path(), "click.wav", &clip), true)));
    assert!(*sounds.borrow());
    let heard: Vec<i16> = (0..100).flat_map(|_| next(&player).1).collect();
    assert!(heard.iter().eq(clip.samples.iter().cycle().take(heard.len())));
    assert_eq!(player.status().playing, [(Layer::Music, "click".to_owned())]);
    player.silence();
    assert_eq!(next(&player), (false, [0; FRAME_SAMPLES_48K]));
    assert!(!*sounds.borrow() && player.status().playing.is_empty());
}

#[test]
fn position_counts_what_was_played() {
    let folder = TempDir::new().unwrap();
    let file = wav(folder.path(), "click.wav", &click(1_001, 48_000));
    let (player, _events, _told) = player();
    player.play_from(track(file, true), Duration::from_secs(5));
    let at = || player.positions();
    assert_eq!(at(), [("click".to_owned(), Duration::from_secs(5))]);
    for _ in 0..50 {
        next(&player);
    }
    assert_eq!(at(), [("click".to_owned(), Duration::from_secs(6))]);
    player.silence();
    assert!(at().is_empty());
}

#[test]
fn broken_file_is_reported_and_ends_its_layer() {
    let (player, _events, mut told) = player();
    player.order(MusicOrder::Play(track("/nowhere/tavern.ogg".into(), true)));
    while next(&player).0 {}
    let notice = std::iter::from_fn(|| told.try_recv()).find_map(|event| match event {
        TableEvent::Private(notice) => Some(notice),
        _ => None,
    });
    // The thread reports it before its track is over.
    assert!(notice.is_some_and(|it| it.starts_with("cannot play 'tavern': No such file")));
    assert!(player.status().playing.is_empty());
}

#[test]
fn music_swells_once_no_voice_is_left() {
    let folder = TempDir::new().unwrap();
    let clip = Clip { samples: vec![20_000; 48_000], rate: SampleRate::HZ_48000 };
    let (player, _events, _told) = player();
    player.order(MusicOrder::Play(track(wav(folder.path(), "tone.wav", &clip), true)));
    next(&player);
    player.duck(Under::Npc, true);
    player.duck(Under::Player, true);
    player.duck(Under::Npc, false);
    let after = |frames| (0..frames).fold(0, |_, _| next(&player).1[0]);
    assert!(after(40) < 5_100);
    for is_audible in [true, true, false] {
        player.duck(Under::Notice, is_audible);
    }
    player.duck(Under::Player, false);
    assert!(after(40) < 5_100, "one notice is still read out");
    player.duck(Under::Notice, false);
    assert_eq!(after(32), 20_000);
}
