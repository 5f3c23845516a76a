//! A voice with another one for when it cannot speak.
//!
//! Entry type: [`WithSecond`]. **Never**: changes the voice within a sentence.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{FutureExt, StreamExt, TryFutureExt, future::BoxFuture, stream::BoxStream};
use tokio::time::Instant;

use crate::{
    domain::Voice,
    provider::{Error, Kind, Pcm, SpeakRequest, TextToSpeech},
};

/// So long after a failure the second voice goes on, so that a conversation does not change voices
/// with each sentence.
const STAYS: Duration = Duration::from_secs(30);

/// Speaks with the first of two voices, where it cannot with the second.
pub struct WithSecond {
    first: Arc<dyn TextToSpeech>,
    voice: Voice,
    second: Speaker,
    failing: Arc<Failing>,
}

/// A voice and the service that speaks it.
#[derive(Clone)]
struct Speaker {
    service: Arc<dyn TextToSpeech>,
    voice: Voice,
}

/// Until when the first voice is not tried.
#[derive(Default)]
struct Failing(Mutex<Option<Instant>>);

impl Failing {
    /// It has failed: the second one goes on.
    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + STAYS);
    }

    /// True if the second one still goes on.
    fn lasts(&self) -> bool {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }
}

impl Speaker {
    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        self.service.speak(SpeakRequest { voice: self.voice.clone(), ..request })
    }
}

impl WithSecond {
    /// `voice` spoken by `first`, or `second` by a service that costs nothing.
    pub fn new(
        first: (Arc<dyn TextToSpeech>, Voice),
        second: (Arc<dyn TextToSpeech>, Voice),
    ) -> Self {
        let (first, voice) = first;
        let second = Speaker { service: second.0, voice: second.1 };
        Self { first, voice, second, failing: Arc::default() }
    }

    /// True if the first voice is not tried, for it would fail.
    fn is_out(&self) -> bool {
        self.failing.lasts() || self.first.lacks(&self.voice).is_some()
    }
}

impl TextToSpeech for WithSecond {
    /// Of the one that speaks now.
    fn name(&self) -> &str {
        if self.is_out() { self.second.service.name() } else { self.first.name() }
    }

    fn priced_as(&self) -> Option<&str> {
        self.first.priced_as()
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        if self.is_out() {
            return self.second.speak(request);
        }
        let (second, failing) = (self.second.clone(), Arc::clone(&self.failing));
        let (first, wanted) = (Arc::clone(&self.first), self.voice.clone());
        let mut sound = self.first.speak(request.clone());
        async move {
            match sound.next().await {
                // A lack that was just found out for good was logged where it was found.
                Some(Err(_)) if first.lacks(&wanted).is_some() => Ok(second.speak(request)),
                Some(Err(error)) if error.kind() != Kind::OverBudget => {
                    failing.note();
                    let voice = &second.voice;
                    let (provider, voice) = (&voice.provider, &voice.voice_id);
                    tracing::warn!(%error, provider, voice, "an NPC speaks in its fallback voice");
                    Ok(second.speak(request))
                }
                Some(Err(error)) => Err(error),
                None => Ok(sound),
                Some(Ok(chunk)) => Ok(futures::stream::iter([Ok(chunk)]).chain(sound).boxed()),
            }
        }
        .try_flatten_stream()
        .boxed()
    }

    fn lacks(&self, _voice: &Voice) -> Option<Error> {
        self.first.lacks(&self.voice).and_then(|_| self.second.service.lacks(&self.second.voice))
    }

    fn warm(&self, voice: &Voice) -> BoxFuture<'static, Result<(), Error>> {
        if self.is_out() {
            return self.second.service.warm(&self.second.voice);
        }
        let (first, second) = (Arc::clone(&self.first), self.second.clone());
        let voice = voice.clone();
        async move {
            match first.warm(&voice).await {
                Err(_) if first.lacks(&voice).is_some() => second.service.warm(&second.voice).await,
                warmed => warmed,
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
