//! Recordings of people speaking, made by flite, and what can be heard in a recording.
//!
//! Entry functions: [`speech`], [`wav`], [`read_wav`].
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "recordings here last seconds, and their samples fit"
)]

use std::{
    collections::HashMap,
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::Write,
    path::Path,
    process::{Command, Stdio},
    sync::{LazyLock, Mutex, PoisonError},
};

use rustix::process::geteuid;
use tempfile::NamedTempFile;

use super::ears;

/// Rate of flite's voices slt, rms and awb.
const RATE: u32 = 16_000;

/// Sample format.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    Pcm16,
    Pcm24,
    Pcm32,
    Float,
}

/// A recording as it was found.
#[derive(Debug)]
pub struct Recording {
    pub rate: u32,
    pub channels: u16,
    pub bits: u16,
    pub samples: Vec<i16>,
}

type Spoken = HashMap<(String, String), Vec<i16>>;
static SPOKEN: LazyLock<Mutex<Spoken>> = LazyLock::new(Mutex::default);

/// `text` said by a voice of flite, 16 kHz mono.
pub fn speech(voice: &str, text: &str) -> Vec<i16> {
    let mut spoken = SPOKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (voice.to_owned(), text.to_owned());
    let said = spoken.entry(key).or_insert_with(|| {
        let samples = synthesise(voice, text);
        ears::remember(text, &samples);
        samples
    });
    said.clone()
}

fn synthesise(voice: &str, text: &str) -> Vec<i16> {
    let mut hasher = DefaultHasher::new();
    (voice, text).hash(&mut hasher);
    let folder = env::temp_dir().join(format!("glyphoxa-test-speech-{}", geteuid().as_raw()));
    let cached = folder.join(format!("{:016x}.wav", hasher.finish()));
    if let Some(bytes) = fs::read(&cached).ok().filter(|bytes| is_whole(bytes)) {
        return parse(&bytes).samples;
    }
    let output = Command::new("flite")
        .args(["-voice", voice, "-t", text, "/dev/stdout"])
        .stdin(Stdio::null())
        .output()
        .expect("flite is installed by ./dev setup");
    if output.status.success() && is_whole(&output.stdout) && fs::create_dir_all(&folder).is_ok() {
        // In one step, because other processes read it. Without a cache tests are only slower.
        _ = NamedTempFile::new_in(&folder).and_then(|mut file| {
            file.write_all(&output.stdout)?;
            Ok(file.persist(&cached)?)
        });
    }
    parse(&output.stdout).samples
}

/// True if a recording of flite has samples, and all that its header promises.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(([b'd', b'a', b't', b'a', length @ ..], samples)) =
        bytes.get(36..).and_then(|rest| rest.split_first_chunk::<8>())
    else {
        return false;
    };
    let length = u32::from_le_bytes(*length);
    bytes.starts_with(b"RIFF") && length > 0 && u32::try_from(samples.len()) == Ok(length)
}

/// The samples with silence before and after, in seconds.
pub fn padded(before: f64, samples: &[i16], after: f64) -> Vec<i16> {
    let silence = |seconds: f64| vec![0; (seconds * f64::from(RATE)) as usize];
    [silence(before), samples.to_vec(), silence(after)].concat()
}

/// 16 kHz mono samples as a WAV file of another rate, channel count and format.
pub fn wav(samples: &[i16], rate: u32, channels: u16, format: Format) -> Vec<u8> {
    as_wav(&resampled(samples, rate), rate, channels, format)
}

/// Mono samples of `rate` as a WAV file, the same in each of its channels.
pub fn as_wav(samples: &[i16], rate: u32, channels: u16, format: Format) -> Vec<u8> {
    let (code, bits) = match format {
        Format::Pcm16 => (1_u16, 16_u16),
        Format::Pcm24 => (1, 24),
        Format::Pcm32 => (1, 32),
        Format::Float => (3, 32),
    };
    let mut data = Vec::new();
    for &sample in samples {
        for _ in 0..channels {
            match format {
                Format::Pcm16 => data.extend(sample.to_le_bytes()),
                Format::Pcm24 => data.extend(&(i32::from(sample) << 8).to_le_bytes()[..3]),
                Format::Pcm32 => data.extend((i32::from(sample) << 16).to_le_bytes()),
                Format::Float => data.extend((f32::from(sample) / 32_768.0).to_le_bytes()),
            }
        }
    }
    let frame = channels * bits / 8;
    let mut file = b"RIFF".to_vec();
    file.extend((36 + data.len() as u32).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(16_u32.to_le_bytes());
    file.extend(code.to_le_bytes());
    file.extend(channels.to_le_bytes());
    file.extend(rate.to_le_bytes());
    file.extend((rate * u32::from(frame)).to_le_bytes());
    file.extend(frame.to_le_bytes());
    file.extend(bits.to_le_bytes());
    file.extend(b"data");
    file.extend((data.len() as u32).to_le_bytes());
    file.extend(data);
    file
}

/// 16 kHz mono, 16 bits.
pub fn plain_wav(samples: &[i16]) -> Vec<u8> {
    wav(samples, RATE, 1, Format::Pcm16)
}

/// Interpolated with a windowed sinc, so that narrow rates hold no mirrored treble.
fn resampled(samples: &[i16], rate: u32) -> Vec<i16> {
    const REACH: i64 = 16;
    if rate == RATE {
        return samples.to_vec();
    }
    let step = f64::from(RATE) / f64::from(rate);
    let cutoff = (1.0 / step).min(1.0) * 0.95;
    let length = (samples.len() as f64 / step) as usize;
    let at = |index: i64| usize::try_from(index).ok().and_then(|index| samples.get(index));
    (0..length)
        .map(|index| {
            let position = index as f64 * step;
            let center = position as i64;
            let mixed: f64 = (center - REACH + 1..=center + REACH)
                .map(|near| {
                    let distance = position - near as f64;
                    let phase = std::f64::consts::PI * distance * cutoff;
                    let sinc = if phase.abs() < 1e-9 { 1.0 } else { phase.sin() / phase };
                    let window = (std::f64::consts::FRAC_PI_2 * distance / REACH as f64).cos();
                    f64::from(at(near).copied().unwrap_or(0)) * sinc * window.max(0.0) * cutoff
                })
                .sum();
            mixed as i16
        })
        .collect()
}

/// A WAV file of 16-bit samples.
pub fn read_wav(path: &Path) -> Recording {
    parse(&fs::read(path).expect("a recording"))
}

fn parse(bytes: &[u8]) -> Recording {
    let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    assert_eq!((&bytes[..4], &bytes[8..16]), (&b"RIFF"[..], &b"WAVEfmt "[..]));
    let data = bytes.windows(4).position(|four| four == b"data").expect("a data chunk") + 8;
    let samples = bytes[data..].chunks_exact(2).map(|two| i16::from_le_bytes([two[0], two[1]]));
    Recording {
        rate: u32::from(word(24)) | u32::from(word(26)) << 16,
        channels: word(22),
        bits: word(34),
        samples: samples.collect(),
    }
}

impl Recording {
    /// Loudness over the whole, 0 to 1.
    pub fn level(&self) -> f64 {
        let squares: f64 = self.samples.iter().map(|s| (f64::from(*s) / 32_768.0).powi(2)).sum();
        (squares / self.samples.len().max(1) as f64).sqrt()
    }

    /// Length in seconds.
    pub fn seconds(&self) -> f64 {
        self.samples.len() as f64 / f64::from(self.rate)
    }

    /// Median pitch of what is voiced, in Hz, by autocorrelation.
    pub fn pitch(&self) -> f64 {
        let every = self.rate as usize / 8_000;
        let low: Vec<f64> = self
            .samples
            .chunks_exact(every)
            .map(|few| few.iter().map(|s| f64::from(*s)).sum::<f64>() / every as f64)
            .collect();
        let loud = self.level() * 32_768.0 * 0.5;
        let mut pitches: Vec<f64> =
            low.chunks_exact(512).filter_map(|frame| pitch_of(frame, loud)).collect();
        pitches.sort_by(f64::total_cmp);
        pitches.get(pitches.len() / 2).copied().unwrap_or_default()
    }
}

/// Pitch of a frame at 8 kHz, if it is loud and periodic.
fn pitch_of(frame: &[f64], loud: f64) -> Option<f64> {
    let energy: f64 = frame.iter().map(|s| s * s).sum();
    if (energy / frame.len() as f64).sqrt() < loud {
        return None;
    }
    let likeness = |lag: usize| {
        let (one, other) = (&frame[lag..], &frame[..frame.len() - lag]);
        let product: f64 = one.iter().zip(other).map(|(a, b)| a * b).sum();
        let energies: f64 =
            one.iter().map(|a| a * a).sum::<f64>() * other.iter().map(|b| b * b).sum::<f64>();
        product / energies.sqrt().max(1.0)
    };
    // From 400 Hz down to 60 Hz; the shortest period that is nearly the best, not its double.
    let all: Vec<(usize, f64)> = (20..=133).map(|lag| (lag, likeness(lag))).collect();
    let best = all.iter().map(|(_, like)| *like).fold(0.0, f64::max);
    let lag = all.iter().find(|(_, like)| *like > best * 0.9)?.0;
    (best > 0.5).then(|| 8_000.0 / lag as f64)
}
