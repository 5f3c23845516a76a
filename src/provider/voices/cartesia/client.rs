//! The service of one entry.
//!
//! Entry type: [`Cartesia`].

use std::sync::{Arc, atomic::AtomicU64};

use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderName, HeaderValue},
};
use serde_json::{Map, Value, json};

use super::{NAME, emotions::emotion, failure, turn::Turn};
use crate::{
    domain::Voice,
    provider::{
        Error, Kind, SynthesisSetup,
        sockets::{Handshake, Reason},
        text_to_speech::written_speed,
        voices::socket::{Dialect, Limits, Options, Peer, SocketFailure, TurnMessages},
    },
};

/// Header with the version of the service's API, which decides the shape of voices and errors.
const VERSION: (&str, &str) = ("cartesia-version", "2026-03-01");
/// The service's bounds of its own speed.
const SPEEDS: (f32, f32) = (0.6, 1.5);
const NO_ADDRESS: Reason = (
    Kind::InvalidRequest,
    "no usable address",
    "set base_url to an address such as https://api.cartesia.ai",
);

pub struct Cartesia {
    pub options: Options,
    pub peer: Arc<Peer>,
    handshake: Handshake,
    /// Contexts so far; they are named by it.
    contexts: Arc<AtomicU64>,
}

impl Cartesia {
    /// Fails for an unusable address or key, or without certificates for a TLS address.
    pub fn new(options: Options) -> Result<Self, Error> {
        let peer = Arc::new(Peer::new(NAME, &options));
        let url = options.address(&[]).ok_or_else(|| peer.reason(NO_ADDRESS))?;
        let key = options.api_key.as_ref();
        let handshake = Handshake::new(&url, (AUTHORIZATION, "Bearer "), key, NO_ADDRESS);
        let handshake = handshake.map_err(|reason| peer.reason(reason))?;
        let (name, version) = VERSION;
        let (name, version) = (HeaderName::from_static(name), HeaderValue::from_static(version));
        let handshake = handshake.with(name, version);
        Ok(Self { options, peer, handshake, contexts: Arc::default() })
    }

    /// Members that all messages of a turn have in common; the service refuses others within a
    /// context.
    fn request(&self, setup: &SynthesisSetup) -> Map<String, Value> {
        let mut request = Map::new();
        let mut set = |key: &str, value: Value| request.insert(key.to_owned(), value);
        set("model_id", json!(self.options.model));
        set("voice", json!({"mode": "id", "id": setup.voice.voice_id}));
        let output = json!({"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000});
        set("output_format", output);
        // Sentences come whole, so the service need not wait for more of them.
        set("max_buffer_delay_ms", json!(0));
        set("add_timestamps", json!(true));
        let languages = [&setup.language, &self.options.language];
        if let Some(language) = languages.into_iter().find(|it| !it.is_empty()) {
            set("language", json!(language));
        }
        let mut config = Map::new();
        if let Some(speed) = written_speed(self.speed(&setup.voice)) {
            config.insert("speed".to_owned(), json!(speed));
        }
        if let Some(emotion) = setup.style.as_deref().and_then(emotion) {
            config.insert("emotion".to_owned(), json!(emotion));
        }
        if !config.is_empty() {
            set("generation_config", Value::Object(config));
        }
        request
    }
}

impl Dialect for Cartesia {
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

    /// The same for all voices, which are named in the messages.
    fn address(&self, setup: &SynthesisSetup) -> Result<Url, Error> {
        if setup.voice.voice_id.trim().is_empty() {
            let fix = "use an id from the service's list of voices";
            return Err(self.peer.error(Kind::InvalidRequest, "the voice_id is empty", fix));
        }
        let address = self.options.address(&["tts", "websocket"]);
        address.ok_or_else(|| self.peer.reason(NO_ADDRESS))
    }

    fn speed(&self, voice: &Voice) -> f32 {
        let (slowest, fastest) = SPEEDS;
        voice.speed_factor.clamp(slowest, fastest)
    }

    fn line(&self, setup: &SynthesisSetup) -> Box<dyn TurnMessages> {
        let (peer, contexts) = (Arc::clone(&self.peer), Arc::clone(&self.contexts));
        let said = Arc::clone(&setup.pronunciation);
        Box::new(Turn::new(peer, contexts, self.request(setup), said))
    }

    fn failure(&self, failure: SocketFailure<'_>) -> Error {
        failure::failure(&self.peer, failure)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::MODEL, *};

    fn setup(voice: &str, speed_factor: f32, language: &str) -> SynthesisSetup {
        let voice = Voice { speed_factor, ..Voice::as_is(NAME, voice) };
        let (language, pronunciation) = (language.to_owned(), Arc::from([]));
        SynthesisSetup { voice, language, pronunciation, style: None }
    }

    #[test]
    fn voices_share_one_address() {
        let service = Cartesia::new(Options::of_tests("http://127.0.0.1:9/", MODEL)).unwrap();
        let address = |voice: &str| service.address(&setup(voice, 1.0, "")).map(String::from);
        assert_eq!(address("a").unwrap(), "http://127.0.0.1:9/tts/websocket");
        assert_eq!(address("a").unwrap(), address("b").unwrap());
        assert_eq!(address(" ").unwrap_err().kind(), Kind::InvalidRequest);
    }

    #[test]
    fn request_has_speed_and_language() {
        let service = Cartesia::new(Options::of_tests("http://127.0.0.1:9/", MODEL)).unwrap();
        let plain = service.request(&setup("a", 1.0, ""));
        assert_eq!(plain["language"], json!("en"));
        assert_eq!(plain["voice"], json!({"mode": "id", "id": "a"}));
        assert!(!plain.contains_key("generation_config"));
        let quick = service.request(&setup("a", 1.1, "de"));
        assert_eq!(quick["language"], json!("de"));
        assert_eq!(quick["generation_config"], json!({"speed": 1.1}));
        let quickest = service.request(&setup("a", 2.0, "de"));
        assert_eq!(quickest["generation_config"], json!({"speed": 1.5}));
    }

    #[test]
    fn request_has_the_emotion_of_its_style() {
        let service = Cartesia::new(Options::of_tests("http://127.0.0.1:9/", MODEL)).unwrap();
        let request = |style: &str, speed_factor: f32| {
            let style = Some(Arc::from(style));
            service.request(&SynthesisSetup { style, ..setup("a", speed_factor, "") })
        };
        let angry = request("Angry. You owe Anna money.", 1.1);
        assert_eq!(angry["generation_config"], json!({"speed": 1.1, "emotion": "angry"}));
        assert_eq!(request("Sad", 1.0)["generation_config"], json!({"emotion": "sad"}));
        let other = request("You owe Anna money.", 1.0);
        assert!(!other.contains_key("generation_config"), "{other:?}");
    }
}
