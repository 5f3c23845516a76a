//! Voice services that stream over a WebSocket.
//!
//! Entry types: [`Dialect`], one service's messages, and [`TurnMessages`], those of one turn;
//! [`SocketVoice`], which makes a voice service of a dialect. Services with models and voices of an
//! account share [`Options`], errors ([`Peer`]) and the way to their lists ([`listed()`]).
//!
//! A turn has a socket for itself; after it, the socket is kept for the next turn with the same
//! address, and closed after 20 s without one. An interrupted turn is cancelled at once. Its socket
//! serves another turn only once no more sound of it can come, or once late sound can be told from
//! that of the next; where that takes two seconds, it is closed.

mod dialect;
mod idle;
mod link;
mod listing;
mod options;
mod peer;
mod reasons;
mod sentence;
mod service;
mod stream;
mod turn;

use std::sync::Arc;

use futures::{
    FutureExt,
    future::{self, BoxFuture},
};

pub use self::{
    dialect::{Dialect, Limits, LineEvent, Refusal, SocketFailure, TurnMessages},
    listing::{Page, listed, short},
    options::{FIRST_BYTE_TIMEOUT, IDLE_TIMEOUT, Options},
    peer::Peer,
    reasons::{FAILED, GAVE_UP, NO_ENDPOINT, busy, crowded},
};
use self::{service::Service, turn::Turn};
use crate::{
    domain::Voice,
    provider::{Error, Synthesis, SynthesisSetup, TextToSpeech},
};

/// A voice service that speaks a [`Dialect`].
pub struct SocketVoice(Arc<Service>);

impl SocketVoice {
    pub fn new(dialect: impl Dialect) -> Self {
        Self(Arc::new(Service::new(dialect)))
    }

    /// Resolves once a socket for `voice` is idle.
    #[cfg(test)]
    pub async fn idle(&self, voice: &Voice) {
        let Ok(address) = self.0.dialect.address(&ahead(voice)) else { return };
        while !self.0.idle.has(&address) {
            tokio::task::yield_now().await;
        }
    }
}

impl TextToSpeech for SocketVoice {
    fn name(&self) -> &str {
        self.0.dialect.name()
    }

    fn priced_as(&self) -> Option<&str> {
        self.0.dialect.priced_as()
    }

    fn open(&self, setup: SynthesisSetup) -> Box<dyn Synthesis> {
        Box::new(Turn::new(Arc::clone(&self.0), setup))
    }

    fn lacks(&self, voice: &Voice) -> Option<Error> {
        self.0.dialect.address(&ahead(voice)).err()
    }

    fn warm(&self, voice: &Voice) -> BoxFuture<'static, Result<(), Error>> {
        match self.0.dialect.address(&ahead(voice)) {
            Ok(address) => Arc::clone(&self.0).warm(address).boxed(),
            Err(error) => future::ready(Err(error)).boxed(),
        }
    }
}

/// The setup of a turn that has not come.
fn ahead(voice: &Voice) -> SynthesisSetup {
    let (language, pronunciation) = (String::new(), Arc::from([]));
    SynthesisSetup { voice: voice.clone(), language, pronunciation, style: None }
}
