//! Deepgram as a recogniser, over WebSockets: Nova, whose utterances the table ends, and Flux,
//! which ends them itself.
//!
//! Entry types: [`Deepgram`], made from [`Options`]; [`probe`]. A socket hears one speaker; Nova's
//! are kept for the speaker's next utterance. Unknown messages are logged once and skipped.
//! **Never**: a socket for two speakers or two tables; the key or the speech in the log.

mod client;
mod exchange;
mod failure;
mod flux;
mod kept;
mod names;
mod nova;
mod options;
mod socket;
#[cfg(test)]
mod tests;
mod transcript;
mod turns;
mod wire;

#[cfg(test)]
#[expect(dead_code, reason = "tests of the real program use the rest")]
#[path = "../../../tests/support/deepgram/mod.rs"]
mod deepgram_server;

use std::sync::Arc;

use futures::{
    FutureExt,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use tokio::sync::{mpsc, watch};
use tokio_util::task::AbortOnDropHandle;

pub use self::failure::Peer;
pub use self::options::{
    BASE_URL, EAGER, FIRST_BYTE_TIMEOUT, FLUX_ENGLISH, IDLE_TIMEOUT, NAME, Options,
};
use self::{
    client::Client,
    exchange::{EVENTS, Exchange, Told},
    kept::SpeakerAt,
    names::Names,
    options::Family,
};
#[cfg(test)]
use super::remote::socket_server;
use super::{Attempts, Error, Kind, SpeechEvent, SpeechToText, SttAbilities};
use crate::audio::Frame;

pub struct Deepgram {
    client: Arc<Client>,
    table: u64,
    names: watch::Sender<Names>,
}

impl Deepgram {
    pub fn new(options: Options) -> Result<Self, Error> {
        Ok(Self::of(Arc::new(Client::new(options)?)))
    }

    /// A client of this service for another table: no names yet, and its own sockets.
    pub fn for_another_table(&self) -> Self {
        Self::of(Arc::clone(&self.client))
    }

    fn of(client: Arc<Client>) -> Self {
        let table = client.table();
        Self { client, table, names: watch::Sender::new(Names::from([])) }
    }

    /// Hears `sound`; Nova reuses the socket of `speaker`. `again`: a failed handshake is retried.
    fn recognise(
        &self,
        speaker: Option<u64>,
        sound: mpsc::Receiver<Frame>,
        again: bool,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let (events, told) = mpsc::channel(EVENTS);
        let mut exchange = Exchange { sound, names: self.names.subscribe(), events, again };
        let client = Arc::clone(&self.client);
        let whose = speaker.map(|speaker| SpeakerAt { table: self.table, speaker });
        let task = AbortOnDropHandle::new(tokio::spawn(async move {
            let recognised = match client.options.family() {
                Family::Nova => nova::recognise(&client, whose, &mut exchange).await,
                Family::Flux => flux::recognise(&client, &mut exchange).await,
            };
            if let Err(error) = recognised {
                exchange.tell(Err(error)).await;
            }
        }));
        stream::unfold((told, Some(task)), |(mut told, task)| async move {
            if let Some(event) = told.recv().await {
                return Some((event, (told, task)));
            }
            Some((broken_off(task?).await?, (told, None)))
        })
        .boxed()
    }
}

/// Reports a `task` that ended early.
async fn broken_off(task: AbortOnDropHandle<()>) -> Option<Told> {
    let text = "speech recognition crashed (please report this, and speak again)";
    task.await.err().map(|_| Err(Error::new(Kind::Interrupted, text)))
}

impl Drop for Deepgram {
    fn drop(&mut self) {
        self.client.kept.forget(self.table);
    }
}

impl SpeechToText for Deepgram {
    fn name(&self) -> &str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        self.client.options.priced_as.as_deref()
    }

    fn abilities(&self) -> SttAbilities {
        let endpointing = self.client.options.family() == Family::Flux;
        SttAbilities { partials: true, endpointing }
    }

    fn expect(&self, names: &dyn Fn() -> Vec<String>) {
        if !self.client.options.takes_names() {
            return;
        }
        let fitting = names::fitting(&names());
        self.names.send_if_modified(|known| {
            let is_new = *known != fitting;
            *known = fitting;
            is_new
        });
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        let client = Arc::clone(&self.client);
        async move {
            match client.look().await {
                // The service works and is hearing others.
                Err(error) if matches!(error.kind(), Kind::Crowded { .. }) => Ok(()),
                other => other.map(drop),
            }
        }
        .boxed()
    }

    fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
        attempts: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        self.recognise(None, audio, attempts.are_several())
    }

    fn listen_to(
        &self,
        speaker: u64,
        audio: mpsc::Receiver<Frame>,
        attempts: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        self.recognise(Some(speaker), audio, attempts.are_several())
    }
}

/// Checks that the service accepts the key and the model; returns one line for a report.
pub async fn probe(options: Options) -> Result<String, Error> {
    let client = Client::new(options)?;
    let took = client.look().await?;
    let model = &client.options.model;
    Ok(format!("opens a socket for '{model}' in {} ms", took.as_millis()))
}
