//! Text-to-speech of an OpenAI-compatible endpoint: one request per sentence.
//!
//! Entry type: [`Speech`]. Requests raw PCM and streams it; also reads WAV. The service applies the
//! speed, we apply the pitch. **Never**: repeats a sentence that was partly heard.

use std::{sync::Arc, time::Duration};

use futures::{
    StreamExt, TryStreamExt,
    stream::{self, BoxStream},
};
use reqwest::{Response, header::CONTENT_TYPE};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use super::{NAME, pcm::Reader};
use crate::{
    audio::Shape,
    provider::{
        Attempts, DefaultId, Error, Kind, OneShot, Pcm, SpeakRequest, VoiceIds, VoiceTraits,
        remote::{Endpoint, Options, Retry, ServiceError},
        respell::respell,
    },
};

pub const VOICE_TRAITS: VoiceTraits = VoiceTraits {
    name: NAME,
    ids: VoiceIds::Unknown,
    default_id: DefaultId::Required,
    english_only: false,
    shifts_formants: false,
};

pub struct Speech {
    endpoint: Arc<Endpoint>,
}

impl Speech {
    pub fn new(options: Options) -> Result<Self, Error> {
        Ok(Self { endpoint: Arc::new(Endpoint::new(options)?) })
    }
}

impl OneShot for Speech {
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
        let sentence = Sentence { endpoint, body, pitch, attempts };
        stream::once(sentence.ask())
            .map_ok(|reading| stream::try_unfold(reading, Reading::next))
            .try_flatten()
            .boxed()
    }
}

fn body(options: &Options, request: &SpeakRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(options.model));
    body.insert("voice".into(), json!(request.voice.voice_id));
    body.insert("input".into(), json!(respell(&request.text, &request.pronunciation)));
    let speed = request.voice.speed_factor;
    if (speed - 1.0).abs() > f32::EPSILON {
        // Parsed from text, so that 1.1 stays 1.1.
        let exact = speed.to_string().parse::<f64>().unwrap_or(1.0);
        body.insert("speed".into(), json!(exact));
    }
    body.extend(options.extra_body.clone());
    body.insert("response_format".into(), json!("pcm"));
    Value::Object(body)
}

struct Sentence {
    endpoint: Arc<Endpoint>,
    body: Value,
    pitch: f32,
    attempts: Attempts,
}

struct Reading {
    sentence: Sentence,
    response: Response,
    pcm: Reader,
    shape: Option<Shape>,
    started: bool,
    received: bool,
    ended: bool,
}

impl Sentence {
    /// Sends the request until an answer begins or retrying is pointless.
    async fn ask(self) -> Result<Reading, Error> {
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
        Ok(Reading {
            sentence: self,
            response,
            pcm: Reader::new(),
            shape: None,
            started: false,
            received: false,
            ended: false,
        })
    }

    async fn no_sound(&self, mut response: Response) -> Error {
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

    fn not_understood(&self, what: &str) -> Error {
        let way_out = "use a service that knows response_format pcm";
        let what = format!("the sound is not 16-bit PCM but: {what}");
        self.endpoint.peer.error(Kind::Protocol, &what, way_out)
    }
}

impl Reading {
    /// The next shaped sound; at the end, samples still held by the shaping.
    async fn next(mut self) -> Result<Option<(Pcm, Self)>, Error> {
        let mut until = Instant::now() + self.patience();
        while !self.ended {
            let is_first = !self.started;
            let pcm = self.read(until).await?;
            if is_first {
                until = Instant::now() + self.patience();
            }
            if let Some(pcm) = pcm.filter(|pcm| !pcm.samples.is_empty()) {
                return Ok(Some((pcm, self)));
            }
        }
        Ok(None)
    }

    /// Longest wait for the next sound; incomplete pieces do not extend it.
    fn patience(&self) -> Duration {
        let Options { idle_timeout, first_byte_timeout, .. } = self.sentence.endpoint.options;
        if self.started { idle_timeout } else { first_byte_timeout }
    }

    async fn read(&mut self, until: Instant) -> Result<Option<Pcm>, Error> {
        let endpoint = &self.sentence.endpoint;
        match timeout_at(until, self.response.chunk()).await {
            Ok(Ok(Some(piece))) => self.shaped(&piece),
            Ok(Ok(None)) => self.finish(),
            Err(_) if !self.started => Err(endpoint.peer.slow()),
            Ok(Err(_)) | Err(_) => Err(endpoint.peer.interrupted()),
        }
    }

    fn shaped(&mut self, piece: &[u8]) -> Result<Option<Pcm>, Error> {
        self.started = true;
        let samples = self.pcm.push(piece);
        let samples = samples.map_err(|what| self.sentence.not_understood(&what.to_string()))?;
        let Some(rate) = self.pcm.rate() else { return Ok(None) };
        self.received |= !samples.is_empty();
        let shape = match &mut self.shape {
            Some(shape) => shape,
            none => {
                let shape = Shape::new(rate, self.sentence.pitch, 1.0);
                none.insert(shape.map_err(|e| Error::new(Kind::InvalidRequest, e.to_string()))?)
            }
        };
        let mut shaped = Vec::with_capacity(samples.len());
        shape.push(&samples, &mut shaped);
        Ok(Some(Pcm { samples: shaped, rate }))
    }

    /// Returns samples still held by the shaping; fails if there was no sound.
    fn finish(&mut self) -> Result<Option<Pcm>, Error> {
        self.ended = true;
        if !self.received {
            return Err(self.sentence.not_understood("empty"));
        }
        let mut samples = Vec::new();
        if let Some(mut shape) = self.shape.take() {
            shape.finish(&mut samples);
        }
        Ok(self.pcm.rate().map(|rate| Pcm { samples, rate }))
    }
}

#[cfg(test)]
mod tests;
