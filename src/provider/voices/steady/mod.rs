//! Ends sentences of voices of one request a sentence whose sound is too slow, silent or endless.
//!
//! Entry type: [`Steady`], which wraps each such service; [`Watch`] has the limits.

use std::sync::Arc;

use futures::{
    StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use tokio::time::{Instant, timeout_at};

use super::watch::{Rest, Watch};
use crate::{
    domain::Voice,
    provider::{Error, OneShot, Pcm, SpeakRequest},
};

pub struct Steady {
    service: Arc<dyn OneShot>,
    is_paced: bool,
}

impl Steady {
    pub const fn new(service: Arc<dyn OneShot>) -> Self {
        Self { service, is_paced: true }
    }

    /// Limits silence and length of the sound, but not its pace.
    pub const fn at_any_pace(service: Arc<dyn OneShot>) -> Self {
        Self { service, is_paced: false }
    }
}

impl OneShot for Steady {
    fn name(&self) -> &str {
        self.service.name()
    }

    fn priced_as(&self) -> Option<&str> {
        self.service.priced_as()
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let watch = Watch::new(self.service.name(), &request.voice, &request.text);
        let watch = if self.is_paced { watch } else { watch.at_any_pace() };
        let sentence = Sentence { watch, sound: self.service.speak(request) };
        stream::try_unfold(sentence, Sentence::next).boxed()
    }

    fn lacks(&self, voice: &Voice) -> Option<Error> {
        self.service.lacks(voice)
    }

    fn warm(&self, voice: &Voice) -> BoxFuture<'static, Result<(), Error>> {
        self.service.warm(voice)
    }
}

struct Sentence {
    watch: Watch,
    sound: BoxStream<'static, Result<Pcm, Error>>,
}

impl Sentence {
    async fn next(mut self) -> Result<Option<(Pcm, Self)>, Error> {
        let asked = Instant::now();
        let said = match self.watch.until(asked) {
            // The clock first: chunks without sound would starve it.
            Some(until) if until <= asked => return Err(self.watch.slow()),
            Some(until) => {
                timeout_at(until, self.sound.next()).await.map_err(|_| self.watch.slow())?
            }
            None => self.sound.next().await,
        };
        let Some(mut pcm) = said.transpose()? else { return Ok(None) };
        match self.watch.take(&mut pcm, Instant::now()) {
            Rest::Wanted => {}
            Rest::Unwanted => self.sound = stream::empty().boxed(),
            Rest::Refused(error) => self.sound = stream::iter([Err(error)]).boxed(),
        }
        Ok(Some((pcm, self)))
    }
}

#[cfg(test)]
mod tests;
