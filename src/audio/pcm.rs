//! The nouns of sound: [`SampleRate`], [`Clip`], [`Frame`], and [`Framer`], which cuts frames;
//! [`SplitSamples`] decodes bytes. One channel only.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Length of one frame: that of Discord's voice packets.
pub const FRAME: Duration = Duration::from_millis(20);

/// Samples in one [`FRAME`] at 48 kHz, mono: the unit written to Discord.
pub const FRAME_SAMPLES_48K: usize = 960;

const FRAMES_PER_SECOND: u32 = 50;

/// In Hz: 1 to 768,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleRate(u32);

impl SampleRate {
    /// Rate of decoded players' voices and of recognisers.
    pub const HZ_16000: Self = Self(16_000);
    /// Rate of most speech services.
    pub const HZ_24000: Self = Self(24_000);
    /// Rate of Discord's Opus, and of all sound that we write.
    pub const HZ_48000: Self = Self(48_000);
    /// The highest rate of sound cards and editors.
    const MAX: u32 = 768_000;

    /// Fails when `hz` is outside 1 to 768,000.
    pub fn new(hz: u32) -> Result<Self, PcmError> {
        if (1..=Self::MAX).contains(&hz) { Ok(Self(hz)) } else { Err(PcmError::Rate { hz }) }
    }

    pub const fn hz(self) -> u32 {
        self.0
    }

    /// Samples in one [`FRAME`], rounded down, at least 1.
    pub fn frame_len(self) -> usize {
        to_usize(u64::from((self.0 / FRAMES_PER_SECOND).max(1)))
    }

    /// Rounded down.
    pub fn samples_in(self, duration: Duration) -> usize {
        let samples = duration.as_nanos() * u128::from(self.0) / 1_000_000_000;
        usize::try_from(samples).unwrap_or(usize::MAX)
    }

    /// Rounded down to a nanosecond.
    pub fn duration_of(self, samples: usize) -> Duration {
        let rate = u64::from(self.0);
        let samples = u64::try_from(samples).unwrap_or(u64::MAX);
        // Below 768,000 * 10^9, so the product fits.
        let nanos = samples % rate * 1_000_000_000 / rate;
        Duration::from_secs(samples / rate) + Duration::from_nanos(nanos)
    }
}

impl fmt::Display for SampleRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Hz", self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PcmError {
    #[error("sample rate of \"{hz}\" Hz is impossible (use 1 to 768000 Hz)")]
    Rate { hz: u32 },
    #[cfg(test)]
    #[error("frame of \"{len}\" samples at {rate} is not 20 ms (give {} samples)", .rate.frame_len())]
    FrameLength { len: usize, rate: SampleRate },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clip {
    /// One channel, 16 bits each.
    pub samples: Vec<i16>,
    pub rate: SampleRate,
}

impl Clip {
    #[cfg(test)]
    pub fn duration(&self) -> Duration {
        self.rate.duration_of(self.samples.len())
    }
}

/// 20 ms of mono sound, the unit of the voice path. Clones share the samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Exactly one frame.
    samples: Arc<[i16]>,
    rate: SampleRate,
}

impl Frame {
    /// Takes exactly [`SampleRate::frame_len`] samples.
    #[cfg(test)]
    pub fn new(samples: impl Into<Arc<[i16]>>, rate: SampleRate) -> Result<Self, PcmError> {
        let samples = samples.into();
        if samples.len() == rate.frame_len() {
            Ok(Self { samples, rate })
        } else {
            Err(PcmError::FrameLength { len: samples.len(), rate })
        }
    }

    /// The first frame of `samples`, padded with silence.
    pub fn padded(samples: &[i16], rate: SampleRate) -> Self {
        let len = rate.frame_len();
        if let Some(whole) = samples.get(..len) {
            return Self { samples: Arc::from(whole), rate };
        }
        let filled = samples.iter().copied().chain(std::iter::repeat(0)).take(len);
        Self { samples: filled.collect(), rate }
    }

    pub fn silence(rate: SampleRate) -> Self {
        Self::padded(&[], rate)
    }

    /// [`SampleRate::frame_len`] samples.
    pub fn samples(&self) -> &[i16] {
        &self.samples
    }

    pub const fn rate(&self) -> SampleRate {
        self.rate
    }
}

/// Cuts a stream of samples into frames.
#[derive(Debug)]
pub struct Framer {
    rate: SampleRate,
    /// An incomplete frame.
    rest: Vec<i16>,
}

impl Framer {
    pub fn new(rate: SampleRate) -> Self {
        Self { rate, rest: Vec::with_capacity(rate.frame_len()) }
    }

    /// Appends completed frames to `out`.
    pub fn push(&mut self, samples: &[i16], out: &mut Vec<Frame>) {
        let len = self.rate.frame_len();
        let (head, tail) = samples.split_at(samples.len().min(len - self.rest.len()));
        self.rest.extend_from_slice(head);
        if self.rest.len() < len {
            return;
        }
        out.push(self.frame(&self.rest));
        self.rest.clear();
        let mut whole = tail.chunks_exact(len);
        out.extend(whole.by_ref().map(|samples| self.frame(samples)));
        self.rest.extend_from_slice(whole.remainder());
    }

    /// The last, incomplete frame, padded with silence; `None` if empty. Resets the framer.
    pub fn finish(&mut self) -> Option<Frame> {
        if self.rest.is_empty() {
            return None;
        }
        self.rest.resize(self.rate.frame_len(), 0);
        let frame = self.frame(&self.rest);
        self.rest.clear();
        Some(frame)
    }

    fn frame(&self, samples: &[i16]) -> Frame {
        Frame { samples: Arc::from(samples), rate: self.rate }
    }
}

/// Decodes little-endian samples whose bytes arrive in pieces of any length.
#[derive(Debug, Default)]
pub struct SplitSamples {
    /// First byte of an incomplete sample.
    half: Option<u8>,
}

impl SplitSamples {
    /// Returns the samples that `bytes` complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<i16> {
        let mut samples = Vec::with_capacity(bytes.len().div_ceil(2));
        let mut bytes = self.half.take().into_iter().chain(bytes.iter().copied());
        while let Some(low) = bytes.next() {
            match bytes.next() {
                Some(high) => samples.push(i16::from_le_bytes([low, high])),
                None => self.half = Some(low),
            }
        }
        samples
    }
}

/// Rounds to the nearest sample value, saturating; NaN becomes silence.
#[expect(clippy::cast_possible_truncation, reason = "float to integer casts saturate")]
pub fn to_sample(value: f32) -> i16 {
    // `f32::round` is a library call on plain x86-64; this is one addition.
    (value + 0.5_f32.copysign(value)) as i16
}

/// Rounds to the nearest count, saturating; negative values and NaN become 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to integer casts saturate"
)]
pub(super) fn to_count(value: f64) -> usize {
    value.round() as usize
}

/// Saturates on 32-bit machines.
pub(super) fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_outside_the_possible_are_refused() {
        assert_eq!(SampleRate::new(48_000).unwrap(), SampleRate::HZ_48000);
        assert!(SampleRate::new(1).is_ok());
        assert!(SampleRate::new(768_000).is_ok());
        let error = SampleRate::new(0).unwrap_err().to_string();
        assert_eq!(error, "sample rate of \"0\" Hz is impossible (use 1 to 768000 Hz)");
        assert!(SampleRate::new(768_001).is_err());
    }

    #[test]
    fn lengths_follow_the_rate() {
        assert_eq!(SampleRate::HZ_16000.frame_len(), 320);
        assert_eq!(SampleRate::HZ_24000.frame_len(), 480);
        assert_eq!(SampleRate::HZ_48000.frame_len(), FRAME_SAMPLES_48K);
        assert_eq!(SampleRate::new(1).unwrap().frame_len(), 1);
        assert_eq!(SampleRate::HZ_16000.samples_in(Duration::from_millis(1_500)), 24_000);
        let clip = Clip { samples: vec![0; 22_050 + 441], rate: SampleRate::new(22_050).unwrap() };
        assert_eq!(clip.duration(), Duration::from_millis(1_020));
    }

    #[test]
    fn frame_is_20_ms_and_shares_its_samples() {
        let error = Frame::new(vec![0; 319], SampleRate::HZ_16000).unwrap_err();
        assert_eq!(
            error.to_string(),
            "frame of \"319\" samples at 16000 Hz is not 20 ms (give 320 samples)"
        );
        let frame = Frame::new(vec![7; 320], SampleRate::HZ_16000).unwrap();
        let copy = frame.clone();
        assert_eq!(frame.samples().as_ptr(), copy.samples().as_ptr());
    }

    #[test]
    fn padded_frame_is_cut_or_filled_with_silence() {
        let padded = |len: usize| Frame::padded(&vec![7; len], SampleRate::HZ_16000);
        assert_eq!(padded(400).samples(), [7; 320]);
        let short = padded(2);
        assert_eq!((short.samples().len(), &short.samples()[..4]), (320, [7, 7, 0, 0].as_slice()));
        assert_eq!(Frame::silence(SampleRate::HZ_48000).samples(), [0; 960]);
        assert_eq!(short.rate(), SampleRate::HZ_16000);
    }

    #[test]
    fn split_samples_are_put_together() {
        let mut samples = SplitSamples::default();
        assert_eq!(samples.push(&[1, 0, 2]), [1_i16]);
        assert_eq!(samples.push(&[1]), [0x102_i16]);
        assert!(samples.push(&[]).is_empty());
    }

    #[test]
    fn samples_round_and_saturate() {
        let from = [0.4, 0.5, -0.5, -0.4, 40_000.0, -40_000.0, f32::NAN];
        assert_eq!(from.map(to_sample), [0, 1, -1, 0, i16::MAX, i16::MIN, 0]);
        assert_eq!([to_count(2.5), to_count(-3.0), to_count(f64::NAN)], [3, 0, 0]);
    }

    proptest! {
        #[test]
        fn frames_hold_the_stream_whatever_its_pieces(
            pieces in prop::collection::vec(prop::collection::vec(any::<i16>(), 0..900), 0..6),
        ) {
            let mut framer = Framer::new(SampleRate::HZ_16000);
            let mut frames = Vec::new();
            for piece in &pieces {
                framer.push(piece, &mut frames);
            }
            frames.extend(framer.finish());
            prop_assert_eq!(framer.finish(), None);
            let mut sound = pieces.concat();
            let n_frames = sound.len().div_ceil(320);
            sound.resize(n_frames * 320, 0);
            let framed: Vec<i16> = frames.iter().flat_map(|f| f.samples().to_vec()).collect();
            prop_assert_eq!(framed, sound);
        }
    }
}
