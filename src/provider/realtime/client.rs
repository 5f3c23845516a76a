//! Opens sessions with the service of one entry.
//!
//! Entry type: [`Client`].

use std::sync::Arc;

use reqwest::{Url, header::AUTHORIZATION};
use tokio::time::timeout;

use super::{failure, options::address, orders, wire::Said};
use crate::provider::{
    Error, Kind, SpeechSetup,
    sockets::Handshake,
    speech_to_speech::{
        Options,
        peer::Peer,
        socket::{self, Incoming, Outgoing},
    },
};

pub struct Client {
    pub options: Options,
    pub peer: Arc<Peer>,
    handshake: Handshake,
    url: Url,
}

impl Client {
    pub fn new(options: Options) -> Result<Self, Error> {
        let peer = Arc::new(Peer::new(&options, failure::closed));
        let no_address = (
            Kind::InvalidRequest,
            "no usable address",
            "write base_url as https://api.openai.com/v1",
        );
        let failed = |(kind, what, fix)| peer.error(kind, what, fix);
        let url = address(&options).ok_or_else(|| failed(no_address))?;
        let key = options.api_key.as_ref();
        let handshake =
            Handshake::new(&url, (AUTHORIZATION, "Bearer "), key, no_address).map_err(failed)?;
        Ok(Self { options, peer, handshake, url })
    }

    /// Resolves once the service has accepted `setup`. Cancel safe.
    pub async fn open(&self, setup: &SpeechSetup) -> Result<(Incoming, Outgoing), Error> {
        let opened = timeout(self.options.first_byte_timeout, self.set_up(setup)).await;
        opened.map_err(|_| self.peer.slow())?
    }

    async fn set_up(&self, setup: &SpeechSetup) -> Result<(Incoming, Outgoing), Error> {
        let opened = self.handshake.open(self.url.clone()).await;
        let connection = opened.map_err(|why| failure::not_opened(&self.peer, &why))?;
        let (mut incoming, mut outgoing) = socket::open(connection, &self.peer).await;
        self.wait_for(&Said::Created, &mut incoming).await?;
        outgoing.add([orders::setup(setup, &self.options.model)]);
        outgoing.send().await?;
        self.wait_for(&Said::Updated, &mut incoming).await?;
        Ok((incoming, outgoing))
    }

    async fn wait_for(&self, wanted: &Said, incoming: &mut Incoming) -> Result<(), Error> {
        loop {
            match Said::read(&incoming.next().await?) {
                Said::Error(said) => return Err(failure::said(&self.peer, &said)),
                said if said == *wanted => return Ok(()),
                Said::Unknown(kind) => self.peer.notes(&format!("unknown event \"{kind}\"")),
                _ => {}
            }
        }
    }
}
