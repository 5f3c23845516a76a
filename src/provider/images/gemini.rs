//! Pictures from Google's Gemini.
//!
//! Entry type: [`GeminiImages`]. **Never**: returns a draft if a later part holds the picture.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use futures::{FutureExt, future::BoxFuture};
use serde_json::{Value, json};

use super::clean::{parsed, picture, used};
use crate::{
    logic::budget::Consumption,
    provider::{
        Error, ImageModel, ImageRequest, Kind, NoPicture, Picture,
        bounds::PICTURE,
        remote::{Endpoint, Manner, ServiceError},
    },
};

pub const MANNER: Manner =
    Manner { key: "x-goog-api-key", before_key: "", headers: &[], models: "/v1beta/models" };

/// Reasons for no picture that a second request may not hit.
const PASSING: [&str; 2] = ["NO_IMAGE", "IMAGE_OTHER"];
/// Bytes.
const MODEL_MAX: usize = 200;

pub struct GeminiImages(pub Arc<Endpoint>);

#[derive(Debug, PartialEq)]
enum Answer {
    File(Vec<u8>),
    /// No picture, for a reason that may pass.
    Passing(String),
    /// No picture, by the service's rules.
    Refused(String),
}

impl ImageModel for GeminiImages {
    fn priced_as(&self) -> Option<&str> {
        self.0.options.priced_as.as_deref()
    }

    fn generate(&self, request: ImageRequest) -> BoxFuture<'static, Result<Picture, NoPicture>> {
        let endpoint = Arc::clone(&self.0);
        async move {
            let first = ask(&endpoint, &request.prompt).await?;
            let (answer, used) = match first {
                // The first request is booked as a whole picture, perhaps more than it cost.
                (Answer::Passing(why), used) => {
                    match request.attempts.again(Kind::Protocol).await {
                        Ok(()) => ask(&endpoint, &request.prompt).await?,
                        Err(_) => (Answer::Passing(why), used),
                    }
                }
                answered => answered,
            };
            match answer {
                Answer::File(file) => picture(&endpoint, file, used).await,
                Answer::Passing(why) | Answer::Refused(why) => {
                    Err(NoPicture::Refused { why, used: Consumption { pictures: 0, ..used } })
                }
            }
        }
        .boxed()
    }
}

async fn ask(endpoint: &Endpoint, prompt: &str) -> Result<(Answer, Consumption), Error> {
    let body = json!({
        "contents": [{"role": "user", "parts": [{"text": prompt}]}],
        "generationConfig": {
            "responseModalities": ["TEXT", "IMAGE"],
            "imageConfig": {"aspectRatio": "1:1"},
        },
    });
    let path = path(endpoint)?;
    let response = endpoint.post(&path, &body).await.map_err(|failure| failure.error)?;
    let bytes = endpoint.read_within(response, PICTURE).await?;
    let parsed = parsed(bytes, read).await;
    let (answer, found) = parsed.map_err(|bound| endpoint.peer.over(bound))?;
    if let Some(said) = ServiceError::read(&answer) {
        return Err(endpoint.peer.service_error(&said, None, &body));
    }
    let count = |key: &str| answer.get("usageMetadata")?.get(key)?.as_u64();
    let thought = count("thoughtsTokenCount").unwrap_or_default();
    let made = count("candidatesTokenCount").map(|made| made.saturating_add(thought));
    let found = found.ok_or_else(|| {
        let way_out = "is base_url Gemini's address, without the version?";
        endpoint.peer.error(Kind::Protocol, "no candidates in the answer", way_out)
    })?;
    let pictures = u64::from(matches!(found, Answer::File(_)));
    let used = used(pictures, count("promptTokenCount"), made);
    Ok((found, used))
}

/// The model's path. Rejects names that would lead elsewhere.
fn path(endpoint: &Endpoint) -> Result<String, Error> {
    let model = endpoint.options.model.trim_start_matches("models/");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if model.is_empty() || model.len() > MODEL_MAX || !model.chars().all(is_plain) {
        let way_out = "use letters, digits, '-', '_' and '.'";
        return Err(endpoint.peer.error(Kind::InvalidRequest, "invalid model name", way_out));
    }
    Ok(format!("/v1beta/models/{model}:generateContent"))
}

/// The picture of an answer, or the reason for none; `None`: not an answer.
fn read(answer: &Value) -> Option<Answer> {
    let blocked = answer.pointer("/promptFeedback/blockReason").and_then(Value::as_str);
    if let Some(reason) = blocked {
        return Some(Answer::Refused(word(reason)));
    }
    let candidates = answer.get("candidates")?.as_array()?;
    let parts = candidates.iter().filter_map(|it| it.pointer("/content/parts")?.as_array());
    // Thinking models put drafts before the picture, and sometimes return only drafts.
    let file = parts.flatten().rev().find_map(|part| {
        let data = part.get("inlineData").or_else(|| part.get("inline_data"))?.get("data")?;
        BASE64_STANDARD.decode(data.as_str()?.trim()).ok().filter(|file| !file.is_empty())
    });
    if let Some(file) = file {
        return Some(Answer::File(file));
    }
    let reason = candidates.iter().find_map(|it| it.get("finishReason")?.as_str());
    let reason = reason.filter(|reason| *reason != "STOP").unwrap_or("NO_IMAGE");
    Some(match PASSING.contains(&reason) {
        true => Answer::Passing(word(reason)),
        false => Answer::Refused(word(reason)),
    })
}

fn word(reason: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    reason.chars().filter(is_plain).take(60).collect()
}
