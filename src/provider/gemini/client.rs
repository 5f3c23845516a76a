//! Opens sessions with the service of one entry.
//!
//! Entry type: [`Client`].

use std::sync::Arc;

use reqwest::{Url, header::HeaderName};
use tokio::time::timeout;

use super::{
    failure, orders,
    wire::{self, Said},
};
use crate::provider::{
    Error, Kind, SpeechSetup,
    sockets::Handshake,
    speech_to_speech::{
        Options,
        peer::Peer,
        socket::{self, Incoming, Outgoing},
    },
};

/// Google's own address, which requires a key.
pub const BASE_URL: &str = "https://generativelanguage.googleapis.com";
const PATH: &str = "ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

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
            "write base_url as https://generativelanguage.googleapis.com",
        );
        let failed = |(kind, what, fix)| peer.error(kind, what, fix);
        let url = address(&options).ok_or_else(|| failed(no_address))?;
        let header = (HeaderName::from_static("x-goog-api-key"), "");
        let key = options.api_key.as_ref();
        let handshake = Handshake::new(&url, header, key, no_address).map_err(failed)?;
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
        outgoing.add([orders::setup(setup, &self.options.model)]);
        outgoing.send().await?;
        while !wire::read(&incoming.next().await?).contains(&Said::Ready) {}
        Ok((incoming, outgoing))
    }
}

/// The socket's address; `None`: `base_url` is invalid.
fn address(options: &Options) -> Option<Url> {
    let root = options.base_url.trim_end_matches('/');
    Url::parse(&format!("{root}/{PATH}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_base_url_names_no_key() {
        let url = |base_url| address(&Options::of_tests(base_url)).unwrap().to_string();
        let wanted = format!("https://generativelanguage.googleapis.com/{PATH}");
        assert_eq!(url(BASE_URL), wanted);
        assert_eq!(url(&format!("{BASE_URL}/")), wanted);
        assert_eq!(address(&Options::of_tests("no address")), None);
    }
}
