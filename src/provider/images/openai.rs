//! Pictures of OpenAI, and of servers with its images address.
//!
//! Entry type: [`OpenAiImages`]. **Never**: fetches a link beyond the origin of the service.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use futures::{FutureExt, future::BoxFuture};
use serde_json::{Map, Value, json};

use super::answer::{picture, used};
use crate::{
    logic::budget::Consumption,
    provider::{
        ImageModel, ImageRequest, Kind, NoPicture, Picture,
        bounds::PICTURE,
        openai::BASE_URL,
        remote::{Endpoint, ServiceError},
    },
};

/// Words of an error that mean a refused description.
const REFUSALS: [&str; 4] =
    ["moderation_blocked", "content_policy_violation", "content_filter", "safety_violations"];
/// Begins stable-diffusion.cpp's own arguments.
const OPENED: &str = "<sd_cpp_extra_args>";
/// Ends them.
const CLOSED: &str = "</sd_cpp_extra_args>";

/// The images address of a service.
pub struct OpenAiImages(pub Arc<Endpoint>);

impl ImageModel for OpenAiImages {
    fn priced_as(&self) -> Option<&str> {
        self.0.options.priced_as.as_deref()
    }

    fn generate(&self, request: ImageRequest) -> BoxFuture<'static, Result<Picture, NoPicture>> {
        let endpoint = Arc::clone(&self.0);
        async move { ask(&endpoint, &request.prompt).await }.boxed()
    }
}

async fn ask(endpoint: &Endpoint, prompt: &str) -> Result<Picture, NoPicture> {
    let body = body(endpoint, prompt);
    let response = match endpoint.post("/images/generations", &body).await {
        Ok(response) => response,
        Err(failure) if is_refusal(failure.said()) => return Err(refused("its rules", None)),
        Err(failure) => return Err(failure.error.into()),
    };
    let bytes = endpoint.read_within(response, PICTURE).await?;
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if let Some(said) = ServiceError::read(&answer) {
        return Err(match is_refusal(&said) {
            true => refused("its rules", answer.get("usage")),
            false => endpoint.peer.service_error(&said, None, &body).into(),
        });
    }
    let Some(data) = answer.get("data").and_then(Value::as_array) else {
        let way_out = "is base_url a server with an images address, version included?";
        return Err(endpoint
            .peer
            .error(Kind::Protocol, "no pictures in the answer", way_out)
            .into());
    };
    // Some services leave a refused picture out.
    let Some(first) = data.first() else {
        return Err(refused("it gave no picture", answer.get("usage")));
    };
    let text = |key: &str| first.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let file = match (text("b64_json"), text("url")) {
        (Some(encoded), _) => BASE64_STANDARD.decode(encoded.trim()).map_err(|_| {
            let what = "a picture that is no base64";
            endpoint.peer.error(Kind::Protocol, what, "look at the server's log")
        })?,
        (None, Some(url)) => endpoint.fetch(url, PICTURE).await?,
        (None, None) => {
            let what = "neither b64_json nor url in the answer";
            return Err(endpoint.peer.error(Kind::Protocol, what, "try another model").into());
        }
    };
    picture(endpoint, file, tokens(1, answer.get("usage"))).await
}

/// The request: each server is sent only what it takes.
fn body(endpoint: &Endpoint, prompt: &str) -> Value {
    let options = &endpoint.options;
    let mut body = Map::new();
    body.insert("model".into(), json!(options.model));
    body.insert("prompt".into(), json!(plain(prompt)));
    body.insert("n".into(), json!(1));
    body.insert("size".into(), json!("1024x1024"));
    match options.base_url == BASE_URL {
        true => {
            body.insert("quality".into(), json!("medium"));
            body.insert("output_format".into(), json!("png"));
        }
        // LocalAI answers with a link unless asked; OpenAI refuses the member.
        false => _ = body.insert("response_format".into(), json!("b64_json")),
    }
    Value::Object(body)
}

/// A description without what servers take for settings: stable-diffusion.cpp reads `<…>` tags, LocalAI
/// what follows a `|`.
fn plain(prompt: &str) -> String {
    let plain = prompt.replace('|', ",");
    let mut text = String::with_capacity(plain.len());
    let mut rest = plain.as_str();
    // What stands between the marks is meant for the server, not for the picture.
    while let Some((before, after)) = rest.split_once(OPENED) {
        text.push_str(before);
        rest = after.split_once(CLOSED).map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text.replace(['<', '>'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_refusal(said: &ServiceError) -> bool {
    said.labels.iter().any(|label| REFUSALS.contains(&label.as_str()))
}

fn refused(why: &str, usage: Option<&Value>) -> NoPicture {
    NoPicture::Refused { why: why.to_owned(), used: tokens(0, usage) }
}

fn tokens(pictures: u64, usage: Option<&Value>) -> Consumption {
    let count = |key: &str| usage.and_then(|usage| usage.get(key)?.as_u64());
    used(pictures, count("input_tokens"), count("output_tokens"))
}
