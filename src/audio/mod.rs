//! PCM sound, mono signed 16-bit.
//!
//! [`pcm`] has the nouns (`SampleRate`, `Clip`, `Frame`); [`decode`](mod@decode) decodes sound
//! files, [`opus`] voice packets; [`wav`] writes and reads WAV; [`resample`], [`level`], [`shape`]
//! and [`timbre`] change rate, loudness, pitch, speed and formants of a stream; [`loudness`]
//! measures one, and [`ceiling`] limits its peaks. **Never**: async, files, clocks, logging. Bytes
//! from outside never panic.

mod ceiling;
mod decode;
mod level;
mod loudness;
mod opus;
mod pcm;
mod resample;
mod shape;
mod timbre;
mod wav;

pub use ceiling::Ceiling;
pub use decode::{DecodeError, decode, decode_as_is};
pub use level::{Gain, amplify, factor_of};
pub use loudness::{GatingBlocks, Loudness, TARGET_LUFS, gated_loudness, loudness_of, power_of};
pub use opus::{OpusDecoder, OpusError};
pub use pcm::{Clip, FRAME, FRAME_SAMPLES_48K, Frame, Framer, SampleRate, to_sample};
pub use resample::Resampler;
pub use shape::Shape;
pub use timbre::Timbre;
pub use wav::{WavError, WavStream, write_wav};
