//! MP4's boxes ([`Boxes`]), and the codec in a sample description ([`codec`]).

use symphonia::core::codecs::{
    CODEC_TYPE_AAC, CODEC_TYPE_ALAC, CODEC_TYPE_FLAC, CODEC_TYPE_MP3, CodecParameters, CodecType,
};

use super::super::{bytes::Bytes, codec::Codec, error::DecodeError, opus::OpusHead};
use crate::audio::pcm::to_usize;

pub const KIND: &str = "MP4";

pub fn broken(name: &str) -> DecodeError {
    DecodeError::Damaged { kind: KIND, reason: format!("its \"{name}\" is broken") }
}

/// Consecutive boxes: kind and content. Ends at a truncated one.
#[derive(Clone, Copy)]
pub struct Boxes<'a>(pub Bytes<'a>);

impl<'a> Iterator for Boxes<'a> {
    type Item = (&'a [u8; 4], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let len = self.0.be_u32()?;
        let kind = self.0.take(4)?.first_chunk()?;
        let len = match len {
            0 => u64::try_from(self.0.0.len()).unwrap_or(u64::MAX),
            1 => self.0.be_u64()?.checked_sub(16)?,
            len => u64::from(len).checked_sub(8)?,
        };
        Some((kind, self.0.take(to_usize(len))?))
    }
}

pub fn find<'a>(boxes: &'a [u8], wanted: &[u8; 4]) -> Option<&'a [u8]> {
    Boxes(Bytes(boxes)).find(|(kind, _)| *kind == wanted).map(|(_, body)| body)
}

/// The decoder for a sample description (`stsd`).
pub fn codec(description: &[u8]) -> Result<Codec, DecodeError> {
    let cut = || broken("stsd");
    let entries = description.get(8..).ok_or_else(cut)?;
    let (kind, entry) = Boxes(Bytes(entries)).next().ok_or_else(cut)?;
    // QuickTime's second and third version have more fields.
    let version = Bytes(entry.get(8..).unwrap_or_default()).be_u16();
    let fields = match version {
        Some(1) => 44,
        Some(2) => 64,
        _ => 28,
    };
    let inner = entry.get(fields..).ok_or_else(cut)?;
    let rate = entry.get(24..).and_then(|rate| Bytes(rate).be_u16()).map_or(0, u32::from);
    // A box of its own, or one in QuickTime's `wave`.
    let of = |name: &[u8; 4]| find(inner, name).or_else(|| find(find(inner, b"wave")?, name));
    match kind {
        b"mp4a" => {
            let (kind, setup) = of(b"esds").and_then(stream).ok_or_else(|| broken("esds"))?;
            other(kind.ok_or_else(|| unknown("mp4a"))?, setup, rate)
        }
        b"alac" => {
            let cookie = of(b"alac").and_then(|it| it.get(4..));
            other(CODEC_TYPE_ALAC, cookie.ok_or_else(|| broken("alac"))?, rate)
        }
        b"fLaC" => {
            // A version, the header of a block and the stream information.
            let info = of(b"dfLa").and_then(|it| it.get(8..42)).ok_or_else(|| broken("dfLa"))?;
            other(CODEC_TYPE_FLAC, info, rate)
        }
        b"Opus" => Codec::opus(OpusHead::read_mp4(of(b"dOps").ok_or_else(|| broken("dOps"))?)?),
        b".mp3" => other(CODEC_TYPE_MP3, &[], rate),
        kind => Err(unknown(&kind.iter().copied().map(char::from).collect::<String>())),
    }
}

fn unknown(name: &str) -> DecodeError {
    DecodeError::Codec { kind: KIND, reason: format!("its sound is {name:?}") }
}

fn other(codec: CodecType, setup: &[u8], rate: u32) -> Result<Codec, DecodeError> {
    let mut parameters = CodecParameters::new();
    parameters.for_codec(codec).with_sample_rate(rate);
    if !setup.is_empty() {
        parameters.with_extra_data(setup.into());
    }
    Codec::new(KIND, &parameters)
}

/// Codec and setup of an elementary stream (ISO/IEC 14496-1, section 7.2.6).
fn stream(esds: &[u8]) -> Option<(Option<CodecType>, &[u8])> {
    let mut fields = Bytes(descriptor(&mut Bytes(esds.get(4..)?), 3)?);
    let _id = fields.be_u16()?;
    let flags = fields.u8()?;
    let mut skipped = if flags & 0x80 == 0 { 0 } else { 2 };
    skipped += if flags & 0x20 == 0 { 0 } else { 2 };
    fields.take(skipped)?;
    if flags & 0x40 != 0 {
        let address = fields.u8()?;
        fields.take(address.into())?;
    }
    let mut config = Bytes(descriptor(&mut fields, 4)?);
    let codec = match config.u8()? {
        0x40 | 0x67 => Some(CODEC_TYPE_AAC),
        0x69 | 0x6B => Some(CODEC_TYPE_MP3),
        _ => None,
    };
    let _rates_and_buffer = config.take(12)?;
    Some((codec, descriptor(&mut config, 5).unwrap_or_default()))
}

fn descriptor<'a>(bytes: &mut Bytes<'a>, tag: u8) -> Option<&'a [u8]> {
    if bytes.u8()? != tag {
        return None;
    }
    let mut len = 0;
    for _ in 0..4 {
        let byte = bytes.u8()?;
        len = len << 7 | usize::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            break;
        }
    }
    bytes.take(len)
}
