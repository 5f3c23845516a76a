//! What is said, with its sound.
//!
//! Entry function: [`load`]. **Never**: plays anything.

use std::path::Path;

use super::{
    super::Failure,
    inputs::{Input, What},
};
use crate::audio::{Clip, Resampler, SampleRate, decode};

/// One thing said, its sound at 16 kHz.
pub struct Step {
    /// Who says it, when, and in which form.
    pub input: Input,
    /// 16 kHz mono; empty for text.
    pub samples: Vec<i16>,
}

/// Reads what `input` says.
///
/// # Errors
/// A recording cannot be read.
pub fn load(input: Input) -> Result<Step, Failure> {
    let samples = match &input.what {
        What::Text(_) => Vec::new(),
        What::File(path) => read_speech(path).map_err(|why| {
            Failure::Failed(anyhow::anyhow!("cannot hear '{}': {why}", path.display()))
        })?,
    };
    Ok(Step { input, samples })
}

/// A recording as a recogniser reads it.
fn read_speech(path: &Path) -> anyhow::Result<Vec<i16>> {
    let bytes = std::fs::read(path)?;
    let Clip { samples, rate } = decode(&bytes, path.extension().and_then(|end| end.to_str()))?;
    if rate == SampleRate::HZ_16000 {
        return Ok(samples);
    }
    let mut resampler = Resampler::new(rate, SampleRate::HZ_16000)?;
    let mut out = Vec::new();
    resampler.push(&samples, &mut out);
    resampler.finish(&mut out);
    Ok(out)
}
