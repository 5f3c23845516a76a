//! Speech-to-text on this machine: OpenAI's Whisper, by the crate `whisper-thin`.
//!
//! Entry types: [`Engine`], which all tables share, and [`Whisper`], which hears one.

mod crew;
mod listening;
mod model;
mod prompt;

#[cfg(test)]
mod tests;

pub use model::Engine;

use std::sync::{Arc, PoisonError, RwLock};

use futures::{
    FutureExt, TryFutureExt,
    future::BoxFuture,
    stream::{BoxStream, StreamExt},
};
use tokio::sync::mpsc;

use self::{listening::listening, prompt::prompt_of};
use crate::{
    audio::Frame,
    provider::{Error, SpeechEvent},
};

pub struct Whisper {
    engine: Arc<Engine>,
    prompt: RwLock<Arc<str>>,
}

impl Whisper {
    pub fn new(engine: Arc<Engine>) -> Self {
        let prompt = RwLock::new(prompt_of(&[], engine.language()).into());
        Self { engine, prompt }
    }

    /// Expects `names` from the next utterance on.
    pub fn expect(&self, names: &[String]) {
        let prompt = prompt_of(names, self.engine.language()).into();
        *self.prompt.write().unwrap_or_else(PoisonError::into_inner) = prompt;
    }

    /// Loads the model on the first call. Its errors have a reason and tell how to download the
    /// files.
    pub fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        let engine = Arc::clone(&self.engine);
        async move { engine.crew().await.map(drop) }.boxed()
    }

    pub fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let engine = Arc::clone(&self.engine);
        let prompt = Arc::clone(&self.prompt.read().unwrap_or_else(PoisonError::into_inner));
        async move { Ok(listening(engine.crew().await?, prompt, audio)) }
            .try_flatten_stream()
            .boxed()
    }
}
