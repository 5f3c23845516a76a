//! What is said, with its sound.
//!
//! Entry function: [`load`]. **Never**: plays anything.

use std::{
    fs::File,
    io::{Cursor, Read},
    path::Path,
};

use super::{
    super::Failure,
    inputs::{Input, What},
};
use crate::audio::{SampleRate, decode};

/// Most that is taken from a pipe.
const MAX_PIPED: u64 = 256 << 20;

/// One thing said, its sound at 16 kHz.
pub struct Step {
    /// Who says it, when, and in which form.
    pub input: Input,
    /// 16 kHz mono; empty for text.
    pub samples: Vec<i16>,
}

impl Step {
    /// Whether its time is given (`--at`).
    pub const fn has_time(&self) -> bool {
        self.input.at.is_some()
    }
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
    let hint = path.extension().and_then(|end| end.to_str());
    let wanted = Some(SampleRate::HZ_16000);
    let mut file = File::open(path)?;
    if file.metadata()?.is_file() {
        return Ok(decode(file, hint, wanted)?.samples);
    }
    // What another program writes cannot be read from the middle.
    let mut bytes = Vec::new();
    file.by_ref().take(MAX_PIPED).read_to_end(&mut bytes)?;
    anyhow::ensure!(
        file.read(&mut [0])? == 0,
        "more than {} MB come through it (write them to a file first)",
        MAX_PIPED >> 20
    );
    Ok(decode(Cursor::new(bytes), hint, wanted)?.samples)
}
