//! Speech-to-text of an OpenAI-compatible endpoint: one upload per utterance, without partials.
//!
//! Entry type: [`Transcription`]. The content type decides how the answer is read: JSON, plain
//! text, or an event stream.

use std::{
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{
    FutureExt,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use reqwest::{
    Response,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue},
    multipart::{Form, Part},
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::NAME;
use crate::{
    audio::{self, Clip, SampleRate, write_wav},
    provider::{
        Attempts, Error, Kind, SpeechEvent, SpeechToText, SttAbilities,
        remote::{Decoder, Endpoint, Frame, Options, Retry, ServiceError},
    },
};

/// Longest utterance, in samples: ten minutes, below every service's upload limit.
const MAX_SAMPLES: usize = 16_000 * 600;
/// Longest wait of [`SpeechToText::ready`].
const READY_TIMEOUT: Duration = Duration::from_secs(3);

/// Bytes: Whisper reads the last 224 tokens, at about three letters of a name per token.
const PROMPT_MAX: usize = 600;
const PROMPT: &str = "prompt";
/// Fewest consecutive names that count as an echo of the prompt.
const ECHO: usize = 3;

pub struct Transcription {
    endpoint: Arc<Endpoint>,
    language: Option<String>,
    prompt: RwLock<Arc<str>>,
    /// Set once the service refused an utterance with names and accepted it without.
    is_plain: Arc<AtomicBool>,
}

impl Transcription {
    /// `language` is an ISO 639-1 code; `None`: the service detects it.
    pub fn new(options: Options, language: Option<String>) -> Result<Self, Error> {
        let (prompt, is_plain) = (RwLock::new(Arc::from("")), Arc::default());
        Ok(Self { endpoint: Arc::new(Endpoint::new(options)?), language, prompt, is_plain })
    }

    /// A client without expected names that shares traits learnt about the service.
    pub fn for_another_table(&self) -> Self {
        Self {
            endpoint: Arc::clone(&self.endpoint),
            language: self.language.clone(),
            prompt: RwLock::new(Arc::from("")),
            is_plain: Arc::clone(&self.is_plain),
        }
    }
}

impl SpeechToText for Transcription {
    fn name(&self) -> &str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        self.endpoint.options.priced_as.as_deref()
    }

    fn abilities(&self) -> SttAbilities {
        SttAbilities::default()
    }

    fn expect(&self, names: &dyn Fn() -> Vec<String>) {
        let prompt = Arc::from(prompt_of(&names()));
        *self.prompt.write().unwrap_or_else(PoisonError::into_inner) = prompt;
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        let endpoint = self.endpoint.clone();
        async move {
            // Any answer but a refused key shows that the service is up.
            match endpoint.models(READY_TIMEOUT).await.map_err(|failure| failure.error) {
                Err(error) if error.kind() == Kind::InvalidRequest => Ok(()),
                other => other.map(drop),
            }
        }
        .boxed()
    }

    fn listen(
        &self,
        mut audio: mpsc::Receiver<audio::Frame>,
        attempts: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let endpoint = self.endpoint.clone();
        let language = self.language.clone();
        let prompt = Arc::clone(&self.prompt.read().unwrap_or_else(PoisonError::into_inner));
        let is_plain = Arc::clone(&self.is_plain);
        // The reader of the stream must not wait for encoding and sending.
        let transcript = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut samples = Vec::new();
            while let Some(frame) = audio.recv().await {
                if samples.len() < MAX_SAMPLES {
                    samples.extend_from_slice(frame.samples());
                }
            }
            if samples.is_empty() {
                return Ok(String::new());
            }
            let clip = Clip { samples, rate: SampleRate::HZ_16000 };
            let mut upload = Upload::new(&endpoint.options, language, write_wav(&clip));
            upload.attempts = attempts;
            let prompt = if is_plain.load(Ordering::Relaxed) { "" } else { &*prompt };
            with_names(&endpoint, upload, prompt, &is_plain).await
        }));
        let last = async move {
            let text = transcript.await.map_err(|_| {
                Error::new(Kind::Interrupted, "the transcription broke off (speak again)")
            })??;
            Ok(SpeechEvent::Final { text })
        };
        stream::once(last).boxed()
    }
}

struct Upload {
    wav: Arc<[u8]>,
    fields: Arc<[(String, String)]>,
    attempts: Attempts,
}

impl Upload {
    fn new(options: &Options, language: Option<String>, wav: Vec<u8>) -> Self {
        let mut fields = vec![
            ("model".to_owned(), options.model.clone()),
            ("response_format".to_owned(), "json".to_owned()),
        ];
        fields.extend(language.map(|language| ("language".to_owned(), language)));
        fields.extend(options.temperature.map(|t| ("temperature".to_owned(), t.to_string())));
        for (name, value) in &options.extra_body {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            fields.retain(|(known, _)| known != name);
            fields.push((name.clone(), value));
        }
        Self { wav: wav.into(), fields: fields.into(), attempts: Attempts::default() }
    }

    fn form(&self) -> Form {
        let file = Part::bytes(self.wav.to_vec()).file_name("utterance.wav");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("audio/wav"))]);
        let form = Form::new().part("file", file.headers(headers));
        let fields = self.fields.iter().cloned();
        fields.fold(form, |form, (name, value)| form.text(name, value))
    }

    /// A copy with a prompt; `None`: it is empty, or the configuration has one.
    fn prompted(&self, prompt: &str) -> Option<Self> {
        if prompt.is_empty() || self.fields.iter().any(|(name, _)| name == PROMPT) {
            return None;
        }
        let named = (PROMPT.to_owned(), prompt.to_owned());
        let fields = self.fields.iter().cloned().chain([named]).collect();
        let (wav, attempts) = (Arc::clone(&self.wav), self.attempts.clone());
        Some(Self { wav, fields, attempts })
    }
}

/// The likeliest names come last, because services cut the beginning of a prompt.
fn prompt_of(names: &[String]) -> String {
    let mut length = 0;
    let fits = |name: &&String| {
        length += name.len() + 2;
        length <= PROMPT_MAX
    };
    let mut chosen: Vec<&str> = names.iter().take_while(fits).map(String::as_str).collect();
    chosen.reverse();
    chosen.join(", ")
}

/// Retries without names if the service refuses them; `is_plain` remembers that.
async fn with_names(
    endpoint: &Endpoint,
    upload: Upload,
    prompt: &str,
    is_plain: &AtomicBool,
) -> Result<String, Error> {
    let Some(prompted) = upload.prompted(prompt) else {
        return transcribe(endpoint, &upload).await;
    };
    match transcribe(endpoint, &prompted).await {
        Ok(text) if is_echo(&text, prompt) => Ok(String::new()),
        Err(error) if error.kind() == Kind::InvalidRequest => {
            let text = transcribe(endpoint, &upload).await?;
            is_plain.store(true, Ordering::Relaxed);
            tracing::warn!(%error, "the speech service accepts no prompt, so it gets no names");
            Ok(text)
        }
        other => other,
    }
}

/// True if `text` is a piece of the prompt, which Whisper returns for silence.
fn is_echo(text: &str, prompt: &str) -> bool {
    let text = text.trim_end_matches(['.', ',', ' ']);
    text.split(", ").count() >= ECHO && prompt.contains(text)
}

async fn transcribe(endpoint: &Endpoint, upload: &Upload) -> Result<String, Error> {
    let mut retry = Retry::new(endpoint.options.first_byte_timeout, upload.attempts.clone());
    loop {
        match endpoint.upload("/audio/transcriptions", upload.form()).await {
            Ok(response) => return read(endpoint, response).await,
            Err(failure) => retry.again(failure.error).await?,
        }
    }
}

async fn read(endpoint: &Endpoint, response: Response) -> Result<String, Error> {
    let peer = &endpoint.peer;
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_text = content_type.is_some_and(|value| value.starts_with("text/plain"));
    let body = endpoint.read(response).await?;
    if is_text && !body.starts_with(b"{") {
        return Ok(String::from_utf8_lossy(&body).trim().to_owned());
    }
    let mut frames = Decoder::default();
    let mut found = frames.push(&body);
    found.extend(frames.finish());
    let mut deltas = None;
    for frame in found {
        let value = match frame {
            Frame::Json(value) => value,
            Frame::Over(bound) => return Err(peer.over(bound)),
            Frame::Done | Frame::Unreadable => continue,
        };
        if let Some(said) = ServiceError::read(&value) {
            return Err(peer.service_error(&said, None, &Value::Null));
        }
        // A plain answer and the last event of a stream contain the whole text.
        if let Some(text) = value.get("text").and_then(Value::as_str)
            && value.get("type").is_none_or(|kind| kind == "transcript.text.done")
        {
            return Ok(text.trim().to_owned());
        }
        if let Some(delta) = value.get("delta").and_then(Value::as_str) {
            deltas.get_or_insert_with(String::new).push_str(delta);
        }
    }
    deltas.map(|_| Err(peer.interrupted())).unwrap_or_else(|| {
        let way_out = "check that base_url ends with the version such as /v1";
        Err(peer.error(Kind::Protocol, "the answer is not a transcript", way_out))
    })
}

#[cfg(test)]
mod tests;
