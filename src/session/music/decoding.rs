//! A track's file, decoded ahead in a thread of its own.
//!
//! Entry function: [`decode_ahead`] returns a [`Decoded`]. The thread decodes up to one second
//! ahead, and ends with its track or when the [`Decoded`] is dropped. A loop is one stream through
//! one resampler, so its end and beginning join seamlessly.

use std::{
    collections::VecDeque,
    io::{self, Cursor, ErrorKind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use crate::{
    audio::{Resampler, SampleRate, decode_as_is},
    files,
    logic::music::{Layer, Samples, Track, shipped_sound},
};

/// Samples decoded ahead: 1 s.
const AHEAD: usize = 48_000;
/// Samples decoded before the first is read, or all of a short track: 250 ms, so that playback does
/// not stall at once.
const CUSHION: usize = AHEAD / 4;
/// Longest wait of a recording for a slow disk.
const PATIENCE: Duration = Duration::from_secs(5);
const TOO_SHORT: &str = "a loop needs 20 ms of sound (use a longer file, or turn its loop off)";

/// A track's decoded sound. Dropping it ends its thread.
#[derive(Debug)]
pub struct Decoded {
    ring: Arc<Ring>,
    /// True once its cushion was decoded.
    has_begun: bool,
}

/// Sound between decoder thread and mixer.
#[derive(Debug, Default)]
struct Ring {
    state: Mutex<State>,
    /// Signals a change of the samples or the end of a side.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    samples: VecDeque<i16>,
    is_whole: bool,
    is_dropped: bool,
}

impl Ring {
    /// Locked only to copy at most [`AHEAD`] samples.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends `samples`, waiting for room. Fails once the reader has gone.
    fn push(&self, mut samples: &[i16]) -> io::Result<()> {
        while !samples.is_empty() {
            let is_full = |state: &mut State| state.samples.len() >= AHEAD && !state.is_dropped;
            let waited = self.changed.wait_while(self.state(), is_full);
            let mut state = waited.unwrap_or_else(PoisonError::into_inner);
            if state.is_dropped {
                return Err(ErrorKind::BrokenPipe.into());
            }
            let room = AHEAD.saturating_sub(state.samples.len()).min(samples.len());
            let (now, later) = samples.split_at(room);
            state.samples.extend(now);
            samples = later;
            self.changed.notify_all();
        }
        Ok(())
    }

    fn is_dropped(&self) -> bool {
        self.state().is_dropped
    }

    fn end(&self) {
        self.state().is_whole = true;
        self.changed.notify_all();
    }
}

impl Samples for Decoded {
    fn read(&mut self, into: &mut [i16]) -> usize {
        let mut state = self.ring.state();
        if !self.has_begun && !state.is_whole && state.samples.len() < CUSHION {
            return 0;
        }
        self.has_begun = true;
        let count = into.len().min(state.samples.len());
        for (to, sample) in into.iter_mut().zip(state.samples.drain(..count)) {
            *to = sample;
        }
        drop(state);
        self.ring.changed.notify_all();
        count
    }

    fn is_over(&self) -> bool {
        let state = self.ring.state();
        state.is_whole && state.samples.is_empty()
    }

    fn wait(&self, count: usize) {
        let count = if self.has_begun { count } else { count.max(CUSHION) };
        let is_behind = |state: &mut State| state.samples.len() < count && !state.is_whole;
        drop(self.ring.changed.wait_timeout_while(self.ring.state(), PATIENCE, is_behind));
    }
}

impl Drop for Decoded {
    fn drop(&mut self) {
        let mut state = self.ring.state();
        state.is_dropped = true;
        state.samples = VecDeque::new();
        drop(state);
        self.ring.changed.notify_all();
    }
}

/// Decodes `track` from a point `from` its beginning, in a thread of its own, which calls `failed`
/// once if the sound ends early.
pub fn decode_ahead(
    track: Arc<Track>,
    from: Duration,
    failed: impl Fn(&str) + Send + Sync + 'static,
) -> Decoded {
    let (ring, failed) = (Arc::new(Ring::default()), Arc::new(failed));
    let thread = Thread { ring: Arc::clone(&ring) };
    let tell = Arc::clone(&failed);
    let work = move || {
        if let Err(why) = thread.run(&track, from)
            && !thread.ring.is_dropped()
        {
            tell(&why);
        }
    };
    if let Err(error) = thread::Builder::new().name("music".to_owned()).spawn(work) {
        // The closure was dropped with the thread's end of the ring, so the track is over.
        failed(&format!("no thread can be started for it: {error}"));
    }
    Decoded { ring, has_begun: false }
}

struct Thread {
    ring: Arc<Ring>,
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.ring.end();
    }
}

impl Thread {
    /// Decodes the track to its end or until the reader has gone; otherwise returns why it ended
    /// early.
    fn run(&self, track: &Track, from: Duration) -> Result<(), String> {
        // Effects sound once, whatever their files say.
        let is_looped = track.is_looped && track.layer != Layer::Effect;
        let skip = SampleRate::HZ_48000.samples_in(from);
        let mut stream = Stream { ring: &self.ring, joint: None, out: Vec::new(), skip, taken: 0 };
        loop {
            let is_short = decode_once(track, &mut stream)?;
            if !is_looped {
                return stream.finish().map_err(|error| error.to_string());
            }
            if is_short {
                return Err(TOO_SHORT.to_owned());
            }
            stream.leave_rounds_out();
        }
    }
}

/// Decodes the file once; returns true if it was shorter than a frame.
fn decode_once(track: &Track, stream: &mut Stream<'_>) -> Result<bool, String> {
    let hint = track.file.extension().map(|hint| hint.to_string_lossy().into_owned());
    let (mut count, mut is_short) = (0, true);
    let mut take = |rate: SampleRate, piece: &[i16]| {
        count += piece.len();
        is_short = count < rate.frame_len();
        stream.take(rate, piece)
    };
    let decoded = match shipped_sound(&track.file) {
        Some(bytes) => decode_as_is(Cursor::new(bytes), hint.as_deref(), &mut take),
        None => {
            let file = files::open(&track.file).map_err(|error| error.to_string())?;
            decode_as_is(file, hint.as_deref(), &mut take)
        }
    };
    decoded.map(|()| is_short).map_err(|error| error.to_string())
}

struct Stream<'r> {
    ring: &'r Ring,
    /// Input rate, and the resampler from it.
    joint: Option<(SampleRate, Resampler)>,
    out: Vec<i16>,
    /// Samples to leave out.
    skip: usize,
    /// Samples taken at the current rate.
    taken: usize,
}

impl Stream<'_> {
    /// Takes a piece; its rate may differ if the file was replaced.
    fn take(&mut self, rate: SampleRate, piece: &[i16]) -> io::Result<()> {
        let is_new = self.joint.as_ref().is_none_or(|(of, _)| *of != rate);
        if is_new {
            self.finish()?;
            let resampler = Resampler::new(rate, SampleRate::HZ_48000).map_err(io::Error::other)?;
            self.joint = Some((rate, resampler));
            self.taken = 0;
        }
        self.taken += piece.len();
        if let Some((_, resampler)) = &mut self.joint {
            resampler.push(piece, &mut self.out);
        }
        self.hand_on()
    }

    /// A round of a loop is over: skips no further whole ones, which lead back to the same point.
    fn leave_rounds_out(&mut self) {
        let Some((rate, _)) = &self.joint else { return };
        let [from, to] = [*rate, SampleRate::HZ_48000].map(|it| u128::from(it.hz()));
        // A duration would be rounded.
        let round = u128::from(u64::try_from(self.taken).unwrap_or(u64::MAX)) * to / from;
        let round = usize::try_from(round).unwrap_or(usize::MAX);
        self.skip = self.skip.checked_rem(round).unwrap_or(self.skip);
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some((_, resampler)) = &mut self.joint {
            resampler.finish(&mut self.out);
        }
        self.hand_on()
    }

    fn hand_on(&mut self) -> io::Result<()> {
        let (skipped, wanted) = self.out.split_at(self.skip.min(self.out.len()));
        if !skipped.is_empty() && self.ring.is_dropped() {
            return Err(ErrorKind::BrokenPipe.into());
        }
        self.skip -= skipped.len();
        let handed = self.ring.push(wanted);
        self.out.clear();
        handed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn track_begins_with_a_cushion_or_whole() {
        let ring = Arc::new(Ring::default());
        let mut sound = Decoded { ring: Arc::clone(&ring), has_begun: false };
        let mut frame = [0; 960];
        ring.push(&vec![1; CUSHION - 1]).unwrap();
        assert_eq!(sound.read(&mut frame), 0);
        ring.push(&[1]).unwrap();
        assert_eq!((sound.read(&mut frame), frame), (960, [1; 960]));
        sound.read(&mut vec![0; CUSHION - 1_000]);
        assert_eq!(sound.read(&mut frame), 40, "only the beginning waits");

        let ring = Arc::new(Ring::default());
        let mut short = Decoded { ring: Arc::clone(&ring), has_begun: false };
        ring.push(&[1; 100]).unwrap();
        assert_eq!(short.read(&mut frame), 0);
        ring.end();
        assert_eq!(short.read(&mut frame), 100);
        assert!(short.is_over());
    }
}
