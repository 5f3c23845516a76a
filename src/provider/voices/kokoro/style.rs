//! A Kokoro voice: its style for sentences of each length.
//!
//! Entry type: [`Style`]. **Never**: trusts a number of the file.

use rten_tensor::NdTensor;

/// Numbers in a row.
pub const WIDTH: usize = 256;
/// One row for each length of a piece.
const ROWS: usize = 510;
/// Size of every voice's file.
pub const BYTES: usize = ROWS * WIDTH * size_of::<f32>();
/// Limit of a voice's numbers; released ones stay below 3.
const HIGHEST: f32 = 100.0;

#[derive(Debug, thiserror::Error, PartialEq)]
pub enum StyleError {
    #[error("it has \"{0}\" bytes instead of \"{BYTES}\"")]
    Length(usize),
    #[error("it has the number \"{0}\", which is out of range")]
    Number(f32),
}

#[derive(Debug)]
pub struct Style(Vec<f32>);

impl Style {
    pub fn read(bytes: &[u8]) -> Result<Self, StyleError> {
        if bytes.len() != BYTES {
            return Err(StyleError::Length(bytes.len()));
        }
        let (numbers, _) = bytes.as_chunks::<4>();
        let numbers: Vec<f32> = numbers.iter().map(|it| f32::from_le_bytes(*it)).collect();
        // NaN is out of range, too.
        match numbers.iter().find(|it| !(-HIGHEST..=HIGHEST).contains(*it)) {
            Some(odd) => Err(StyleError::Number(*odd)),
            None => Ok(Self(numbers)),
        }
    }

    /// Style of a piece of `sounds`; longer ones have the longest's.
    pub fn of_length(&self, sounds: usize) -> NdTensor<f32, 2> {
        let row = sounds.min(ROWS - 1) * WIDTH;
        let numbers = self.0.get(row..row + WIDTH).unwrap_or_default();
        NdTensor::from_data([1, WIDTH], numbers.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use rten_tensor::prelude::*;

    use super::*;

    /// A voice whose rows hold their own number.
    fn numbered() -> Vec<u8> {
        let row = |row: u16| (f32::from(row) / 10.0).to_le_bytes().repeat(WIDTH);
        (0..510).flat_map(row).collect()
    }

    #[test]
    fn row_is_the_length() {
        let style = Style::read(&numbered()).unwrap();
        for (sounds, expected) in [(0, 0.0), (1, 0.1), (113, 11.3), (509, 50.9), (510, 50.9)] {
            let row = style.of_length(sounds).to_vec();
            assert!(row.len() == WIDTH && row.iter().all(|it| *it == expected), "{sounds}");
        }
    }

    #[test]
    fn invalid_voice_files_are_refused() {
        let whole = numbered();
        assert_eq!(Style::read(&whole[1..]).unwrap_err(), StyleError::Length(BYTES - 1));
        assert_eq!(Style::read(b"").unwrap_err(), StyleError::Length(0));
        for odd in [f32::INFINITY, -1e30, f32::NAN] {
            let mut bytes = whole.clone();
            bytes[4_000..4_004].copy_from_slice(&odd.to_le_bytes());
            assert!(matches!(Style::read(&bytes), Err(StyleError::Number(_))), "{odd}");
        }
    }
}
