//! PCM sound, mono signed 16-bit.
//!
//! [`pcm`] has the nouns (`SampleRate`, `Clip`, `Frame`); [`decode`](mod@decode) decodes sound
//! files, Opus packets; [`wav`] writes and reads WAV; [`resample`], [`level`], [`shape`]
//! and [`timbre`] change rate, loudness, pitch, speed and formants of a stream; [`loudness`]
//! measures one, and [`ceiling`] limits its peaks. **Never**: async, files, clocks, logging. Bytes
//! from outside never panic.

mod ceiling;
mod decode;
mod level;
mod loudness;
mod pcm;
mod resample;
mod shape;
mod timbre;
mod wav;

pub use ceiling::Ceiling;
pub use decode::{DecodeError, decode, decode_as_is};
pub use level::{Gain, amplify, factor_of};
pub use loudness::{GatingBlocks, Loudness, TARGET_LUFS, gated_loudness, loudness_of, power_of};
pub use pcm::{Clip, FRAME, FRAME_SAMPLES_48K, Frame, Framer, SampleRate, SplitSamples, to_sample};
pub use resample::Resampler;
pub use shape::Shape;
pub use timbre::Timbre;
pub use wav::{WavError, WavStream, write_wav};

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct OpusError(#[from] opus2::Error);

/// Decodes the packets of one stream, in order.
pub struct OpusDecoder(opus2::Decoder);

impl OpusDecoder {
    /// `rate`: one of Opus' rates, such as 16 or 48 kHz.
    pub fn new(rate: SampleRate) -> Result<Self, OpusError> {
        Ok(Self(opus2::Decoder::new(rate.hz(), opus2::Channels::Mono)?))
    }

    /// Amplifies by `gain` / 256 dB; every gain is allowed.
    pub fn set_gain(&mut self, gain: i16) -> Result<(), OpusError> {
        Ok(self.0.set_gain(gain.into())?)
    }

    /// Decodes a packet into `samples`; returns the number of samples. The longest packet lasts 120
    /// ms (RFC 6716, section 2.1.4).
    pub fn decode(&mut self, packet: &[u8], samples: &mut [i16]) -> Result<usize, OpusError> {
        Ok(self.0.decode(packet, samples, false)?)
    }

    /// Fills `samples`, a whole number of frames, with an estimate of a lost packet, from the
    /// packet after it if available.
    pub fn conceal(
        &mut self,
        follower: Option<&[u8]>,
        samples: &mut [i16],
    ) -> Result<usize, OpusError> {
        Ok(self.0.decode(follower.unwrap_or_default(), samples, follower.is_some())?)
    }
}
