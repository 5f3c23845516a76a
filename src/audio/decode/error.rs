//! Why bytes are no sound.

use crate::audio::wav::WavError;

/// Longest sound, in samples of all channels: 70 minutes of mono at 48 kHz, 400 MB decoded.
/// A few bytes of Vorbis can stand for hours.
pub(super) const MAX_SAMPLES: usize = 200_000_000;

/// Why bytes are no sound.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The file holds nothing at all.
    #[error("the sound file is empty (record or export it again)")]
    Empty,
    /// Not a sound file that we know.
    #[error("not a sound file: it starts with {start:?} (give a WAV, Ogg Vorbis or MP3 file)")]
    NotAudio {
        /// The first bytes, printable ones as they are.
        start: String,
    },
    /// A sound file of another kind.
    #[error("cannot read \"{kind}\" (convert it to WAV, Ogg Vorbis or MP3)")]
    Unsupported {
        /// Its usual name.
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
        /// As in the file.
        hz: u32,
    },
    /// Header without sound.
    #[error("the sound file has a header but no samples (record or export it again)")]
    NoSamples,
    /// More than fits into memory sensibly.
    #[error("the sound is longer than \"{MAX_SAMPLES}\" samples (cut it into pieces)")]
    TooLong,
    /// Damaged beyond use.
    #[error("the {kind} file is damaged: {reason} (export it again)")]
    Damaged {
        /// Which container: "WAV", "Ogg" or "MP3".
        kind: &'static str,
        /// What the codec said.
        reason: String,
    },
}
