//! Pictures from OpenAI, and from servers with its images address.
//!
//! Entry type: [`OpenAiImages`]. **Never**: fetches a link outside the origin of the service.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use futures::{FutureExt, future::BoxFuture};
use serde_json::{Map, Value, json};

use super::clean::{parsed, picture, used};
use crate::{
    logic::budget::Consumption,
    provider::{
        Error, ImageModel, ImageRequest, Kind, NoPicture, Picture,
        bounds::PICTURE,
        openai::BASE_URL,
        remote::{Endpoint, ServiceError},
    },
};

const PATH: &str = "/images/generations";
/// Member that selects data or link.
const FORMAT: &str = "response_format";
/// Words of an error that mean a refused description.
const REFUSALS: [&str; 4] =
    ["moderation_blocked", "content_policy_violation", "content_filter", "safety_violations"];
/// Begins stable-diffusion.cpp's own arguments in a prompt.
const OPENED: &str = "<sd_cpp_extra_args>";
const CLOSED: &str = "</sd_cpp_extra_args>";

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

enum Entry {
    File(Vec<u8>),
    Link(String),
    /// Not a picture: the reason and the fix.
    Unusable(&'static str, &'static str),
}

async fn ask(endpoint: &Endpoint, prompt: &str) -> Result<Picture, NoPicture> {
    let mut body = body(endpoint, prompt);
    let mut posted = endpoint.post(PATH, &body).await;
    if let Err(failure) = &posted
        && failure.names(FORMAT)
        && body.as_object_mut().is_some_and(|all| all.remove(FORMAT).is_some())
    {
        // A request rejected for its form is not billed.
        posted = endpoint.post(PATH, &body).await;
    }
    let response = match posted {
        Ok(response) => response,
        Err(failure) if is_refusal(failure.said()) => return Err(refused("its rules", None)),
        Err(failure) => return Err(failure.error.into()),
    };
    let bytes = endpoint.read_within(response, PICTURE).await?;
    let parsed = parsed(bytes, first).await;
    let (answer, entry) = parsed.map_err(|bound| endpoint.peer.over(bound))?;
    let Some(entry) = entry else { return Err(lack(endpoint, &answer, &body)) };
    let used = tokens(1, answer.get("usage"));
    // Frees megabytes that fetch and decoding do not need.
    drop(answer);
    let file = match entry {
        Entry::File(file) => file,
        Entry::Link(url) => {
            let file = endpoint.fetch(&url, PICTURE).await;
            // The picture is billed even if its link fails.
            file.map_err(|error| Error::new(Kind::Protocol, error.to_string()))?
        }
        Entry::Unusable(what, way_out) => {
            return Err(endpoint.peer.error(Kind::Protocol, what, way_out).into());
        }
    };
    picture(endpoint, file, used).await
}

/// The first picture of an answer; `None`: no entries.
fn first(answer: &Value) -> Option<Entry> {
    let first = answer.get("data")?.as_array()?.first()?;
    let text = |key: &str| first.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    Some(match (text("b64_json"), text("url")) {
        (Some(encoded), _) => {
            let encoded = encoded.trim();
            // Some servers write a whole data URL.
            let is_url = encoded.starts_with("data:");
            let bare = encoded.split_once(',').filter(|_| is_url).map_or(encoded, |(_, it)| it);
            BASE64_STANDARD.decode(bare).map_or(
                Entry::Unusable("a picture that is no base64", "look at the server's log"),
                Entry::File,
            )
        }
        (None, Some(url)) => Entry::Link(url.to_owned()),
        (None, None) => {
            Entry::Unusable("neither b64_json nor url in the answer", "try another model")
        }
    })
}

fn lack(endpoint: &Endpoint, answer: &Value, body: &Value) -> NoPicture {
    match ServiceError::read(answer) {
        Some(said) if is_refusal(&said) => refused("its rules", answer.get("usage")),
        Some(said) => endpoint.peer.service_error(&said, None, body).into(),
        // Some services omit a refused picture.
        None if answer.get("data").is_some_and(Value::is_array) => {
            refused("it gave no picture", answer.get("usage"))
        }
        None => {
            let way_out = "is base_url a server with an images address, version included?";
            endpoint.peer.error(Kind::Protocol, "no pictures in the answer", way_out).into()
        }
    }
}

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
        // LocalAI returns a link by default; OpenAI and its gateways refuse the member.
        false => _ = body.insert(FORMAT.into(), json!("b64_json")),
    }
    Value::Object(body)
}

/// Removes settings from a description: stable-diffusion.cpp reads `<…>` tags, LocalAI text after a
/// `|`.
fn plain(prompt: &str) -> String {
    let plain = prompt.replace('|', ",");
    let mut text = String::with_capacity(plain.len());
    let mut rest = plain.as_str();
    // Text between the marks addresses the server, not the picture.
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
