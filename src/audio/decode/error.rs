//! Errors of decoding.

use std::time::Duration;

use crate::audio::wav::WavError;

/// Longest collected sound: a few bytes can encode hours.
pub(super) const MAX_SOUND: Duration = Duration::from_secs(2 * 3600);

#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error(transparent)]
    Read(#[from] std::io::Error),
    #[error("the sound file is empty (record or export it again)")]
    Empty,
    #[error(
        "not a sound file: it starts with {start:?} (give a WAV, FLAC, MP3, M4A, AAC, Ogg or WebM \
         file)"
    )]
    NotAudio { start: String },
    /// A known format that is not read.
    #[error("cannot read \"{kind}\" (convert it to WAV, FLAC, MP3, M4A, Ogg or WebM)")]
    Unsupported { kind: &'static str },
    #[error("cannot read this {kind} file: {reason} (convert it to WAV or FLAC)")]
    Codec {
        /// Container or codec, such as "MP4".
        kind: &'static str,
        reason: String,
    },
    /// Opus with more than two channels.
    #[error(
        "cannot read Opus of \"{channels}\" channels in mapping family \"{family}\" (convert it to \
         mono or stereo)"
    )]
    OpusChannels {
        channels: u8,
        /// Channel mapping family (RFC 7845, section 5.1.1).
        family: u8,
    },
    /// A video without sound, for example.
    #[error("there is no sound in the {kind} file (give a recording of somebody speaking)")]
    NoSound { kind: &'static str },
    #[error(transparent)]
    Wav(#[from] WavError),
    #[error(
        "cannot read WAV samples of \"{bits}\" bits, encoding \"{tag}\" (export it again as 16-bit PCM)"
    )]
    Encoding { tag: u16, bits: u16 },
    /// Too low or too high for speech or music.
    #[error("a sample rate of \"{hz}\" Hz is absurd (export it again at 8000 to 48000 Hz)")]
    AbsurdRate { hz: u32 },
    #[error("the sound file has a header but no samples (record or export it again)")]
    NoSamples,
    #[error("the sound is longer than \"{}\" hours (cut it into pieces)", MAX_SOUND.as_secs() / 3600)]
    TooLong,
    #[error("the {kind} file is damaged: {reason} (export it again)")]
    Damaged {
        /// "WAV", "Ogg", "MP3" and so on.
        kind: &'static str,
        reason: String,
    },
}

pub(super) fn damaged(kind: &'static str, reason: &str) -> DecodeError {
    DecodeError::Damaged { kind, reason: reason.to_owned() }
}
