//! Opus as it stands in files: [`OpusHead`] says what it is, [`OpusStream`] decodes it.
//!
//! RFC 7845: samples before the beginning are dropped, the gain is applied. **Never** decodes more
//! than two channels, which are mixed down by the codec.

use super::{
    bytes::Bytes,
    error::{DecodeError, damaged},
    mix::Output,
};
use crate::audio::{
    opus::OpusDecoder,
    pcm::{SampleRate, to_usize},
};

/// Name of it in messages.
const KIND: &str = "Opus";
/// Opus counts in samples of this rate, whatever was recorded.
const RATE: SampleRate = SampleRate::HZ_48000;
/// Samples of the longest packet, 120 ms.
const PACKET_SAMPLES: usize = 5_760;

/// Contents of an Opus header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpusHead {
    /// Samples before the beginning.
    pub pre_skip: u16,
    /// In 256ths of a decibel.
    pub gain: i16,
}

impl OpusHead {
    /// Reads the header of Ogg and Matroska (RFC 7845, section 5.1).
    ///
    /// # Errors
    /// It is cut short or of a later kind, or its channels are more than two.
    pub fn read(packet: &[u8]) -> Result<Self, DecodeError> {
        let broken = || damaged(KIND, "its header is broken");
        let fields = packet.strip_prefix(b"OpusHead").ok_or_else(broken)?;
        let mut fields = Bytes(fields);
        let version = fields.u8().ok_or_else(broken)?;
        if version > 15 {
            let reason = format!("its header is of version {version}");
            return Err(DecodeError::Codec { kind: KIND, reason });
        }
        let channels = fields.u8().ok_or_else(broken)?;
        let pre_skip = fields.le_u16().ok_or_else(broken)?;
        let _recorded_at = fields.le_u32().ok_or_else(broken)?;
        let gain = fields.le_u16().ok_or_else(broken)?.cast_signed();
        check_channels(channels, fields).ok_or_else(broken)??;
        Ok(Self { pre_skip, gain })
    }

    /// Reads the header of MP4 (Encapsulation of Opus in ISO Base Media File Format, 4.3.2).
    ///
    /// # Errors
    /// Those of [`OpusHead::read`].
    pub fn read_mp4(dops: &[u8]) -> Result<Self, DecodeError> {
        let broken = || damaged(KIND, "its header is broken");
        let mut fields = Bytes(dops);
        let _version = fields.u8().ok_or_else(broken)?;
        let channels = fields.u8().ok_or_else(broken)?;
        let pre_skip = fields.be_u16().ok_or_else(broken)?;
        let _recorded_at = fields.be_u32().ok_or_else(broken)?;
        let gain = fields.be_u16().ok_or_else(broken)?.cast_signed();
        check_channels(channels, fields).ok_or_else(broken)??;
        Ok(Self { pre_skip, gain })
    }
}

/// Checks that `channels` channels, laid out as the rest of the header says, are in one stream that
/// we can mix; `None`: the header ends too early.
fn check_channels(channels: u8, mut mapping: Bytes<'_>) -> Option<Result<(), DecodeError>> {
    let family = mapping.u8()?;
    // Family 1 says how many streams there are; those after it are not for headphones.
    Some(match (channels, family) {
        (0, _) => Err(damaged(KIND, "it has no channels")),
        (1 | 2, 0) => Ok(()),
        (1 | 2, 1) if mapping.u8()? == 1 => Ok(()),
        _ => Err(DecodeError::OpusChannels { channels, family }),
    })
}

/// One stream of Opus and what of it was decoded.
pub struct OpusStream {
    decoder: OpusDecoder,
    /// Samples that are still to be dropped.
    skip: usize,
    /// Room for a packet's samples.
    samples: Vec<i16>,
}

impl OpusStream {
    /// A stream of which nothing was decoded yet.
    ///
    /// # Errors
    /// The decoder's memory cannot be allocated.
    pub fn new(head: OpusHead) -> Result<Self, DecodeError> {
        let failed = |e| DecodeError::Damaged { kind: KIND, reason: format!("{e}") };
        let mut decoder = OpusDecoder::new(RATE).map_err(failed)?;
        decoder.set_gain(head.gain).map_err(failed)?;
        Ok(Self { decoder, skip: head.pre_skip.into(), samples: vec![0; PACKET_SAMPLES] })
    }

    /// Decodes a packet, of which at most `room` samples at 48 kHz are wanted; gives how many
    /// there were. One damaged packet is a click, not the end.
    ///
    /// # Errors
    /// The sound is longer than allowed.
    pub fn decode(
        &mut self,
        packet: &[u8],
        room: u64,
        output: &mut Output,
    ) -> Result<u64, DecodeError> {
        // No packet at all would be taken for a lost one.
        if packet.is_empty() {
            return Ok(0);
        }
        let Ok(n_decoded) = self.decoder.decode(packet, &mut self.samples) else { return Ok(0) };
        let end = n_decoded.min(to_usize(room));
        let start = self.skip.min(end);
        self.skip -= start;
        let wanted = self.samples.get(start..end).unwrap_or_default();
        output.take_mono(KIND, RATE.hz(), wanted)?;
        Ok(u64::try_from(n_decoded).unwrap_or(0))
    }
}
