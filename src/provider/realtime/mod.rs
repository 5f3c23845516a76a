//! OpenAI Realtime: a model that hears and speaks, over a WebSocket.
//!
//! Entry type: [`Realtime`], made from [`Options`]. A task owns each session's socket. The engine
//! decides turns and replaces old sessions. Unknown kinds of events are logged once and ignored.
//! **Never**: logs the key or speech; a call of an incomplete answer.

mod client;
mod failure;
mod options;
mod orders;
mod talk;
mod usage;
mod wire;

#[cfg(test)]
mod loopback;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

pub use self::options::BASE_URL;
use self::{client::Client, talk::RealtimeTalk};
use super::{
    Error, SpeechAbilities, SpeechControl, SpeechSession, SpeechSetup, SpeechToSpeech,
    speech_to_speech::{Options, events, session},
};
use crate::logic::budget::SoundTokens;

pub struct Realtime {
    client: Arc<Client>,
}

impl Realtime {
    pub fn new(options: Options) -> Result<Self, Error> {
        Ok(Self { client: Arc::new(Client::new(options)?) })
    }
}

impl SpeechToSpeech for Realtime {
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
            clears: true,
            truncates: true,
            changes_tools: true,
            goes_on: false,
            takes_choice: true,
            sound: SoundTokens { received: 10, spoken: 20, with_words: true },
        }
    }

    /// Gives up after `first_byte_timeout`.
    fn connect(&self, setup: SpeechSetup) -> BoxFuture<'static, Result<SpeechSession, Error>> {
        let client = Arc::clone(&self.client);
        async move {
            let socket = client.open(&setup).await?;
            let (control, orders) = SpeechControl::new();
            let (events, reader) = events::channel();
            let talk = RealtimeTalk::new(Arc::clone(&client.peer), events, &setup.before);
            let task = tokio::spawn(session::run(talk, socket, orders));
            Ok(SpeechSession { control, events: reader.stream(task) })
        }
        .boxed()
    }
}
