//! Output of every network, and reasons why one does not speak.
//!
//! Entry type: [`NetworkError`]. **Never**: believes the length of what comes out.

use rten::Value;
use rten_tensor::{Tensor, prelude::*};

use super::whole::Unfit;

/// Sound of one sentence, in samples, that is believed: two minutes at the highest rate.
const MOST_SOUND: usize = 120 * 48_000;

/// Reason a network does not speak.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The runtime might not survive the file.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The file is broken, or uses what the runtime lacks.
    #[error("it cannot be loaded: {0}")]
    Load(#[from] rten::LoadError),
    /// It failed.
    #[error("it failed: {0}")]
    Run(#[from] rten::RunError),
    /// It is the network of something else.
    #[error("it has no '{0}', so it is the wrong network")]
    Lacks(&'static str),
    /// The output is no sound.
    #[error("its output is not sound")]
    NoSound,
}

/// The samples in what a network gives.
///
/// # Errors
/// It is no sound, or more of it than anybody says at once.
pub fn sound(made: Vec<Value>) -> Result<Vec<f32>, NetworkError> {
    let sound = made.into_iter().next().and_then(|value| Tensor::<f32>::try_from(value).ok());
    let sound = sound.filter(|sound| (1..=MOST_SOUND).contains(&sound.len()));
    sound.map(|sound| sound.to_vec()).ok_or(NetworkError::NoSound)
}
