//! Sound computed piece by piece while it plays, never ahead of the listener.
//!
//! Entry functions: [`spoken`], for anything that is [`Making`]; [`sound`] of a network's output.
//! Dropping the stream stops after the current piece.

use std::sync::Arc;

use futures::{Stream, stream};
use rten::Value;
use rten_tensor::{Tensor, prelude::*};

use super::{cores::Cores, files::Unfit};
use crate::{
    audio::{SampleRate, Timbre},
    domain::Voice,
    provider::{Error, Kind, Pcm},
};

/// Most samples of a sentence: two minutes at the highest rate.
const MOST_SOUND: usize = 120 * 48_000;

pub trait Making: Send + 'static {
    /// The next piece, between -1 and 1, possibly empty; `None` at the end.
    fn made(&mut self) -> Result<Option<Vec<f32>>, Error>;
}

struct Spoken<M> {
    making: M,
    timbre: Timbre,
    rate: SampleRate,
    is_over: bool,
}

/// The pitch and formants of `voice`; fails if they are out of range.
pub fn timbre(rate: SampleRate, voice: &Voice) -> Result<Timbre, Error> {
    Timbre::new(rate, voice.pitch_shift, voice.formant_shift)
        .map_err(|error| Error::new(Kind::InvalidRequest, error.to_string()))
}

/// Sound of `making` with a `timbre`; `what` names the files in errors.
pub fn spoken<M: Making>(
    making: M,
    rate: SampleRate,
    timbre: Timbre,
    cores: Cores,
    what: &str,
) -> impl Stream<Item = Result<Pcm, Error>> + Send + use<M> {
    let what: Arc<str> = what.into();
    let begun = Spoken { making, timbre, rate, is_over: false };
    stream::try_unfold(begun, move |spoken| {
        let (cores, what) = (cores.clone(), Arc::clone(&what));
        async move { cores.computed(&what, move || spoken.next()).await? }
    })
}

impl<M: Making> Spoken<M> {
    fn next(mut self) -> Result<Option<(Pcm, Self)>, Error> {
        let mut samples = Vec::new();
        while samples.is_empty() && !self.is_over {
            match self.making.made()? {
                Some(made) => self.timbre.push(&made, &mut samples),
                None => {
                    self.timbre.finish(&mut samples);
                    self.is_over = true;
                }
            }
        }
        let rate = self.rate;
        Ok((!samples.is_empty()).then_some((Pcm { samples, rate }, self)))
    }
}

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
