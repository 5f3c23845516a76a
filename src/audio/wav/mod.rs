//! WAV: writes mono 16-bit files, and reads any header and the samples of a stream.
//!
//! [`write_wav`] makes a file from a clip; [`WavStream`] reads a speech program's pipe in pieces.
//! Both find the samples with the same scan of the header. Layout: Multimedia Programming Interface
//! and Data Specifications 1.0 (IBM, Microsoft, 1991). **Never** trusts a length: a program that
//! writes to a pipe cannot know it.

use super::pcm::{Clip, SampleRate, to_sample, to_usize};

/// Bytes before the samples in our files.
const HEADER_LEN: usize = 44;

/// Most bytes before the samples of a stream: no speech program writes more.
const MAX_STREAM_HEADER: usize = 65_536;

/// Larger lengths are placeholders: ffmpeg writes 0xFFFFFFFF to a pipe, sox and espeak-ng write
/// 0x7FFFF000 and its neighbours.
const MIN_BOGUS_LEN: u32 = 0x7FFF_0000;

/// Integer samples.
pub(super) const TAG_PCM: u16 = 1;
const TAG_FLOAT: u16 = 3;
/// 16-bit value of the float 1.
const FLOAT_SCALE: f32 = 32_768.0;
/// The real tag is in the extension.
const TAG_EXTENSIBLE: u16 = 0xFFFE;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WavError {
    #[error("not a WAV: it starts with {start:?} (give a file that starts with \"RIFF\")")]
    NotWav { start: String },
    #[error("the WAV ends inside its header after \"{len}\" bytes (record or export it again)")]
    Truncated { len: usize },
    #[error("the WAV does not say what its samples are (export it again as 16-bit PCM)")]
    NoFormat,
    #[error("the WAV says its sample rate is \"{hz}\" Hz (export it again at 48000 Hz)")]
    Rate { hz: u32 },
    #[error("the WAV says it has \"0\" channels (export it again with one)")]
    NoChannels,
    #[error(
        "over \"{MAX_STREAM_HEADER}\" bytes of header before the first sample (pipe plain WAV)"
    )]
    HeaderTooLong,
    #[error(
        "the stream has \"{channels}\" channels of \"{bits}\" bits, encoding \"{tag}\" (make the \
         program write mono 16-bit PCM)"
    )]
    NotMono16 { channels: u16, bits: u16, tag: u16 },
}

/// The `fmt ` chunk with valid rate and channels; the encoding is not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WavFormat {
    /// 1 integers, 3 floats, 6 A-law, 7 µ-law; the extension's tag if present.
    pub(super) tag: u16,
    /// At least 1.
    pub(super) channels: u16,
    pub(super) rate: SampleRate,
    /// Bits per sample in the file.
    pub(super) bits: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WavData {
    pub(super) format: WavFormat,
    pub(super) start: usize,
    /// In bytes; `None`: up to the end, because the header does not know.
    pub(super) len: Option<usize>,
}

/// Header of a mono 16-bit WAV with `n_samples` samples; if `None` or too many, the lengths are
/// 0xFFFFFFFF, which readers take as "up to the end".
pub fn wav_header(rate: SampleRate, n_samples: Option<usize>) -> [u8; HEADER_LEN] {
    let data_len = n_samples
        .and_then(|n| u32::try_from(n.checked_mul(2)?).ok())
        .filter(|&len| len < u32::MAX - 36)
        .unwrap_or(u32::MAX);
    let fields: [&[u8]; 13] = [
        b"RIFF",
        &data_len.saturating_add(36).to_le_bytes(),
        b"WAVE",
        b"fmt ",
        &16_u32.to_le_bytes(),
        &TAG_PCM.to_le_bytes(),
        &1_u16.to_le_bytes(),
        &rate.hz().to_le_bytes(),
        &(rate.hz() * 2).to_le_bytes(),
        &2_u16.to_le_bytes(),
        &16_u16.to_le_bytes(),
        b"data",
        &data_len.to_le_bytes(),
    ];
    let mut header = [0; HEADER_LEN];
    for (to, from) in header.iter_mut().zip(fields.into_iter().flatten()) {
        *to = *from;
    }
    header
}

/// A whole mono 16-bit WAV file.
pub fn write_wav(clip: &Clip) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_LEN + clip.samples.len() * 2);
    bytes.extend_from_slice(&wav_header(clip.rate, Some(clip.samples.len())));
    bytes.extend(clip.samples.iter().flat_map(|s| s.to_le_bytes()));
    bytes
}

/// Finds format and samples in the first bytes of a WAV. `None`: needs more bytes.
pub(super) fn scan_header(bytes: &[u8]) -> Result<Option<WavData>, WavError> {
    let magic = bytes.iter().zip(b"RIFF").all(|(a, b)| a == b)
        && bytes.iter().skip(8).zip(b"WAVE").all(|(a, b)| a == b);
    if !magic {
        let start = bytes.iter().take(4).copied().map(char::from).collect();
        return Err(WavError::NotWav { start });
    }
    let riff_len = u32_at(bytes, 4).unwrap_or(0);
    let mut format = None;
    let mut at = 12_u64;
    loop {
        let here = to_usize(at);
        let (Some(id), Some(len)) = (bytes.get(here..here + 4), u32_at(bytes, here + 4)) else {
            return Ok(None);
        };
        let start = at + 8;
        if id == b"data" {
            let format = format.ok_or(WavError::NoFormat)?;
            // A length of 0 is a placeholder too, unless the file continues behind it.
            let goes_on = riff_len < MIN_BOGUS_LEN && u64::from(riff_len) + 8 > start;
            let known = len < MIN_BOGUS_LEN && (len > 0 || goes_on);
            let len = known.then_some(to_usize(u64::from(len)));
            return Ok(Some(WavData { format, start: to_usize(start), len }));
        }
        // Chunks start at even offsets.
        let end = start + u64::from(len) + u64::from(len % 2);
        if id == b"fmt " {
            // A chunk shorter than its fields is an error, a truncated one needs more bytes.
            if len < 16 {
                return Err(WavError::NoFormat);
            }
            let Some(chunk) = bytes.get(to_usize(start)..to_usize(start + u64::from(len.min(40))))
            else {
                return Ok(None);
            };
            format = Some(read_format(chunk)?);
        }
        at = end;
    }
}

fn read_format(chunk: &[u8]) -> Result<WavFormat, WavError> {
    let field = |at| u16_at(chunk, at).ok_or(WavError::NoFormat);
    let tag = match field(0)? {
        // The first two bytes of the sub-format's GUID.
        TAG_EXTENSIBLE => field(24)?,
        tag => tag,
    };
    let channels = field(2)?;
    if channels == 0 {
        return Err(WavError::NoChannels);
    }
    let hz = u32_at(chunk, 4).ok_or(WavError::NoFormat)?;
    let rate = SampleRate::new(hz).map_err(|_| WavError::Rate { hz })?;
    Ok(WavFormat { tag, channels, rate, bits: field(14)? })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

/// Reads a mono WAV of 16-bit integers or 32-bit floats that arrives in pieces, such as a child
/// process's output.
#[derive(Debug, Default)]
pub struct WavStream {
    /// Bytes of the header so far; empty once it is read.
    header: Vec<u8>,
    /// Set once the header is read.
    rate: Option<SampleRate>,
    /// Samples are floats between -1 and 1.
    is_float: bool,
    /// Remaining bytes of samples, if known.
    left: Option<usize>,
    /// First bytes of a split sample.
    split: Vec<u8>,
}

impl WavStream {
    pub fn new() -> Self {
        Self::default()
    }

    /// Set once the header is read.
    pub fn rate(&self) -> Option<SampleRate> {
        self.rate
    }

    /// Appends the samples in `bytes` to `out`. Chunks after the samples are ignored. Fails on any
    /// header but that of a WAV with mono 16-bit integers or 32-bit floats.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<i16>) -> Result<(), WavError> {
        if self.rate.is_some() {
            self.push_data(bytes, out);
            return Ok(());
        }
        self.header.extend_from_slice(bytes);
        let Some(data) = scan_header(&self.header)? else {
            let fits = self.header.len() <= MAX_STREAM_HEADER;
            return if fits { Ok(()) } else { Err(WavError::HeaderTooLong) };
        };
        let WavFormat { tag, channels, rate, bits } = data.format;
        self.is_float = match (tag, channels, bits) {
            (TAG_PCM, 1, 16) => false,
            (TAG_FLOAT, 1, 32) => true,
            _ => return Err(WavError::NotMono16 { channels, bits, tag }),
        };
        (self.rate, self.left) = (Some(rate), data.len);
        let header = std::mem::take(&mut self.header);
        self.push_data(header.get(data.start..).unwrap_or_default(), out);
        Ok(())
    }

    /// True if samples that the header promised have not come.
    pub fn is_short(&self) -> bool {
        self.left.is_some_and(|left| left > 0)
    }

    /// Checks that the stream may end here. Fails if the header is incomplete; missing samples are
    /// no error.
    #[cfg(test)]
    pub fn finish(&self) -> Result<(), WavError> {
        match self.rate {
            Some(_) => Ok(()),
            None => Err(WavError::Truncated { len: self.header.len() }),
        }
    }

    fn push_data(&mut self, bytes: &[u8], out: &mut Vec<i16>) {
        let take = bytes.len().min(self.left.unwrap_or(usize::MAX));
        self.left = self.left.map(|left| left - take);
        self.split.extend_from_slice(bytes.get(..take).unwrap_or_default());
        let rest = if self.is_float {
            let (samples, rest) = self.split.as_chunks::<4>();
            out.extend(samples.iter().map(|&s| to_sample(f32::from_le_bytes(s) * FLOAT_SCALE)));
            rest.len()
        } else {
            let (samples, rest) = self.split.as_chunks::<2>();
            out.extend(samples.iter().map(|&s| i16::from_le_bytes(s)));
            rest.len()
        };
        self.split.drain(..self.split.len() - rest);
    }
}

#[cfg(test)]
mod tests;
