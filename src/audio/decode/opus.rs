//! Opus in files: header [`OpusHead`], decoder [`OpusStream`].
//!
//! RFC 7845: drops samples before the beginning and applies the gain. At most two channels, mixed
//! down by the codec.

use super::{
    bytes::Bytes,
    error::{DecodeError, damaged},
    mix::Output,
};
use crate::audio::{
    OpusDecoder,
    pcm::{SampleRate, to_usize},
};

const KIND: &str = "Opus";
/// Opus counts samples at this rate, whatever was recorded.
const RATE: SampleRate = SampleRate::HZ_48000;
/// Samples of the longest packet, 120 ms.
const PACKET_SAMPLES: usize = 5_760;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpusHead {
    /// Samples before the beginning.
    pub pre_skip: u16,
    /// In 256ths of a decibel.
    pub gain: i16,
}

impl OpusHead {
    /// Reads the header of Ogg and Matroska (RFC 7845, section 5.1).
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

/// Checks that `channels` channels in this layout are one stream that we can mix; `None`: the
/// header ends too early.
fn check_channels(channels: u8, mut mapping: Bytes<'_>) -> Option<Result<(), DecodeError>> {
    let family = mapping.u8()?;
    // Family 1 declares the number of streams; later families are not for headphones.
    Some(match (channels, family) {
        (0, _) => Err(damaged(KIND, "it has no channels")),
        (1 | 2, 0) => Ok(()),
        (1 | 2, 1) if mapping.u8()? == 1 => Ok(()),
        _ => Err(DecodeError::OpusChannels { channels, family }),
    })
}

pub struct OpusStream {
    decoder: OpusDecoder,
    /// Samples still to drop.
    skip: usize,
    samples: Vec<i16>,
}

impl OpusStream {
    pub fn new(head: OpusHead) -> Result<Self, DecodeError> {
        let failed = |e| DecodeError::Damaged { kind: KIND, reason: format!("{e}") };
        let mut decoder = OpusDecoder::new(RATE).map_err(failed)?;
        decoder.set_gain(head.gain).map_err(failed)?;
        Ok(Self { decoder, skip: head.pre_skip.into(), samples: vec![0; PACKET_SAMPLES] })
    }

    /// Decodes a packet, keeping at most `room` samples at 48 kHz; returns their number. A damaged
    /// packet is a click, not the end.
    pub fn decode(
        &mut self,
        packet: &[u8],
        room: u64,
        output: &mut Output,
    ) -> Result<u64, DecodeError> {
        // The decoder would take an empty packet for a lost one.
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
