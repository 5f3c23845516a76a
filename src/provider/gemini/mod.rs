//! Gemini Live: a model that hears and speaks, over a WebSocket.
//!
//! Entry type: [`GeminiLive`], made from [`Options`]. A task owns each session's socket. The engine
//! decides turns and replaces old sessions; the service's own session memory is not used.
//! **Never**: logs the key or speech; a call of an incomplete answer.

mod client;
mod failure;
mod orders;
mod results;
mod running;
mod schema;
mod tail;
mod talk;
mod usage;
mod wire;

#[cfg(test)]
mod loopback;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

pub use self::client::BASE_URL;
use self::{client::Client, talk::GeminiTalk};
use super::{
    Error, SpeechAbilities, SpeechControl, SpeechSession, SpeechSetup, SpeechToSpeech,
    speech_to_speech::{Options, events, session},
};
use crate::logic::budget::SoundTokens;

pub struct GeminiLive {
    client: Arc<Client>,
}

impl GeminiLive {
    pub fn new(options: Options) -> Result<Self, Error> {
        Ok(Self { client: Arc::new(Client::new(options)?) })
    }
}

impl SpeechToSpeech for GeminiLive {
    fn name(&self) -> &str {
        self.client.options.service.name()
    }

    fn model(&self) -> &str {
        &self.client.options.model
    }

    fn priced_as(&self) -> Option<&str> {
        self.client.options.priced_as.as_deref()
    }

    fn abilities(&self) -> SpeechAbilities {
        SpeechAbilities {
            clears: false,
            truncates: false,
            changes_tools: false,
            goes_on: true,
            takes_choice: false,
            sound: SoundTokens { received: 25, spoken: 25, with_words: false },
        }
    }

    /// Gives up after `first_byte_timeout`.
    fn connect(&self, setup: SpeechSetup) -> BoxFuture<'static, Result<SpeechSession, Error>> {
        let client = Arc::clone(&self.client);
        async move {
            let socket = client.open(&setup).await?;
            let (control, orders) = SpeechControl::new();
            let (events, reader) = events::channel();
            let talk =
                GeminiTalk::new(Arc::clone(&client.peer), events, &setup.tools, &setup.before);
            let task = tokio::spawn(session::run(talk, socket, orders));
            Ok(SpeechSession { control, events: reader.stream(task) })
        }
        .boxed()
    }
}
