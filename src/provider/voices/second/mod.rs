//! A voice with a second one for when it fails.
//!
//! Entry type: [`WithSecond`]. **Never**: changes the voice within a sentence of which something
//! was heard.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use tokio::time::Instant;

use super::steady::is_silent;
use crate::{
    domain::Voice,
    provider::{Error, Kind, Pcm, SpeakRequest, TextToSpeech},
};

/// Time after a failure during which the second voice speaks, so that a conversation does not
/// change voices with each sentence.
const STAYS: Duration = Duration::from_secs(30);
/// Less sound than this may be repeated by the second voice.
const SYLLABLE: Duration = Duration::from_millis(100);

/// Speaks with the first of two voices, or with the second if that fails.
pub struct WithSecond {
    first: Arc<dyn TextToSpeech>,
    voice: Voice,
    second: Speaker,
    failing: Arc<Failing>,
}

#[derive(Clone)]
struct Speaker {
    service: Arc<dyn TextToSpeech>,
    voice: Voice,
}

#[derive(Default)]
struct Failing(Mutex<Option<Instant>>);

impl Failing {
    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + STAYS);
    }

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
    /// `voice` spoken by `first`, or `second` by a service that is free.
    pub fn new(
        first: (Arc<dyn TextToSpeech>, Voice),
        second: (Arc<dyn TextToSpeech>, Voice),
    ) -> Self {
        let (first, voice) = first;
        let second = Speaker { service: second.0, voice: second.1 };
        Self { first, voice, second, failing: Arc::default() }
    }

    fn is_out(&self) -> bool {
        self.failing.lasts() || self.first.lacks(&self.voice).is_some()
    }
}

impl TextToSpeech for WithSecond {
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
        let sentence = Sentence {
            sound: self.first.speak(request.clone()),
            first: Some(First {
                service: Arc::clone(&self.first),
                voice: self.voice.clone(),
                second: self.second.clone(),
                failing: Arc::clone(&self.failing),
                request,
                sounded: Duration::ZERO,
            }),
        };
        stream::unfold(sentence, Sentence::next).boxed()
    }

    fn speaks_as(&self, _voice: &Voice) -> Voice {
        if self.is_out() { self.second.voice.clone() } else { self.voice.clone() }
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

struct Sentence {
    sound: BoxStream<'static, Result<Pcm, Error>>,
    /// `None`: the second voice speaks.
    first: Option<First>,
}

/// The first voice, and the second's needs to replace it.
struct First {
    service: Arc<dyn TextToSpeech>,
    voice: Voice,
    second: Speaker,
    failing: Arc<Failing>,
    request: SpeakRequest,
    sounded: Duration,
}

impl Sentence {
    async fn next(mut self) -> Option<(Result<Pcm, Error>, Self)> {
        let said = self.sound.next().await?;
        let is_taken_over = match (&said, &mut self.first) {
            (Ok(pcm), Some(first)) => {
                first.takes(pcm);
                false
            }
            (Err(error), Some(first)) => first.gives_way(error),
            (_, None) => false,
        };
        let Some(first) = self.first.take_if(|_| is_taken_over) else { return Some((said, self)) };
        self.sound = first.second.speak(first.request);
        let said = self.sound.next().await?;
        Some((said, self))
    }
}

impl First {
    fn takes(&mut self, pcm: &Pcm) {
        if !is_silent(&pcm.samples) {
            self.sounded += pcm.rate.duration_of(pcm.samples.len());
        }
    }

    /// Notes a failure; true if the second voice takes over the sentence. After more than a
    /// syllable it starts with the next sentence, so that nothing is said twice.
    fn gives_way(&self, error: &Error) -> bool {
        // A permanent lack was logged when it was found.
        if self.service.lacks(&self.voice).is_none() {
            if error.kind() == Kind::OverBudget {
                return false;
            }
            self.failing.note();
            let Voice { provider, voice_id: voice, .. } = &self.second.voice;
            tracing::warn!(%error, provider, voice, "an NPC speaks in its fallback voice");
        }
        self.sounded < SYLLABLE
    }
}

#[cfg(test)]
mod tests;
