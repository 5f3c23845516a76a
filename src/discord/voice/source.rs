//! One track as songbird reads it.
//!
//! Entry types: [`Frames`], the sound's origin, and [`Source`]; [`start`] plays it. Hands out 20 ms
//! at a time, because several calls share a mixer's thread; ends with its shard's tenure. **Never**:
//! reads ahead.

use std::io::{self, Read, Seek, SeekFrom};

use songbird::{
    Call,
    input::{Input, RawAdapter, codecs, core::io::MediaSource},
    tracks::TrackHandle,
};
use tokio::time::Instant;

use crate::{audio::FRAME_SAMPLES_48K, discord::tenure::Tenure, logic::music::MusicFrame};

/// Bytes of one sample for songbird: f32, little endian.
pub const SAMPLE_BYTES: usize = 4;

/// Sound of a track, 20 ms at a time.
pub trait Frames: Send + Sync {
    /// Makes the next frame without waiting; false at the end.
    fn next(&self, into: &mut MusicFrame) -> bool;
}

pub struct Source {
    frames: Box<dyn Frames>,
    /// Once it is over, nothing more is played.
    tenure: Tenure,
    /// The frame being read.
    bytes: Vec<u8>,
    /// Bytes of it already read.
    read: usize,
}

impl Source {
    pub const fn new(frames: Box<dyn Frames>, tenure: Tenure) -> Self {
        Self { frames, tenure, bytes: Vec::new(), read: 0 }
    }

    /// Makes the next frame; false at the end.
    fn refill(&mut self) -> bool {
        let mut samples: MusicFrame = [0; FRAME_SAMPLES_48K];
        if !self.tenure.holds(Instant::now()) || !self.frames.next(&mut samples) {
            return false;
        }
        self.bytes.clear();
        self.read = 0;
        for sample in samples {
            self.bytes.extend_from_slice(&(f32::from(sample) / 32_768.0).to_le_bytes());
        }
        true
    }
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.read == self.bytes.len() && !self.refill() {
            return Ok(0);
        }
        // At most one frame at a time, or the mixer reads ahead.
        let left = self.bytes.get(self.read..).unwrap_or_default();
        let count = left.len().min(into.len()) / SAMPLE_BYTES * SAMPLE_BYTES;
        if let (Some(to), Some(from)) = (into.get_mut(..count), left.get(..count)) {
            to.copy_from_slice(from);
        }
        self.read += count;
        Ok(count)
    }
}

impl Seek for Source {
    fn seek(&mut self, _to: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl MediaSource for Source {
    fn is_seekable(&self) -> bool {
        false
    }

    fn byte_len(&self) -> Option<u64> {
        None
    }
}

/// Plays `frames` through songbird; `None`: failed, which is logged.
pub async fn start(
    call: &tokio::sync::Mutex<Call>,
    frames: Box<dyn Frames>,
    tenure: &Tenure,
) -> Option<TrackHandle> {
    let input = Input::from(RawAdapter::new(Source::new(frames, tenure.clone()), 48_000, 1));
    // Parsed here, because it would cost the mixer 30 ms.
    let parsed = input.make_playable_async(codecs::get_codec_registry(), codecs::get_probe()).await;
    match parsed {
        Ok(input) => Some(call.lock().await.play_input(input)),
        Err(error) => {
            tracing::error!(%error, "cannot hand a track to songbird");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Tone;

    impl Frames for Tone {
        fn next(&self, into: &mut MusicFrame) -> bool {
            into.fill(1);
            true
        }
    }

    #[tokio::test(start_paused = true)]
    async fn track_ends_with_the_tenure() {
        let (now, lasts) = (Instant::now(), Duration::from_secs(6));
        let mut source = Source::new(Box::new(Tone), Tenure::new(now, now + lasts));
        let mut bytes = [0; FRAME_SAMPLES_48K * SAMPLE_BYTES];
        assert_eq!(source.read(&mut bytes).unwrap(), bytes.len());
        tokio::time::advance(lasts).await;
        assert_eq!(source.read(&mut bytes).unwrap(), 0);
    }
}
