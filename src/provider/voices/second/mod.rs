//! A voice with a second one for when it fails.
//!
//! Entry type: [`WithSecond`]. **Never**: changes the voice within a sentence of which something
//! was heard.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use tokio::time::Instant;

use super::watch::is_silent;
use crate::{
    domain::Voice,
    provider::{Attempts, Error, Kind, Sentence, Spoken, Synthesis, SynthesisSetup, TextToSpeech},
};

/// Time after a failure during which the second voice speaks, so that a conversation does not
/// change voices with each turn.
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
    fn open(&self, setup: SynthesisSetup) -> Box<dyn Synthesis> {
        self.service.open(SynthesisSetup { voice: self.voice.clone(), ..setup })
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

    fn open(&self, setup: SynthesisSetup) -> Box<dyn Synthesis> {
        if self.is_out() {
            return self.second.open(setup);
        }
        Box::new(Speaking {
            now: self.first.open(setup.clone()),
            first: Some(First {
                service: Arc::clone(&self.first),
                voice: self.voice.clone(),
                second: self.second.clone(),
                failing: Arc::clone(&self.failing),
                setup,
                unsaid: VecDeque::new(),
                is_finished: false,
                sounded: Duration::ZERO,
            }),
        })
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

struct Speaking {
    now: Box<dyn Synthesis>,
    /// `None`: the second voice speaks.
    first: Option<First>,
}

/// The first voice, and the second's needs to replace it.
struct First {
    service: Arc<dyn TextToSpeech>,
    voice: Voice,
    second: Speaker,
    failing: Arc<Failing>,
    setup: SynthesisSetup,
    /// Sentences that are not yet spoken to their end.
    unsaid: VecDeque<Sentence>,
    is_finished: bool,
    /// Sound of the current sentence.
    sounded: Duration,
}

impl Synthesis for Speaking {
    fn say(&mut self, sentence: Sentence) {
        if let Some(first) = &mut self.first {
            first.unsaid.push_back(sentence.clone());
        }
        self.now.say(sentence);
    }

    fn finish(&mut self) {
        if let Some(first) = &mut self.first {
            first.is_finished = true;
        }
        self.now.finish();
    }

    fn next(&mut self) -> BoxFuture<'_, Option<Result<Spoken, Error>>> {
        async {
            loop {
                let said = self.now.next().await?;
                let Some(first) = &mut self.first else { return Some(said) };
                match &said {
                    Ok(spoken) => first.takes(spoken),
                    Err(error) if first.gives_way(error) => {
                        let first = self.first.take()?;
                        self.now = first.replaced();
                        continue;
                    }
                    Err(_) => {}
                }
                return Some(said);
            }
        }
        .boxed()
    }
}

impl First {
    fn takes(&mut self, spoken: &Spoken) {
        match spoken {
            Spoken::Word(_) => {}
            Spoken::Sound(pcm) if is_silent(&pcm.samples) => {}
            Spoken::Sound(pcm) => self.sounded += pcm.rate.duration_of(pcm.samples.len()),
            Spoken::Done => {
                self.unsaid.pop_front();
                self.sounded = Duration::ZERO;
            }
        }
    }

    /// Notes a failure; true if the second voice takes over the sentence. After more than a
    /// syllable it starts with the next turn, so that nothing is said twice.
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

    /// Speech of what is unsaid by the second voice, which is free.
    fn replaced(self) -> Box<dyn Synthesis> {
        let mut now = self.second.open(self.setup);
        for sentence in self.unsaid {
            now.say(Sentence { attempts: Attempts::default(), ..sentence });
        }
        if self.is_finished {
            now.finish();
        }
        now
    }
}

#[cfg(test)]
mod tests;
