//! OpenAI Realtime: a model that hears and speaks, over a WebSocket.
//!
//! Entry types: [`Realtime`], made from [`Options`]; [`probe`] for a quick look at the service. A task
//! owns each session's socket; turns, hearing and the age of sessions are the engine's. Unknown kinds
//! of events are logged once and ignored.
//! **Never**: the key or what was said in the log; a call of an answer that was not completed.

mod answer;
mod client;
mod events;
mod failure;
mod hearing;
mod items;
mod options;
mod orders;
mod session;
mod socket;
mod talk;
mod usage;
mod wire;

#[cfg(test)]
mod loopback;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

pub use self::options::{BASE_URL, FIRST_BYTE_TIMEOUT, IDLE, MAX_AGE, NAME, Options};
use self::{client::Client, talk::Talk};
use super::{Error, SpeechAbilities, SpeechControl, SpeechSession, SpeechSetup, SpeechToSpeech};

/// The service of one entry.
pub struct Realtime {
    client: Arc<Client>,
}

impl Realtime {
    /// # Errors
    /// An invalid address or key, or no certificates for a TLS address.
    pub fn new(options: Options) -> Result<Self, Error> {
        Ok(Self { client: Arc::new(Client::new(options)?) })
    }
}

impl SpeechToSpeech for Realtime {
    fn name(&self) -> &str {
        NAME
    }

    fn model(&self) -> &str {
        &self.client.options.model
    }

    fn priced_as(&self) -> Option<&str> {
        self.client.options.priced_as.as_deref()
    }

    fn abilities(&self) -> SpeechAbilities {
        SpeechAbilities { clears: true, truncates: true, changes_tools: true }
    }

    /// Gives up after `first_byte_timeout`, too.
    fn connect(&self, setup: SpeechSetup) -> BoxFuture<'static, Result<SpeechSession, Error>> {
        let client = Arc::clone(&self.client);
        async move {
            let socket = client.open(&setup).await?;
            let (control, orders) = SpeechControl::new();
            let (events, reader) = events::channel();
            let talk = Talk::new(Arc::clone(&client.peer), events, &setup.before);
            let task = tokio::spawn(session::run(talk, socket, orders));
            Ok(SpeechSession { control, events: reader.stream(task) })
        }
        .boxed()
    }
}

/// Looks whether the service takes the key, the model and these voices; one line for a report.
///
/// # Errors
/// Why it cannot be used, and the fix.
pub async fn probe(options: Options, voices: &BTreeSet<String>) -> Result<String, Error> {
    let client = Client::new(options)?;
    let took = client.look(None).await?;
    for voice in voices {
        let refused =
            |error: Error| Error::new(error.kind(), format!("voice \"{voice}\": {error}"));
        client.look(Some(voice.clone())).await.map_err(refused)?;
    }
    let model = &client.options.model;
    Ok(format!("opens a session of \"{model}\" in {} ms", took.as_millis()))
}
