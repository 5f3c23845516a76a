//! The sound track and its codec: [`SoundTrack`].

use symphonia::core::codecs::{
    CODEC_TYPE_AAC, CODEC_TYPE_FLAC, CODEC_TYPE_MP3, CODEC_TYPE_VORBIS, CodecParameters, CodecType,
};

use super::{
    super::{
        bytes::Bytes,
        codec::Codec,
        error::{DecodeError, damaged},
        opus::OpusHead,
    },
    lacing::{self, vint},
};
use crate::audio::pcm::to_usize;

pub const KIND: &str = "Matroska";
const ENTRY: u64 = 0x2E;
/// Fields of a track, by id without marker.
const NUMBER: u64 = 0x57;
const TYPE: u64 = 0x03;
const CODEC: u64 = 0x06;
const SETUP: u64 = 0x23A2;
const ENCODINGS: u64 = 0x2D80;
const SOUND: u64 = 2;
/// Length of Vorbis' identification header, which precedes its setup header, in bytes.
const IDENTIFICATION: usize = 30;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct SoundTrack {
    /// Identifies its blocks.
    pub number: u64,
    name: String,
    setup: Vec<u8>,
    /// Its blocks are compressed again, or encrypted.
    is_encoded: bool,
    is_sound: bool,
}

impl SoundTrack {
    /// The first sound track.
    pub fn find(tracks: &[u8]) -> Result<Self, DecodeError> {
        let mut tracks = Elements(Bytes(tracks)).filter(|(id, _)| *id == ENTRY);
        let mut sound = tracks.by_ref().map(|(_, entry)| Self::read(entry));
        sound.find(|track| track.is_sound).ok_or(DecodeError::NoSound { kind: KIND })
    }

    fn read(entry: &[u8]) -> Self {
        let mut track = Self::default();
        let number = |body: &[u8]| body.iter().fold(0, |n: u64, &byte| n << 8 | u64::from(byte));
        for (id, body) in Elements(Bytes(entry)) {
            match id {
                NUMBER => track.number = number(body),
                TYPE => track.is_sound = number(body) == SOUND,
                CODEC => track.name = String::from_utf8_lossy(body).into_owned(),
                SETUP => track.setup = body.to_vec(),
                ENCODINGS => track.is_encoded = true,
                _ => {}
            }
        }
        track
    }

    /// Fails on an unsupported codec or a broken setup.
    pub fn codec(&self) -> Result<Codec, DecodeError> {
        let broken = || damaged(KIND, "the setup of its codec is broken");
        if self.is_encoded {
            let reason = "its blocks are compressed or encrypted".to_owned();
            return Err(DecodeError::Codec { kind: KIND, reason });
        }
        match self.name.as_str() {
            "A_OPUS" => Codec::opus(OpusHead::read(&self.setup)?),
            "A_VORBIS" => {
                let headers = vorbis_headers(&self.setup).ok_or_else(broken)?;
                other(CODEC_TYPE_VORBIS, &headers)
            }
            name if name.starts_with("A_AAC") => other(CODEC_TYPE_AAC, &self.setup),
            // "fLaC", the header of a block and the stream information.
            "A_FLAC" => other(CODEC_TYPE_FLAC, self.setup.get(8..42).ok_or_else(broken)?),
            "A_MPEG/L3" => other(CODEC_TYPE_MP3, &[]),
            name => {
                let reason = format!("its sound is {name:?}");
                Err(DecodeError::Codec { kind: KIND, reason })
            }
        }
    }
}

fn other(codec: CodecType, setup: &[u8]) -> Result<Codec, DecodeError> {
    let mut parameters = CodecParameters::new();
    parameters.for_codec(codec);
    if !setup.is_empty() {
        parameters.with_extra_data(setup.into());
    }
    Codec::new(KIND, &parameters)
}

/// The first and third Vorbis header, which are laced; the second has titles.
fn vorbis_headers(setup: &[u8]) -> Option<Vec<u8>> {
    let headers = lacing::packets(1 << 1, Bytes(setup))?;
    let [identification, _titles, setup] = headers.as_slice() else { return None };
    (identification.len() == IDENTIFICATION).then(|| [*identification, *setup].concat())
}

/// Consecutive elements: id without marker, and content.
struct Elements<'a>(Bytes<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let id = vint(&mut self.0)??;
        let len = vint(&mut self.0)??;
        Some((id, self.0.take(to_usize(len))?))
    }
}
