//! Text-to-speech of an OpenAI-compatible endpoint: one request per sentence.
//!
//! Entry type: [`Speech`], made from [`VoiceOptions`]. Requests raw PCM, or WAV if configured, and
//! reads either while it comes. The service applies the speed, we apply the pitch. OpenAI's models
//! that take a style in words get it.
//! **Never**: repeats a sentence that was partly heard.

mod listing;
mod options;

use std::{sync::Arc, time::Duration};

use futures::{
    StreamExt, TryStreamExt,
    stream::{self, BoxStream},
};
use reqwest::{Response, header::CONTENT_TYPE};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout, timeout_at};

pub use self::options::{SAMPLE_RATE, SoundFormat, VoiceOptions};
use super::{
    NAME,
    sound::{EVENT_STREAM, Sound, Unread},
};
use crate::{
    audio::{SampleRate, Shape},
    provider::{
        Attempts, DefaultId, Error, Kind, OneShot, Pcm, SpeakRequest, VoiceIds, VoiceTraits,
        remote::{Endpoint, Options, Retry, ServiceError},
        respell::respell,
        text_to_speech::written_speed,
    },
};

pub const VOICE_TRAITS: VoiceTraits = VoiceTraits {
    name: NAME,
    ids: VoiceIds::Unknown,
    default_id: DefaultId::Required,
    english_only: false,
    shifts_formants: false,
};

/// Longest style, in characters.
const STYLE_MAX: usize = 4_096;

pub struct Speech(Arc<Service>);

struct Service {
    endpoint: Endpoint,
    format: SoundFormat,
    /// Rate of sound without a header.
    sample_rate: SampleRate,
}

impl Speech {
    pub fn new(options: VoiceOptions) -> Result<Self, Error> {
        let rate = SampleRate::new(options.sample_rate);
        let sample_rate = rate.map_err(|e| Error::new(Kind::InvalidRequest, e.to_string()))?;
        let endpoint = Endpoint::new(options.reach)?;
        Ok(Self(Arc::new(Service { endpoint, format: options.format, sample_rate })))
    }
}

impl OneShot for Speech {
    fn name(&self) -> &str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        self.0.endpoint.options.priced_as.as_deref()
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let body = body(&self.0, &request);
        let pitch = request.voice.pitch_shift;
        let (service, attempts) = (Arc::clone(&self.0), request.attempts);
        let sentence = Sentence { service, body, pitch, attempts };
        stream::once(sentence.ask())
            .map_ok(|reading| stream::try_unfold(reading, Reading::next))
            .try_flatten()
            .boxed()
    }
}

fn body(service: &Service, request: &SpeakRequest) -> Value {
    let options = &service.endpoint.options;
    let mut body = Map::new();
    body.insert("model".into(), json!(options.model));
    body.insert("voice".into(), json!(request.voice.voice_id));
    body.insert("input".into(), json!(respell(&request.text, &request.pronunciation)));
    if let Some(speed) = written_speed(request.voice.speed_factor) {
        body.insert("speed".into(), json!(speed));
    }
    let style = request.style.as_deref().filter(|_| takes_style(&options.model));
    if let Some(style) = style {
        let style: String = style.chars().take(STYLE_MAX).collect();
        body.insert("instructions".into(), json!(style));
    }
    body.extend(options.extra_body.clone());
    body.insert("response_format".into(), json!(service.format.name()));
    Value::Object(body)
}

/// True for OpenAI's models since `gpt-4o-mini-tts`, also by a gateway's name for them. Older ones
/// take no style, and servers of others may refuse it.
fn takes_style(model: &str) -> bool {
    model.rsplit('/').next().is_some_and(|name| name.starts_with("gpt-"))
}

struct Sentence {
    service: Arc<Service>,
    body: Value,
    pitch: f32,
    attempts: Attempts,
}

struct Reading {
    sentence: Sentence,
    response: Response,
    sound: Sound,
    shape: Option<Shape>,
    started: bool,
    received: bool,
    ended: bool,
}

impl Sentence {
    /// Sends the request until an answer begins or retrying is pointless.
    async fn ask(self) -> Result<Reading, Error> {
        let endpoint = &self.service.endpoint;
        let mut retry = Retry::new(endpoint.options.first_byte_timeout, self.attempts.clone());
        let response = loop {
            match endpoint.post("/audio/speech", &self.body).await {
                Ok(response) => break response,
                Err(failure) if failure.names("response_format") => {
                    let what = format!("it has no sound as {}", self.service.format.name());
                    let way_out = "set response_format: wav, or pcm, in its entry";
                    return Err(endpoint.peer.error(Kind::InvalidRequest, &what, way_out));
                }
                Err(failure) => retry.again(failure.error).await?,
            }
        };
        let content_type = response.headers().get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_text = ["application/json", "text/"].iter().any(|it| content_type.starts_with(it));
        if is_text && !content_type.starts_with(EVENT_STREAM) {
            return Err(self.no_sound(response).await);
        }
        let sound = Sound::of(content_type, self.service.sample_rate);
        Ok(Reading {
            sentence: self,
            response,
            sound,
            shape: None,
            started: false,
            received: false,
            ended: false,
        })
    }

    async fn no_sound(&self, response: Response) -> Error {
        let endpoint = &self.service.endpoint;
        let answer = timeout(endpoint.options.idle_timeout, endpoint.json(response)).await;
        let value = answer.ok().and_then(Result::ok).unwrap_or_default();
        match ServiceError::read(&value) {
            Some(said) => self.failed(&said),
            None => self.not_understood("text"),
        }
    }

    fn failed(&self, said: &ServiceError) -> Error {
        self.service.endpoint.peer.service_error(said, None, &self.body)
    }

    fn unread(&self, why: Unread) -> Error {
        match why {
            Unread::NotPcm(what) => self.not_understood(&what),
            Unread::Said(said) => self.failed(&said),
            Unread::Short => self.service.endpoint.peer.interrupted(),
            Unread::Over(bound) => self.service.endpoint.peer.over(bound),
        }
    }

    fn not_understood(&self, what: &str) -> Error {
        let way_out = "set response_format: wav, or use a server that sends pcm or wav";
        let what = format!("the sound is not PCM but: {what}");
        self.service.endpoint.peer.error(Kind::Protocol, &what, way_out)
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
        let Options { idle_timeout, first_byte_timeout, .. } =
            self.sentence.service.endpoint.options;
        if self.started { idle_timeout } else { first_byte_timeout }
    }

    async fn read(&mut self, until: Instant) -> Result<Option<Pcm>, Error> {
        if self.sound.is_over() {
            return self.finish();
        }
        let peer = &self.sentence.service.endpoint.peer;
        match timeout_at(until, self.response.chunk()).await {
            Ok(Ok(Some(piece))) => {
                self.started = true;
                let samples = self.sound.push(&piece);
                self.shaped(samples)
            }
            Ok(Ok(None)) => self.finish(),
            Err(_) if !self.started => Err(peer.slow()),
            Ok(Err(_)) | Err(_) => Err(peer.interrupted()),
        }
    }

    fn shaped(&mut self, samples: Result<Vec<i16>, Unread>) -> Result<Option<Pcm>, Error> {
        let samples = samples.map_err(|why| self.sentence.unread(why))?;
        let Some(rate) = self.sound.rate() else { return Ok(None) };
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

    /// Returns the last samples, those still held by the shaping too; fails if there was no sound.
    fn finish(&mut self) -> Result<Option<Pcm>, Error> {
        self.ended = true;
        let last = self.sound.finish();
        let last = self.shaped(last)?;
        match (last, self.shape.take()) {
            (Some(mut last), Some(mut shape)) if self.received => {
                shape.finish(&mut last.samples);
                Ok(Some(last))
            }
            _ => Err(self.sentence.not_understood("empty")),
        }
    }
}

#[cfg(test)]
mod tests;
