//! Sound computed piece by piece while it plays, never ahead of the listener.
//!
//! Entry function: [`spoken`], for anything that is [`Making`]. Dropping the stream stops after the
//! current piece.

use std::sync::Arc;

use futures::{Stream, stream};

use super::cores::Cores;
use crate::{
    audio::{SampleRate, Timbre},
    domain::Voice,
    provider::{Error, Kind, Pcm},
};

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
