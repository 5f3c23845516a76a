use std::{fs, path::PathBuf};

use super::*;
use crate::audio::{Clip, write_wav};

/// A second of a tone with this amplitude, in a file.
fn tone(path: PathBuf, amplitude: i16) -> Arc<Track> {
    let wave = |i: u32| {
        let sign = if (i / 24).is_multiple_of(2) { 1 } else { -1 };
        sign * amplitude
    };
    let samples = (0..48_000).map(wave).collect();
    fs::write(&path, write_wav(&Clip { samples, rate: RATE })).unwrap();
    let title = path.display().to_string();
    Arc::new(Track { file: path, gain_db: -3.0, ..Track::plain(&title) })
}

/// Gains of a library after each publication.
fn gains(library: &Library, path: &Path) -> Vec<Vec<f32>> {
    let mut all = Vec::new();
    level(library, path, &CancellationToken::new(), &mut |levelled| {
        all.push(levelled.tracks.iter().map(|track| track.gain_db).collect());
    });
    all
}

#[test]
fn loud_and_quiet_files_come_to_one_level() {
    let dir = tempfile::tempdir().unwrap();
    let (loud, quiet) =
        (tone(dir.path().join("l.wav"), 16_000), tone(dir.path().join("q.wav"), 1_600));
    let library = Library { tracks: vec![loud, quiet] };
    let kept = dir.path().join("data/loudness.json");
    let first = gains(&library, &kept);
    assert_eq!(first[0], [-3.0, -3.0], "not measured yet");
    let [loud, quiet] = first[1].as_slice() else { panic!("{first:?}") };
    assert!(*loud < -8.0 && *loud > -25.0, "{loud}");
    assert!((quiet - loud - 20.0).abs() < 0.1, "{quiet} {loud}");
    assert_eq!(gains(&library, &kept), [first[1].clone()], "measured once");
}

#[test]
fn peaks_are_not_raised_into_clipping() {
    let quiet_with_peak = Level { lufs: Some(-40.0), peak_db: -2.0 };
    assert!((gain(quiet_with_peak) - 1.0).abs() < 0.01);
    assert!((gain(Level { lufs: Some(-60.0), peak_db: -50.0 }) - RAISED_MAX).abs() < 0.01);
    assert!((gain(Level { lufs: Some(-5.0), peak_db: 0.0 }) + 15.0).abs() < 0.01);
    assert!(gain(Level::UNKNOWN).abs() < f32::EPSILON);
}

#[test]
fn files_that_change_are_measured_again() {
    let dir = tempfile::tempdir().unwrap();
    let (file, kept) = (dir.path().join("a.wav"), dir.path().join("loudness.json"));
    let library = Library { tracks: vec![tone(file.clone(), 16_000)] };
    let before = gains(&library, &kept);
    tone(file.clone(), 1_600);
    fs::File::options().append(true).open(&file).unwrap().set_len(90_000).unwrap();
    let after = gains(&library, &kept);
    assert_eq!(after.len(), 2, "it was measured");
    assert!(after[1][0] > before[1][0] + 10.0);
}

#[test]
fn broken_files_keep_their_level_and_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let (file, kept) = (dir.path().join("a.mp3"), dir.path().join("loudness.json"));
    fs::write(&kept, "{ broken").unwrap();
    let track = tone(file.clone(), 100);
    fs::write(&file, "no sound at all").unwrap();
    let all = gains(&Library { tracks: vec![track] }, &kept);
    assert_eq!(all, [[-3.0], [-3.0]]);
    assert!(check_sound(&file).is_err());
    assert!(check_sound(dir.path()).is_err());
    tone(file.clone(), 100);
    assert_eq!(check_sound(&file), Ok(()));
}

#[test]
fn unreadable_files_are_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("loudness.json");
    // Its stamp stays as it is.
    let folder = dir.path().join("folder");
    fs::create_dir(&folder).unwrap();
    let track = Track::clone(&tone(dir.path().join("a.wav"), 100));
    let library = Library { tracks: vec![Arc::new(Track { file: folder, ..track })] };
    for _ in 0..2 {
        assert_eq!(gains(&library, &kept).len(), 2, "it was tried");
    }
}

#[test]
fn cancelled_levelling_keeps_what_it_measured() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("loudness.json");
    let tracks = ["a.wav", "b.wav", "c.wav"].map(|name| tone(dir.path().join(name), 16_000));
    let (first, library) = (tracks[0].file.clone(), Library { tracks: tracks.to_vec() });
    let (until, mut tried) = (CancellationToken::new(), 0);
    let mut measure = |file: &Path| {
        tried += 1;
        if file != first {
            until.cancel();
        }
        measured(file, MEASURED, &until)
    };
    level_by(&mut measure, &library, &kept, &until, &mut |_| {});
    assert_eq!(tried, 2);
    let all = gains(&library, &kept);
    assert!(all[0][0] < -8.0, "{all:?}");
    assert_eq!(all[0][1..], [-3.0, -3.0]);
}

#[test]
fn long_files_are_measured_in_part() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("long.wav");
    let second = |amplitude: i16| std::iter::repeat_n([amplitude, -amplitude], 24_000).flatten();
    let samples = second(1_000).chain(second(30_000)).collect();
    fs::write(&file, write_wav(&Clip { samples, rate: RATE })).unwrap();
    let peak = |millis| {
        let most = Duration::from_millis(millis);
        measured(&file, most, &CancellationToken::new()).unwrap().peak_db
    };
    assert!(peak(1_000) < -30.0 && peak(600_000) > -1.0);
}

#[test]
fn shipped_tracks_are_not_measured() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("loudness.json");
    assert_eq!(gains(&Library::shipped(), &kept).len(), 1);
    assert!(!kept.exists());
}
