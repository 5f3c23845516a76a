//! Errors of decoding.

use std::time::Duration;

use crate::audio::wav::WavError;

/// Longest sound of those that are collected: a few bytes can stand for hours.
pub(super) const MAX_SOUND: Duration = Duration::from_secs(2 * 3600);

/// Reason bytes cannot be decoded to sound.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The file cannot be read at all.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// The file holds nothing at all.
    #[error("the sound file is empty (record or export it again)")]
    Empty,
    /// Not a sound file that we know.
    #[error(
        "not a sound file: it starts with {start:?} (give a WAV, FLAC, MP3, M4A, AAC, Ogg or WebM \
         file)"
    )]
    NotAudio {
        /// The first bytes, printable ones as they are.
        start: String,
    },
    /// A sound file of another kind.
    #[error("cannot read \"{kind}\" (convert it to WAV, FLAC, MP3, M4A, Ogg or WebM)")]
    Unsupported {
        /// Its usual name.
        kind: &'static str,
    },
    /// A container that we know with something in it that we do not.
    #[error("cannot read this {kind} file: {reason} (convert it to WAV or FLAC)")]
    Codec {
        /// Container or codec, such as "MP4".
        kind: &'static str,
        /// The contents that cannot be read, in words.
        reason: String,
    },
    /// Opus for more than two ears.
    #[error(
        "cannot read Opus of \"{channels}\" channels in mapping family \"{family}\" (convert it to \
         mono or stereo)"
    )]
    OpusChannels {
        /// Number of channels in its header.
        channels: u8,
        /// Channel mapping family (RFC 7845, section 5.1.1).
        family: u8,
    },
    /// A film without sound, for example.
    #[error("there is no sound in the {kind} file (give a recording of somebody speaking)")]
    NoSound {
        /// Name of the container.
        kind: &'static str,
    },
    /// The WAV's header is wrong.
    #[error(transparent)]
    Wav(#[from] WavError),
    /// A WAV with samples in an encoding that is not read.
    #[error(
        "cannot read WAV samples of \"{bits}\" bits, encoding \"{tag}\" (export it again as 16-bit PCM)"
    )]
    Encoding {
        /// Encoding in the header.
        tag: u16,
        /// Bits a sample.
        bits: u16,
    },
    /// No rate of speech or music.
    #[error("a sample rate of \"{hz}\" Hz is absurd (export it again at 8000 to 48000 Hz)")]
    AbsurdRate {
        /// Rate in the file.
        hz: u32,
    },
    /// Header without sound.
    #[error("the sound file has a header but no samples (record or export it again)")]
    NoSamples,
    /// More than fits into memory sensibly.
    #[error("the sound is longer than \"{}\" hours (cut it into pieces)", MAX_SOUND.as_secs() / 3600)]
    TooLong,
    /// Damaged beyond use.
    #[error("the {kind} file is damaged: {reason} (export it again)")]
    Damaged {
        /// Container: "WAV", "Ogg", "MP3" and so on.
        kind: &'static str,
        /// Message of the codec.
        reason: String,
    },
}

/// [`DecodeError::Damaged`] in fewer words.
pub(super) fn damaged(kind: &'static str, reason: &str) -> DecodeError {
    DecodeError::Damaged { kind, reason: reason.to_owned() }
}
