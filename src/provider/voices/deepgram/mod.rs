//! Deepgram as a voice service, over WebSockets: Aura speaks what is flushed, Flux speaks in turns.
//!
//! Entry types: [`Deepgram`], made from [`Options`]; [`probe`]. The voice is the service's whole
//! model name ("aura-2-thalia-en"), and decides the family ([`Family`]). **Never**: the key or the
//! speech in the log.

mod aura;
mod flux;
mod list;
mod orders;
mod said;
mod spent;

use std::{sync::Arc, time::Duration};

use reqwest::{Url, header::AUTHORIZATION};
use tokio::time::{Instant, timeout};

use self::{aura::Aura, flux::Flux, spent::Spent};
use super::socket::{Dialect, Limits, SocketFailure, TurnMessages};
use crate::{
    domain::{Secret, Voice},
    provider::{
        DefaultId, Error, Kind, SynthesisSetup, VoiceIds, VoiceTraits,
        deepgram::{NAME, Peer},
        service::ServiceInfo,
        sockets::Handshake,
        text_to_speech::written_speed,
    },
};

pub const TRAITS: VoiceTraits = VoiceTraits {
    name: NAME,
    ids: VoiceIds::Shaped {
        fits: |id| Family::of(id).is_some(),
        hint: "name a voice with its whole model, such as aura-2-thalia-en or flux-haley-en",
    },
    default_id: DefaultId::Required,
    english_only: false,
    shifts_formants: false,
};

/// Voice with which the service is tried.
const TRIED: &str = "aura-2-thalia-en";

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Root of its paths (`https://api.deepgram.com`).
    pub base_url: String,
    /// A stand-in on this machine needs none.
    pub api_key: Option<Secret>,
    /// Most open sockets; `None`: the plan's limit.
    pub max_streams: Option<usize>,
    pub first_byte_timeout: Duration,
    pub idle_timeout: Duration,
    /// Name in the price list; `None`: free.
    pub priced_as: Option<String>,
}

impl Options {
    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::at("Deepgram", &self.base_url)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// `/v1/speak`.
    Aura,
    /// `/v2/speak`.
    Flux,
}

impl Family {
    /// `None`: `voice` is not a name of the service's voices.
    fn of(voice: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let (family, name) = voice.split_once('-')?;
        match family {
            _ if name.is_empty() || !name.chars().all(is_plain) => None,
            "aura" => Some(Self::Aura),
            "flux" => Some(Self::Flux),
            _ => None,
        }
    }

    /// Speed nearest to that of `voice` which the service takes.
    fn speed(self, voice: &Voice) -> f32 {
        let (slowest, fastest) = match self {
            Self::Flux => (0.5, 1.5),
            Self::Aura if voice.voice_id.ends_with("-en") => (0.7, 1.5),
            // Slower, it stumbles.
            Self::Aura if voice.voice_id.ends_with("-es") => (0.9, 1.5),
            Self::Aura => return 1.0,
        };
        let speed = voice.speed_factor.clamp(slowest, fastest);
        // In steps of 0.05, which Flux requires.
        (speed * 20.0).round() / 20.0
    }
}

pub struct Deepgram {
    options: Options,
    peer: Arc<Peer>,
    handshake: Handshake,
    spent: Arc<Spent>,
}

impl Deepgram {
    /// Fails for an unusable address or key, or without certificates for a TLS address.
    pub fn new(options: Options) -> Result<Self, Error> {
        let peer = Arc::new(Peer::of_voices(&options.base_url, options.api_key.clone()));
        let no_address = (
            Kind::InvalidRequest,
            "no usable address",
            "set base_url to an address such as https://api.deepgram.com",
        );
        let failed = |(kind, what, fix)| peer.error(kind, what, fix);
        let url = Url::parse(&options.base_url).map_err(|_| failed(no_address))?;
        let key = options.api_key.as_ref();
        let handshake =
            Handshake::new(&url, (AUTHORIZATION, "Token "), key, no_address).map_err(failed)?;
        Ok(Self { options, peer, handshake, spent: Arc::default() })
    }

    /// Address of sockets for `voice`.
    fn url(&self, voice: &Voice) -> Result<Url, Error> {
        let failed = |what: &str, fix| self.peer.error(Kind::InvalidRequest, what, fix);
        let Some(family) = Family::of(&voice.voice_id) else {
            let what = format!("it has no voice '{}'", voice.voice_id);
            return Err(failed(&what, "name one such as aura-2-thalia-en"));
        };
        let path = match family {
            Family::Aura => "/v1/speak",
            Family::Flux => "/v2/speak",
        };
        let base = self.options.base_url.trim_end_matches('/');
        let mut url = Url::parse(&format!("{base}{path}"))
            .map_err(|_| failed("no usable address", "check base_url"))?;
        let mut query = url.query_pairs_mut();
        query.append_pair("model", &voice.voice_id);
        query.append_pair("encoding", "linear16").append_pair("sample_rate", "24000");
        // Some voices refuse any.
        if let Some(speed) = written_speed(family.speed(voice)) {
            query.append_pair("speed", &speed.to_string());
        }
        drop(query);
        Ok(url)
    }
}

impl Dialect for Deepgram {
    fn name(&self) -> &'static str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        self.options.priced_as.as_deref()
    }

    fn limits(&self) -> Limits {
        let Options { max_streams, first_byte_timeout, idle_timeout, .. } = self.options;
        Limits { max_streams, first_byte_timeout, idle_timeout }
    }

    fn handshake(&self) -> &Handshake {
        &self.handshake
    }

    fn address(&self, setup: &SynthesisSetup) -> Result<Url, Error> {
        let mut url = self.url(&setup.voice)?;
        if Family::of(&setup.voice.voice_id) == Some(Family::Aura) {
            // A fragment is not sent: it only keeps sockets apart.
            let number = self.spent.socket(url.as_str(), Instant::now());
            url.set_fragment(Some(&number.to_string()));
        }
        Ok(url)
    }

    fn speed(&self, voice: &Voice) -> f32 {
        Family::of(&voice.voice_id).map_or(1.0, |family| family.speed(voice))
    }

    fn line(&self, setup: &SynthesisSetup) -> Box<dyn TurnMessages> {
        let (peer, pronunciation) = (Arc::clone(&self.peer), Arc::clone(&setup.pronunciation));
        match Family::of(&setup.voice.voice_id) {
            Some(Family::Flux) => Box::new(Flux::new(peer, pronunciation)),
            Some(Family::Aura) | None => {
                let address = self.url(&setup.voice).map(String::from).unwrap_or_default();
                let spent = Arc::clone(&self.spent);
                Box::new(Aura::new(peer, pronunciation, spent, address))
            }
        }
    }

    fn failure(&self, failure: SocketFailure<'_>) -> Error {
        let peer = &self.peer;
        match failure {
            SocketFailure::NotOpened(why) => peer.not_opened(why),
            SocketFailure::Slow => peer.slow(),
            SocketFailure::Silent => peer.stopped(),
            SocketFailure::Full(most) => peer.full(most),
            SocketFailure::Closed(frame) => peer.closed(frame),
            SocketFailure::Broken(error) => peer.broken(error),
            SocketFailure::Flooding(bound) => peer.flooding(bound),
            SocketFailure::NoSound => peer.soundless(),
        }
    }
}

/// Checks that the service accepts the key, without having anything spoken; returns one line for a
/// report.
pub async fn probe(options: Options) -> Result<String, Error> {
    let service = Deepgram::new(options)?;
    let url = service.url(&Voice::as_is(NAME, TRIED))?;
    let begun = Instant::now();
    let opening = service.handshake.open(url);
    let opened = timeout(service.options.first_byte_timeout, opening).await;
    let opened = opened.map_err(|_| service.peer.slow())?;
    opened.map_err(|why| service.peer.not_opened(&why))?;
    Ok(format!("opens a socket for '{TRIED}' in {} ms", begun.elapsed().as_millis()))
}

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::Message;

    use super::*;
    use crate::provider::{
        Attempts, Sentence,
        deepgram::{FIRST_BYTE_TIMEOUT, IDLE_TIMEOUT},
    };

    const HERE: &str = "http://127.0.0.1:9/";

    fn options(base_url: &str) -> Options {
        Options {
            base_url: base_url.to_owned(),
            api_key: Some(Secret("dg-very-secret".to_owned())),
            max_streams: None,
            first_byte_timeout: FIRST_BYTE_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            priced_as: None,
        }
    }

    fn setup(voice: &str, speed_factor: f32) -> SynthesisSetup {
        let voice = Voice { speed_factor, ..Voice::as_is(NAME, voice) };
        let (language, pronunciation) = ("en".to_owned(), Arc::from([]));
        SynthesisSetup { voice, language, pronunciation, style: None }
    }

    fn address(voice: &str, speed: f32) -> String {
        let service = Deepgram::new(options(HERE)).unwrap();
        let url = service.address(&setup(voice, speed)).unwrap();
        format!("{}?{}", url.path(), url.query().unwrap())
    }

    #[test]
    fn voice_decides_the_family() {
        assert_eq!(
            address("aura-2-thalia-en", 1.0),
            "/v1/speak?model=aura-2-thalia-en&encoding=linear16&sample_rate=24000"
        );
        assert_eq!(
            address("flux-haley-en", 0.85),
            "/v2/speak?model=flux-haley-en&encoding=linear16&sample_rate=24000&speed=0.85"
        );
        for id in ["", "aura", "aura-", "nova-3", "flux-Haley-en", "aura-2-x&speed=2", "Aura-2-x"] {
            assert_eq!(Family::of(id), None, "{id}");
        }
        let service = Deepgram::new(options(HERE)).unwrap();
        let error = service.address(&setup("alloy", 1.0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "'http://127.0.0.1:9': it has no voice 'alloy' (name one such as aura-2-thalia-en)"
        );
    }

    #[test]
    fn speed_is_one_that_the_voice_takes() {
        let speed = |voice: &str, factor| {
            let query = address(voice, factor);
            query.split_once("speed=").map(|(_, speed)| speed.to_owned())
        };
        let cases = [
            ("flux-haley-en", 1.23, Some("1.25")),
            ("flux-haley-en", 2.0, Some("1.5")),
            ("flux-haley-en", 1.01, None),
            ("aura-2-thalia-en", 0.5, Some("0.7")),
            ("aura-2-selena-es", 0.5, Some("0.9")),
            ("aura-2-fabian-de", 1.5, None),
        ];
        for (voice, factor, wanted) in cases {
            assert_eq!(speed(voice, factor).as_deref(), wanted, "{voice} {factor}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn busy_voice_gets_another_socket() {
        let service = Deepgram::new(options(HERE)).unwrap();
        let aura = setup("aura-2-thalia-en", 1.0);
        let attempts = Attempts::default();
        let sentence = Sentence { text: "Aye.".to_owned(), foreign: None, attempts };
        let first = service.address(&aura).unwrap();
        let mut line = service.line(&aura);
        (0..9).for_each(|_| drop(line.say(&sentence)));
        assert_eq!(service.address(&aura).unwrap(), first);
        drop(line.say(&sentence));
        let other = service.address(&aura).unwrap();
        assert_ne!(other, first);
        assert_eq!((other.path(), other.query()), (first.path(), first.query()));
        let slower = service.address(&setup("aura-2-thalia-en", 0.9)).unwrap();
        assert_eq!(slower.fragment(), Some("0"));
        let warning = Message::text(r#"{"type":"Warning","code":"X"}"#);
        assert_eq!(line.read(&warning).unwrap(), [], "not for a limit");
        (0..21).for_each(|_| drop(line.say(&sentence)));
        let limited = Kind::RateLimited { retry_after: None };
        assert_eq!(line.read(&warning).unwrap_err().kind(), limited);
    }

    #[test]
    fn key_never_prints() {
        assert!(!format!("{:?}", options(HERE)).contains("very"));
    }
}
