//! A service's description of itself.
//!
//! Entry types: [`Info`], [`Program`]; [`describe`] asks for them. Missing and malformed parts are
//! left out.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{
    connection::connect,
    event::Event,
    failure::{Peer, Role},
};
use crate::provider::{
    Error, Kind, ListedVoice,
    bounds::{Count, EVENTS},
    language_code,
    nearest::nearest_names,
};

/// Longest wait for a description.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    hear: Vec<Program>,
    speak: Vec<Program>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    pub offers: Vec<Offer>,
    /// Returns transcripts, or takes texts, in pieces.
    pub streams: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Its name in requests: "en_US-joe-medium".
    pub name: String,
    pub speakers: Vec<String>,
    pub languages: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoiceName<'a> {
    pub name: &'a str,
    pub speaker: Option<&'a str>,
}

impl Info {
    pub fn read(data: &Map<String, Value>) -> Self {
        let programs = |domain: &str, offers: &str, streams: &str| {
            let programs = data.get(domain).and_then(Value::as_array);
            let read = |program: &Value| Program::read(program, offers, streams);
            programs.into_iter().flatten().filter_map(read).collect()
        };
        Self {
            hear: programs("asr", "models", "supports_transcript_streaming"),
            speak: programs("tts", "voices", "supports_synthesize_streaming"),
        }
    }

    /// The first program for the purpose of `peer`: requests do not name a program, and a service
    /// then uses its first.
    pub fn program(self, peer: &Peer) -> Result<Program, Error> {
        let (wanted, other, does) = match peer.role() {
            Role::Recogniser => (self.hear, self.speak, "speaks"),
            Role::Voice => (self.speak, self.hear, "hears"),
        };
        if let Some(program) = wanted.into_iter().next() {
            return Ok(program);
        }
        let noun = peer.role().noun();
        let what = match other.first() {
            Some(other) => format!("this is not a {noun}: it {does} ('{}')", other.name),
            None => format!("this is not a {noun}: it neither hears nor speaks"),
        };
        let way_out = format!("set base_url to a {noun}, {}", peer.role().example());
        Err(peer.error(Kind::Missing, &what, &way_out))
    }
}

impl Program {
    fn read(program: &Value, offers: &str, streams: &str) -> Option<Self> {
        let name = program.get("name")?.as_str()?.to_owned();
        let offers = program.get(offers).and_then(Value::as_array).into_iter().flatten();
        let streams = program.get(streams).and_then(Value::as_bool).unwrap_or(false);
        Some(Self { name, offers: offers.filter_map(Offer::read).collect(), streams })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.offers.iter().map(|offer| offer.name.as_str())
    }

    /// Checks that it has this model; a program that names no models accepts any. The error names
    /// similar ones.
    pub fn check_model(&self, model: &str, peer: &Peer) -> Result<(), Error> {
        if self.offers.is_empty() || self.names().any(|name| name == model) {
            return Ok(());
        }
        let way_out = nearest(model, &self.names().map(str::to_owned).collect::<Vec<_>>());
        Err(peer.error(Kind::Missing, &format!("unknown model '{model}'"), &way_out))
    }

    /// Its voices, and each speaker of voices with several; `None`: it names no voices.
    pub fn listed(&self) -> Option<Vec<ListedVoice>> {
        let listed = |offer: &Offer, id: String| {
            let mut languages: Vec<String> =
                offer.languages.iter().filter_map(|tag| language_code(tag)).collect();
            languages.dedup();
            ListedVoice { name: id.clone(), id, languages, about: self.name.clone() }
        };
        let of = |offer: &Offer| {
            let speakers = offer.speakers.iter().map(|it| format!("{}#{it}", offer.name));
            let ids = [offer.name.clone()].into_iter().chain(speakers);
            ids.map(|id| listed(offer, id)).collect::<Vec<_>>()
        };
        (!self.offers.is_empty()).then(|| self.offers.iter().flat_map(of).collect())
    }

    /// True if it hears this language; a program that names none hears any.
    pub fn hears(&self, language: &str) -> bool {
        let mut named = self.offers.iter().flat_map(|offer| &offer.languages).peekable();
        let is_it = |code: &String| code.split(['-', '_']).next() == Some(language);
        named.peek().is_none() || named.any(is_it)
    }

    /// The voice in `id`, which is NAME or NAME#SPEAKER; `None` for an empty `id`: the service's
    /// default. The error lists voices.
    pub fn voice<'a>(&self, id: &'a str, peer: &Peer) -> Result<Option<VoiceName<'a>>, Error> {
        if id.is_empty() {
            return Ok(None);
        }
        if self.offers.is_empty() || self.names().any(|name| name == id) {
            return Ok(Some(VoiceName { name: id, speaker: None }));
        }
        let (name, speaker) = id.split_once('#').unwrap_or((id, ""));
        let offer = self.offers.iter().find(|offer| offer.name == name);
        let (what, known): (String, Vec<String>) = match offer {
            Some(offer) if offer.speakers.iter().any(|known| known == speaker) => {
                return Ok(Some(VoiceName { name, speaker: Some(speaker) }));
            }
            Some(offer) => {
                let speakers = offer.speakers.iter().map(|speaker| format!("{name}#{speaker}"));
                (format!("the voice '{name}' has no speaker '{speaker}'"), speakers.collect())
            }
            None => (format!("unknown voice '{id}'"), self.names().map(str::to_owned).collect()),
        };
        Err(peer.error(Kind::Missing, &what, &nearest(id, &known)))
    }
}

impl Offer {
    fn read(offer: &Value) -> Option<Self> {
        let texts = |of: Option<&Value>, key: Option<&str>| {
            let all = of.and_then(Value::as_array).into_iter().flatten();
            let text =
                |it: &Value| key.map_or(Some(it), |key| it.get(key))?.as_str().map(str::to_owned);
            all.filter_map(text).collect()
        };
        Some(Self {
            name: offer.get("name")?.as_str()?.to_owned(),
            speakers: texts(offer.get("speakers"), Some("name")),
            languages: texts(offer.get("languages"), None),
        })
    }
}

fn nearest(name: &str, known: &[String]) -> String {
    let (near, has_more) = nearest_names(name, known.iter().map(String::as_str));
    if near.is_empty() {
        return "leave it out".to_owned();
    }
    let more = if has_more { ", …" } else { "" };
    format!("it has {}{more}", near.join(", "))
}

/// The service's program for the purpose of `peer`; an error if it has none or cannot be reached.
pub async fn describe(peer: &Peer) -> Result<Program, Error> {
    let until = Instant::now() + PATIENCE;
    let (mut to, mut from) = connect(peer, PATIENCE).await?;
    to.send(&Event::new("describe")).await?;
    let mut events = Count::within(EVENTS);
    while let Some(event) = from.event_by(until).await? {
        events.add(1).map_err(|bound| peer.flooding(bound))?;
        if event.kind == "info" {
            return Info::read(&event.data).program(peer);
        }
    }
    Err(peer.interrupted("it said what it is"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn info(value: Value) -> Info {
        let Value::Object(data) = value else { unreachable!("an object") };
        Info::read(&data)
    }

    fn peer(role: Role) -> Peer {
        Peer::new("tcp://127.0.0.1:1", role)
    }

    fn piper() -> Program {
        let voice = |name: &str, speakers: Value| json!({"name": name, "speakers": speakers});
        let voices = json!([
            voice("en_US-lessac-medium", Value::Null),
            voice("en_GB-alan-low", json!([])),
            voice("en_US-libritts-high", json!([{"name": "p3922"}, {"name": "p8699"}])),
            voice("de_DE-thorsten-medium", Value::Null),
            {"name": 7},
        ]);
        let info = info(json!({"tts": [{"name": "piper", "voices": voices,
            "supports_synthesize_streaming": true}], "asr": null}));
        info.program(&peer(Role::Voice)).unwrap()
    }

    #[test]
    fn voices_are_found_by_name_and_speaker() {
        let (piper, peer) = (piper(), peer(Role::Voice));
        assert!(piper.streams);
        let voice = |id| piper.voice(id, &peer);
        assert_eq!(voice("").unwrap(), None);
        let named = VoiceName { name: "en_GB-alan-low", speaker: None };
        assert_eq!(voice("en_GB-alan-low").unwrap(), Some(named));
        let named = VoiceName { name: "en_US-libritts-high", speaker: Some("p8699") };
        assert_eq!(voice("en_US-libritts-high#p8699").unwrap(), Some(named));
        for (id, expected) in [
            ("lessac", "unknown voice 'lessac' (it has en_US-lessac-medium, "),
            (
                "en_US-libritts-high#p1",
                "the voice 'en_US-libritts-high' has no speaker 'p1' (it has \
                 en_US-libritts-high#p3922, en_US-libritts-high#p8699)",
            ),
            ("en_GB-alan-low#x", "the voice 'en_GB-alan-low' has no speaker 'x' (leave it out)"),
        ] {
            let error = voice(id).unwrap_err();
            let said = error.to_string();
            assert!(said.starts_with(&format!("'tcp://127.0.0.1:1': {expected}")), "{said}");
            assert_eq!(error.kind(), Kind::Missing);
        }
    }

    #[test]
    fn voices_and_speakers_are_listed() {
        let voices = piper().listed().unwrap();
        let ids: Vec<&str> = voices.iter().map(|voice| voice.id.as_str()).collect();
        assert_eq!(ids[..3], ["en_US-lessac-medium", "en_GB-alan-low", "en_US-libritts-high"]);
        assert!(ids.contains(&"en_US-libritts-high#p8699") && ids.len() == 6, "{ids:?}");
        assert!(voices.iter().all(|voice| voice.about == "piper" && voice.languages.is_empty()));
        assert_eq!(Program::default().listed(), None);
    }

    #[test]
    fn wrong_service_type_is_named_in_error() {
        let speaks = json!({"tts": [{"name": "piper"}]});
        let error = info(speaks).program(&peer(Role::Recogniser)).unwrap_err().to_string();
        assert!(
            error.contains("this is not a recogniser: it speaks ('piper') (set base_url"),
            "{error}"
        );
        let error = info(json!({"tts": 7})).program(&peer(Role::Voice)).unwrap_err().to_string();
        assert!(error.contains("not a voice service: it neither hears nor speaks"), "{error}");
    }

    #[test]
    fn models_and_languages_are_checked_if_declared() {
        let asr = json!({"asr": [{"name": "vosk", "models": [
            {"name": "small", "languages": ["en_US", "de"]}, {"name": "large"}]}]});
        let vosk = info(asr).program(&peer(Role::Recogniser)).unwrap();
        assert!(!vosk.streams && vosk.hears("en") && vosk.hears("de") && !vosk.hears("fr"));
        assert!(Program::default().hears("fr"));
        let peer = peer(Role::Recogniser);
        assert!(vosk.check_model("large", &peer).is_ok());
        let error = vosk.check_model("smal", &peer).unwrap_err().to_string();
        assert!(error.ends_with("unknown model 'smal' (it has small, large)"), "{error}");
        assert!(Program::default().check_model("any", &peer).is_ok());
    }
}
