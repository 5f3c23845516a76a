//! Text-to-speech behind an OpenAI-compatible endpoint: one request a sentence.
//!
//! Entry type: [`Speech`]. Raw PCM is asked for and given on as it comes; WAV is understood too.
//! The service makes the speed, we make the pitch.
//! **Never**: a second request for a sentence of which something was heard.

use std::sync::Arc;

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use reqwest::{Response, header::CONTENT_TYPE};
use serde_json::{Map, Value, json};

use super::{NAME, Options, endpoint::Endpoint, pcm::Reader, retry::Retry, wire::ServiceError};
use crate::{
    audio::{SampleRate, Shape},
    domain::Pronunciation,
    provider::{
        Attempts, DefaultId, Error, Kind, Pcm, SpeakRequest, TextToSpeech, VoiceIds, VoiceTraits,
    },
};

/// What it is before anything is spoken.
pub const VOICE_TRAITS: VoiceTraits = VoiceTraits {
    name: NAME,
    ids: VoiceIds::Unknown,
    default_id: DefaultId::Required,
    english_only: false,
};

/// Voices at an endpoint.
pub struct Speech {
    endpoint: Arc<Endpoint>,
}

impl Speech {
    /// # Errors
    /// An address or key that cannot be used.
    pub fn new(options: Options) -> Result<Self, Error> {
        Ok(Self { endpoint: Arc::new(Endpoint::new(options)?) })
    }
}

impl TextToSpeech for Speech {
    fn name(&self) -> &str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        self.endpoint.options.priced_as.as_deref()
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let body = body(&self.endpoint.options, &request);
        let pitch = request.voice.pitch_shift;
        let (endpoint, attempts) = (self.endpoint.clone(), request.attempts);
        let sentence = Sentence { endpoint, body, pitch, attempts, phase: Phase::Ask };
        stream::unfold(sentence, |mut sentence| async {
            let piece = sentence.next().await?;
            Some((piece, sentence))
        })
        .boxed()
    }
}

fn body(options: &Options, request: &SpeakRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(options.model));
    body.insert("voice".into(), json!(request.voice.voice_id));
    body.insert("input".into(), json!(respelled(&request.text, &request.pronunciation)));
    let speed = request.voice.speed_factor;
    if (speed - 1.0).abs() > f32::EPSILON {
        // Through text: 1.1 stays 1.1.
        let exact = speed.to_string().parse::<f64>().unwrap_or(1.0);
        body.insert("speed".into(), json!(exact));
    }
    body.extend(options.extra_body.clone());
    body.insert("response_format".into(), json!("pcm"));
    Value::Object(body)
}

/// `text` with whole words replaced by how they are said, upper and lower case alike.
pub fn respelled(text: &str, pronunciation: &[Pronunciation]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let follows_word = out.chars().next_back().is_some_and(char::is_alphanumeric);
        let entry = pronunciation.iter().filter(|_| !follows_word).find_map(|entry| {
            let tail = after_word(rest, &entry.word)?;
            Some((entry, tail))
        });
        match entry {
            Some((entry, tail)) => {
                out.push_str(&entry.respelling);
                rest = tail;
            }
            None => {
                out.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
    }
    out
}

/// What follows `word` at the start of `text`, when it stands there as a whole word.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut chars = text.chars();
    let is_same = |a: char, b: char| a == b || a.to_lowercase().eq(b.to_lowercase());
    let is_there = word.chars().all(|wanted| chars.next().is_some_and(|c| is_same(c, wanted)));
    let tail = chars.as_str();
    let ends = !tail.starts_with(char::is_alphanumeric);
    (is_there && ends && !word.is_empty()).then_some(tail)
}

/// One sentence on its way.
struct Sentence {
    endpoint: Arc<Endpoint>,
    body: Value,
    pitch: f32,
    attempts: Attempts,
    phase: Phase,
}

enum Phase {
    Ask,
    Read(Box<Reading>),
    Over,
}

struct Reading {
    response: Response,
    pcm: Reader,
    shape: Option<Shape>,
    started: bool,
    /// Sound was given on.
    received: bool,
}

impl Sentence {
    async fn next(&mut self) -> Option<Result<Pcm, Error>> {
        loop {
            match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Over => return None,
                Phase::Ask => match self.ask().await {
                    Ok(reading) => self.phase = Phase::Read(Box::new(reading)),
                    Err(error) => return Some(Err(error)),
                },
                Phase::Read(mut reading) => match self.read(&mut reading).await {
                    Ok(Some(pcm)) => {
                        self.phase = Phase::Read(reading);
                        if !pcm.samples.is_empty() {
                            return Some(Ok(pcm));
                        }
                    }
                    Ok(None) => return self.finish(&mut reading),
                    Err(error) => return Some(Err(error)),
                },
            }
        }
    }

    async fn ask(&mut self) -> Result<Reading, Error> {
        let mut retry = Retry::new(self.endpoint.options.first_byte_timeout, self.attempts.clone());
        let response = loop {
            match self.endpoint.post("/audio/speech", &self.body).await {
                Ok(response) => break response,
                Err(failure) => retry.again(failure.error).await?,
            }
        };
        let content_type = response.headers().get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
        if content_type.starts_with("application/json") || content_type.starts_with("text/") {
            return Err(self.no_sound(response).await);
        }
        let pcm = Reader::new();
        Ok(Reading { response, pcm, shape: None, started: false, received: false })
    }

    /// The error in an answer that is text.
    #[expect(
        clippy::needless_pass_by_ref_mut,
        reason = "shared, it would have to be Sync, which a resampler is not"
    )]
    async fn no_sound(&mut self, mut response: Response) -> Error {
        let peer = &self.endpoint.peer;
        let idle = self.endpoint.options.idle_timeout;
        let first = tokio::time::timeout(idle, response.chunk()).await;
        let body = first.ok().and_then(Result::ok).flatten().unwrap_or_default();
        let value: Value = serde_json::from_slice(&body).unwrap_or_default();
        match ServiceError::read(&value) {
            Some(said) => peer.service_error(&said, None, &self.body),
            None => self.not_understood("text"),
        }
    }

    /// The next sound, shaped; `None` at the end.
    #[expect(
        clippy::needless_pass_by_ref_mut,
        reason = "shared, it would have to be Sync, which a resampler is not"
    )]
    async fn read(&mut self, reading: &mut Reading) -> Result<Option<Pcm>, Error> {
        let endpoint = &self.endpoint;
        let Options { idle_timeout, first_byte_timeout, .. } = endpoint.options;
        let patience = if reading.started { idle_timeout } else { first_byte_timeout };
        let piece = match tokio::time::timeout(patience, reading.response.chunk()).await {
            Ok(Ok(Some(piece))) => piece,
            Ok(Ok(None)) => return Ok(None),
            Err(_) if !reading.started => return Err(endpoint.peer.slow()),
            Ok(Err(_)) | Err(_) => return Err(endpoint.peer.interrupted()),
        };
        reading.started = true;
        let samples =
            reading.pcm.push(&piece).map_err(|what| self.not_understood(&what.to_string()))?;
        let Some(rate) = reading.pcm.rate() else {
            return Ok(Some(Pcm { samples: Vec::new(), rate: SampleRate::HZ_24000 }));
        };
        reading.received |= !samples.is_empty();
        let shape = match &mut reading.shape {
            Some(shape) => shape,
            none => {
                let shape = Shape::new(rate, self.pitch, 1.0);
                none.insert(shape.map_err(|e| Error::new(Kind::InvalidRequest, e.to_string()))?)
            }
        };
        let mut shaped = Vec::with_capacity(samples.len());
        shape.push(&samples, &mut shaped);
        Ok(Some(Pcm { samples: shaped, rate }))
    }

    /// The end of the body: what the shaping still held, or the lack of any sound.
    #[expect(
        clippy::needless_pass_by_ref_mut,
        reason = "shared, it would have to be Sync, which a resampler is not"
    )]
    fn finish(&mut self, reading: &mut Reading) -> Option<Result<Pcm, Error>> {
        if !reading.received {
            return Some(Err(self.not_understood("empty")));
        }
        let mut samples = Vec::new();
        reading.shape.take()?.finish(&mut samples);
        let rate = reading.pcm.rate()?;
        (!samples.is_empty()).then_some(Ok(Pcm { samples, rate }))
    }

    fn not_understood(&self, what: &str) -> Error {
        let way_out = "use a service that knows response_format pcm";
        let what = format!("the sound is not 16-bit PCM but: {what}");
        self.endpoint.peer.error(Kind::Protocol, &what, way_out)
    }
}

#[cfg(test)]
mod tests;
