//! Opus packets to samples of one channel: [`OpusDecoder`], around `libopus`.
//!
//! **Never** reads a container, or gives more than a packet holds.

use super::pcm::SampleRate;

/// Error of the decoder.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct OpusError(#[from] opus2::Error);

/// Decodes the packets of one stream, in their order.
pub struct OpusDecoder(opus2::Decoder);

impl OpusDecoder {
    /// A stream of which nothing was heard yet. `rate` is one that Opus has: 16 or 48 kHz, say.
    ///
    /// # Errors
    /// Another rate, or no memory.
    pub fn new(rate: SampleRate) -> Result<Self, OpusError> {
        Ok(Self(opus2::Decoder::new(rate.hz(), opus2::Channels::Mono)?))
    }

    /// Makes the sound louder by `gain` / 256 dB.
    ///
    /// # Errors
    /// None that is known: every gain is allowed.
    pub fn set_gain(&mut self, gain: i16) -> Result<(), OpusError> {
        Ok(self.0.set_gain(gain.into())?)
    }

    /// Decodes a packet to the beginning of `samples`, and says how many there are. The longest
    /// packet lasts 120 ms (RFC 6716, section 2.1.4).
    ///
    /// # Errors
    /// It is no packet, or `samples` has no room for it.
    pub fn decode(&mut self, packet: &[u8], samples: &mut [i16]) -> Result<usize, OpusError> {
        Ok(self.0.decode(packet, samples, false)?)
    }

    /// Fills `samples` with what a lost packet may have held, from the packet after it if that is
    /// here.
    ///
    /// # Errors
    /// `follower` is no packet, or `samples` is no whole number of frames.
    pub fn conceal(
        &mut self,
        follower: Option<&[u8]>,
        samples: &mut [i16],
    ) -> Result<usize, OpusError> {
        Ok(self.0.decode(follower.unwrap_or_default(), samples, follower.is_some())?)
    }
}
