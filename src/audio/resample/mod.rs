//! Band-limited sample rate conversion of a running stream: [`Resampler`], around `rubato`.
//!
//! The result does not depend on how the stream is divided, lines up with the input (the filter's
//! delay is cut off), and has the exact length. Holds back about 5 ms plus half a filter (64
//! samples of the lower rate). The stream is silent before its start and after its end.

use super::pcm::{SampleRate, to_count, to_sample, to_usize};
use rubato::audioadapter_buffers::direct::SequentialSlice;
use rubato::{
    Async, FixedAsync, Resampler as _, ResamplerConstructionError, SincInterpolationParameters,
    SincInterpolationType, WindowFunction, calculate_cutoff,
};

/// Filter length in samples of the lower rate. With the Blackman window the pass band ends at 95 %
/// of the lower Nyquist frequency and images stay below −74 dB.
const TAPS: usize = 128;

/// Up to this many phases each get their own filter, and the result is exact; beyond that the table
/// would cost more than interpolating between [`CUBIC_PHASES`] filters.
const MAX_EXACT_PHASES: u32 = 24;

/// Cubic interpolation between 32 filters errs by less than −110 dB.
const CUBIC_PHASES: u32 = 32;

/// Input is converted in blocks of 5 ms.
const BLOCKS_PER_SECOND: u32 = 200;

/// Beyond this, the filter or the output would be absurdly long.
const MAX_RATIO: u32 = 100;

#[derive(Debug, thiserror::Error)]
pub enum ResampleError {
    #[error("cannot resample from {from} to {to} (the rates may differ {MAX_RATIO}-fold at most)")]
    Ratio { from: SampleRate, to: SampleRate },
    #[error("cannot build a resampler from {from} to {to} (use a common rate such as 48000 Hz)")]
    Build { from: SampleRate, to: SampleRate, source: ResamplerConstructionError },
}

/// Converts one mono stream from one rate to another. Equal rates pass samples through unchanged.
#[derive(Debug)]
pub struct Resampler {
    /// `None`: equal rates.
    sinc: Option<Sinc>,
}

impl Resampler {
    /// Builds the filter in 15 to 600 µs, so reuse the resampler for streams of the same rates
    /// after [`Resampler::finish`]. Fails when one rate is over 100 times the other.
    pub fn new(from: SampleRate, to: SampleRate) -> Result<Self, ResampleError> {
        if from == to {
            return Ok(Self { sinc: None });
        }
        if from.hz() / to.hz() >= MAX_RATIO || to.hz() / from.hz() >= MAX_RATIO {
            return Err(ResampleError::Ratio { from, to });
        }
        let sinc =
            Sinc::new(from, to).map_err(|source| ResampleError::Build { from, to, source })?;
        Ok(Self { sinc: Some(sinc) })
    }

    /// Appends available output to `out`.
    pub fn push(&mut self, samples: &[i16], out: &mut Vec<i16>) {
        match &mut self.sinc {
            None => out.extend_from_slice(samples),
            Some(sinc) => sinc.push(samples, out),
        }
    }

    /// Appends the rest to `out`. The whole output then has the input's length times `to / from`,
    /// to the nearest sample; the resampler is ready for another stream.
    pub fn finish(&mut self, out: &mut Vec<i16>) {
        if let Some(sinc) = &mut self.sinc {
            sinc.finish(out);
        }
    }
}

struct Sinc {
    /// Works on blocks of `block_len`.
    inner: Async<f32>,
    /// Output samples per input sample.
    ratio: f64,
    /// Filter length in input samples.
    taps: usize,
    /// Output samples before the first input sample: the filter's delay.
    delay: usize,
    /// Input of the next block.
    pending: Vec<f32>,
    block_len: usize,
    /// Buffer for one block's output.
    converted: Vec<f32>,
    /// Rest of `delay` still to cut off.
    skip: usize,
    /// Input samples so far.
    n_in: usize,
    /// Output samples so far.
    n_out: usize,
}

impl std::fmt::Debug for Sinc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sinc").field("ratio", &self.ratio).finish_non_exhaustive()
    }
}

impl Sinc {
    fn new(from: SampleRate, to: SampleRate) -> Result<Self, ResamplerConstructionError> {
        let ratio = f64::from(to.hz()) / f64::from(from.hz());
        let phases = to.hz() / gcd(from.hz(), to.hz());
        let (filters, interpolation) = match phases {
            // When downsampling, more filters than phases allow finer alignment.
            ..=MAX_EXACT_PHASES if ratio < 1.0 => {
                (phases * 16_u32.div_ceil(phases), SincInterpolationType::Nearest)
            }
            ..=MAX_EXACT_PHASES => (phases, SincInterpolationType::Nearest),
            _ => (CUBIC_PHASES, SincInterpolationType::Cubic),
        };
        let filters = to_usize(u64::from(filters));
        let (taps, delay) = aligned_taps(ratio, filters);
        let window = WindowFunction::Blackman;
        let parameters = SincInterpolationParameters::new(taps, window)
            // By default rubato takes `taps` as samples of the lower rate and lets a band of
            // aliases through.
            .f_cutoff(calculate_cutoff(to_count(taps as f64 * ratio.min(1.0)), window))
            .interpolation(interpolation)
            .oversampling_factor(filters);
        let block_len = to_usize(u64::from(from.hz() / BLOCKS_PER_SECOND).max(1));
        let inner = Async::new_sinc(ratio, 1.0, &parameters, block_len, 1, FixedAsync::Input)?;
        Ok(Self {
            ratio,
            taps,
            delay,
            pending: Vec::with_capacity(block_len),
            block_len,
            converted: vec![0.0; inner.output_frames_max()],
            inner,
            skip: delay,
            n_in: 0,
            n_out: 0,
        })
    }

    fn push(&mut self, mut samples: &[i16], out: &mut Vec<i16>) {
        self.n_in += samples.len();
        while !samples.is_empty() {
            let room = self.block_len - self.pending.len();
            let (now, later) = samples.split_at(room.min(samples.len()));
            self.pending.extend(now.iter().map(|&s| f32::from(s)));
            if self.pending.len() == self.block_len {
                self.convert_block(out);
            }
            samples = later;
        }
    }

    /// Flushes the rest and restarts.
    fn finish(&mut self, out: &mut Vec<i16>) {
        let wanted = to_count(self.n_in as f64 * self.ratio);
        // Trailing silence flushes the filter in at most this many blocks.
        for _ in 0..self.taps / self.block_len + 3 {
            if self.n_out >= wanted {
                break;
            }
            self.pending.resize(self.block_len, 0.0);
            self.convert_block(out);
        }
        out.truncate(out.len() - self.n_out.saturating_sub(wanted));
        self.inner.reset();
        self.pending.clear();
        (self.skip, self.n_in, self.n_out) = (self.delay, 0, 0);
    }

    /// Converts the full pending block, and cuts the filter's delay off.
    fn convert_block(&mut self, out: &mut Vec<i16>) {
        let n_converted = self.run_filter().unwrap_or_else(|| {
            debug_assert!(false, "both buffers have the lengths that rubato asked for");
            0
        });
        self.pending.clear();
        let cut = self.skip.min(n_converted);
        self.skip -= cut;
        let kept = self.converted.get(cut..n_converted).unwrap_or_default();
        out.extend(kept.iter().map(|&s| to_sample(s)));
        self.n_out += kept.len();
    }

    /// Filters `pending` into `converted`; returns the number of samples.
    fn run_filter(&mut self) -> Option<usize> {
        let input = SequentialSlice::new(&self.pending, 1, self.pending.len()).ok()?;
        let room = self.converted.len();
        let mut output = SequentialSlice::new_mut(&mut self.converted, 1, room).ok()?;
        let (_, n_converted) = self.inner.process_into_buffer(&input, &mut output, None).ok()?;
        Some(n_converted)
    }
}

/// Filter length, and its delay in output samples, for a table of `filters` filters.
///
/// `rubato`'s filter is centred `1 / filters` of an input sample early, and its first output lies
/// one output sample after the start. Among a few lengths the one with the delay nearest to a whole
/// number wins, which aligns the output of common rates exactly.
fn aligned_taps(ratio: f64, filters: usize) -> (usize, usize) {
    let shortest = to_count(TAPS as f64 / ratio.min(1.0)).next_multiple_of(8);
    let delay_of = |taps: usize| ratio * ((taps / 2) as f64 - 1.0 / filters as f64) - 1.0;
    let off_grid = |taps: usize| (delay_of(taps) - delay_of(taps).round()).abs();
    let taps = (0..8)
        .map(|n| shortest + 8 * n)
        .min_by(|&a, &b| off_grid(a).total_cmp(&off_grid(b)))
        .unwrap_or(shortest);
    (taps, to_count(delay_of(taps)))
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;
