//! Output of a network, and reasons why it does not speak.
//!
//! Entry type: [`NetworkError`].

use rten::Value;
use rten_tensor::{Tensor, prelude::*};

use super::whole::Unfit;

/// Most samples of a sentence: two minutes at the highest rate.
const MOST_SOUND: usize = 120 * 48_000;

#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The runtime might not survive the file.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// Broken, or with operations that the runtime lacks.
    #[error("it cannot be loaded: {0}")]
    Load(#[from] rten::LoadError),
    #[error("it failed: {0}")]
    Run(#[from] rten::RunError),
    #[error("it has no '{0}', so it is the wrong network")]
    Lacks(&'static str),
    #[error("its output is not sound")]
    NoSound,
}

/// The samples of a network's output; fails if it is no sound or too long.
pub fn sound(made: Vec<Value>) -> Result<Vec<f32>, NetworkError> {
    let sound = made.into_iter().next().and_then(|value| Tensor::<f32>::try_from(value).ok());
    let sound = sound.filter(|sound| (1..=MOST_SOUND).contains(&sound.len()));
    sound.map(|sound| sound.to_vec()).ok_or(NetworkError::NoSound)
}
