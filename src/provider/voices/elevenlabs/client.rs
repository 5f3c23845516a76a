//! The service of one entry.
//!
//! Entry type: [`ElevenLabs`].

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use reqwest::{Url, header::HeaderName};

use super::{
    address::{NAME, socket},
    failure,
    line::{Context, own_speed},
};
use crate::{
    domain::Voice,
    provider::{
        Error, Kind, SynthesisSetup,
        sockets::{Handshake, Reason},
        voices::socket::{Dialect, Limits, Options, Peer, SocketFailure, TurnMessages},
    },
};

const NO_ADDRESS: Reason = (
    Kind::InvalidRequest,
    "no usable address",
    "set base_url to an address such as https://api.elevenlabs.io",
);

pub struct ElevenLabs {
    pub options: Options,
    pub peer: Arc<Peer>,
    handshake: Handshake,
    /// Turns so far; they name the contexts.
    turns: AtomicU64,
}

impl ElevenLabs {
    /// Fails for an unusable address or key, or without certificates for a TLS address.
    pub fn new(options: Options) -> Result<Self, Error> {
        let peer = Arc::new(Peer::new(NAME, &options));
        let url = options.address(&[]).ok_or_else(|| peer.reason(NO_ADDRESS))?;
        let header = (HeaderName::from_static("xi-api-key"), "");
        let handshake = Handshake::new(&url, header, options.api_key.as_ref(), NO_ADDRESS);
        let handshake = handshake.map_err(|reason| peer.reason(reason))?;
        Ok(Self { options, peer, handshake, turns: AtomicU64::new(0) })
    }
}

impl Dialect for ElevenLabs {
    fn name(&self) -> &'static str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        self.options.priced_as.as_deref()
    }

    fn limits(&self) -> Limits {
        self.options.limits()
    }

    fn handshake(&self) -> &Handshake {
        &self.handshake
    }

    fn address(&self, setup: &SynthesisSetup) -> Result<Url, Error> {
        let voice = setup.voice.voice_id.as_str();
        // Such a path would lead elsewhere; of others, line ends and tabs would be left out.
        if ["", ".", ".."].contains(&voice) || voice.contains(char::is_control) {
            let what = format!("the voice_id is '{}'", voice.escape_debug());
            let fix = "use an id from the account's list of voices";
            return Err(self.peer.error(Kind::InvalidRequest, &what, fix));
        }
        let address = socket(&self.options, voice, &setup.language);
        address.ok_or_else(|| self.peer.reason(NO_ADDRESS))
    }

    fn speed(&self, voice: &Voice) -> f32 {
        own_speed(voice.speed_factor)
    }

    fn line(&self, setup: &SynthesisSetup) -> Box<dyn TurnMessages> {
        let id = format!("turn-{}", self.turns.fetch_add(1, Ordering::Relaxed));
        let (speed, said) = (self.speed(&setup.voice), Arc::clone(&setup.pronunciation));
        Box::new(Context::new(id, Arc::clone(&self.peer), speed, said))
    }

    fn failure(&self, failure: SocketFailure<'_>) -> Error {
        failure::failure(&self.peer, failure)
    }
}
