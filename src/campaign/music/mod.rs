//! Loudness of a library's tracks: measured once per file, stored, and equalised. Blocks.
//!
//! Entry functions: [`level`], [`check_sound`].

mod kept;

use std::{io, path::Path, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use self::kept::{Level, Levels, Stamp};
use crate::{
    audio::{DecodeError, Loudness, SampleRate, TARGET_LUFS, decode},
    files,
    logic::music::{Library, Track, shipped_sound},
};

/// Largest change of a track's level, in dB.
const RAISED_MAX: f32 = 12.0;
const LOWERED_MAX: f32 = 30.0;
/// Highest peak of a raised track, in dB of full scale.
const PEAK_MAX: f32 = -1.0;
/// Files per intermediate save.
const BATCH: usize = 16;
const RATE: SampleRate = SampleRate::HZ_48000;
/// Measured beginning of a file.
const MEASURED: Duration = Duration::from_secs(600);

/// Applies the levels stored at `path` to `library` and calls `publish`; then measures new and
/// changed files (about a second for minutes of sound) and publishes after every [`BATCH`].
/// Cancelling `until` ends it early and stores the results so far. Undecodable files keep their
/// level, with a warning; unreadable ones are retried next time.
pub fn level(
    library: &Library,
    path: &Path,
    until: &CancellationToken,
    publish: &mut dyn FnMut(Library),
) {
    let mut measure = |file: &Path| measured(file, MEASURED, until);
    level_by(&mut measure, library, path, until, publish);
}

/// [`level`] with a given measurement.
fn level_by(
    measure: &mut dyn FnMut(&Path) -> Result<Level, DecodeError>,
    library: &Library,
    path: &Path,
    until: &CancellationToken,
    publish: &mut dyn FnMut(Library),
) {
    let mut levels = Levels::read(path);
    let on_disk = library.tracks.iter().filter(|track| shipped_sound(&track.file).is_none());
    let unknown = on_disk.filter_map(|track| {
        let stamp = Stamp::of(&track.file)?;
        levels.of(&track.file, stamp).is_none().then_some((track, stamp))
    });
    let waiting: Vec<_> = unknown.collect();
    publish(levelled(library, &levels));
    for batch in waiting.chunks(BATCH) {
        for (track, stamp) in batch {
            match measure(&track.file) {
                Ok(level) => levels.set(&track.file, *stamp, level),
                Err(_) if until.is_cancelled() => break,
                Err(error) => {
                    let file = track.file.display();
                    tracing::warn!(%file, %error, "music file cannot be decoded");
                    // An unreadable file may be readable next time, unchanged.
                    if !matches!(error, DecodeError::Read(_)) {
                        levels.set(&track.file, *stamp, Level::UNKNOWN);
                    }
                }
            }
        }
        levels.keep_only(library);
        if let Err(error) = levels.write(path) {
            tracing::warn!(%error, path = %path.display(), "loudness of music is not kept");
        }
        publish(levelled(library, &levels));
        if until.is_cancelled() {
            return;
        }
    }
}

/// Decodes the beginning of the sound file; the error includes the fix.
pub fn check_sound(file: &Path) -> Result<(), String> {
    let mut has_sound = false;
    let ended = decoded(file, &mut |_| {
        has_sound = true;
        Err(io::ErrorKind::Interrupted.into())
    });
    match ended {
        _ if has_sound => Ok(()),
        Ok(_) => Err("there is no sound in it (export it again)".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn levelled(library: &Library, levels: &Levels) -> Library {
    let tracks = library.tracks.iter().map(|track| {
        let stamp = Stamp::of(&track.file);
        match stamp.and_then(|stamp| levels.of(&track.file, stamp)) {
            Some(level) => {
                Arc::new(Track { gain_db: track.gain_db + gain(level), ..Track::clone(track) })
            }
            None => Arc::clone(track),
        }
    });
    Library { tracks: tracks.collect() }
}

/// Gain in dB that brings this level to that of voices without clipping.
fn gain(Level { lufs, peak_db }: Level) -> f32 {
    let Some(lufs) = lufs else { return 0.0 };
    let room = (PEAK_MAX - peak_db).max(0.0);
    (TARGET_LUFS - lufs).min(room).clamp(-LOWERED_MAX, RAISED_MAX)
}

/// Measures at most the first `most` of a file.
fn measured(file: &Path, most: Duration, until: &CancellationToken) -> Result<Level, DecodeError> {
    let mut loudness = Loudness::new(RATE).ok_or(DecodeError::AbsurdRate { hz: RATE.hz() })?;
    let (mut peak, mut left) = (0, RATE.samples_in(most));
    let ended = decoded(file, &mut |samples| {
        if left == 0 || until.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let (samples, _) = samples.split_at(left.min(samples.len()));
        left -= samples.len();
        loudness.push(samples);
        peak = samples.iter().map(|sample| sample.unsigned_abs()).fold(peak, u16::max);
        Ok(())
    });
    // With nothing left, enough was heard.
    if left > 0 {
        ended?;
    }
    let peak_db = 20.0 * (f32::from(peak.max(1)) / 32_768.0).log10();
    Ok(Level { lufs: loudness.lufs().map(rounded), peak_db })
}

/// Rounds to a hundredth.
#[expect(clippy::cast_possible_truncation, reason = "a level in LUFS has few digits")]
fn rounded(lufs: f64) -> f32 {
    ((lufs * 100.0).round() / 100.0) as f32
}

fn decoded(
    file: &Path,
    taker: &mut dyn FnMut(&[i16]) -> io::Result<()>,
) -> Result<SampleRate, DecodeError> {
    let source = files::open(file)?;
    let hint = file.extension().and_then(|extension| extension.to_str());
    decode(source, hint, Some(RATE), taker)
}

#[cfg(test)]
mod tests;
