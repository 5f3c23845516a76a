//! Requests for pictures that the real services refuse.
//!
//! Entry functions: [`check_openai`], [`check_gemini`].

use serde_json::{Map, Value};

/// Longest prompt of OpenAI, in characters.
const LONGEST_PROMPT: usize = 32_000;
/// Longest side of a picture; both are multiples of [`STEP`].
const LONGEST_SIDE: u32 = 3_840;
const STEP: u32 = 16;

/// A request to OpenAI's images address.
///
/// # Errors
/// The reason why it is refused.
pub fn check_openai(request: &Value) -> Result<(), String> {
    let members = only(
        request,
        &[
            "prompt",
            "model",
            "n",
            "size",
            "quality",
            "background",
            "output_format",
            "output_compression",
            "moderation",
            "response_format",
            "safety_identifier",
            "user",
        ],
    )?;
    if members.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err("you must provide a model parameter".into());
    }
    let prompt = members.get("prompt").and_then(Value::as_str).unwrap_or_default();
    match prompt.chars().count() {
        0 => return Err("Missing required parameter: 'prompt'.".into()),
        length if length > LONGEST_PROMPT => return Err(format!("prompt of {length} characters")),
        _ => {}
    }
    if members.get("n").is_some_and(|n| n.as_u64().is_none_or(|n| !(1..=10).contains(&n))) {
        return Err("Invalid 'n': use 1 to 10".into());
    }
    if members.get("size").is_some_and(|size| size.as_str().is_none_or(|it| !is_size(it))) {
        return Err(format!("Invalid size: {}", members["size"]));
    }
    let compression = |it: &Value| it.as_u64().is_none_or(|it| it > 100);
    if members.get("output_compression").is_some_and(compression) {
        return Err("Invalid 'output_compression': use 0 to 100".into());
    }
    one_of(members, "quality", &["low", "medium", "high", "xhigh", "max", "auto"])?;
    one_of(members, "background", &["transparent", "opaque", "auto"])?;
    one_of(members, "output_format", &["png", "jpeg", "webp"])?;
    one_of(members, "moderation", &["auto", "low"])?;
    one_of(members, "response_format", &["b64_json", "url"])
}

/// A request to Gemini's `generateContent`.
///
/// # Errors
/// The reason why it is refused.
pub fn check_gemini(request: &Value) -> Result<(), String> {
    let members =
        only(request, &["contents", "generationConfig", "safetySettings", "systemInstruction"])?;
    let contents = members.get("contents").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let has_text = |content: &Value| {
        let parts = content["parts"].as_array().map_or(&[][..], Vec::as_slice);
        parts.iter().any(|part| part["text"].as_str().is_some_and(|text| !text.is_empty()))
    };
    if !contents.iter().any(has_text) {
        return Err("* GenerateContentRequest.contents: contents is not specified".into());
    }
    for content in contents {
        one_of(only(content, &["role", "parts"])?, "role", &["user", "model"])?;
    }
    let config = &request["generationConfig"];
    let config =
        only(config, &["responseModalities", "imageConfig", "candidateCount", "temperature"])?;
    let kinds = config.get("responseModalities").and_then(Value::as_array);
    if kinds.is_none_or(|kinds| kinds.iter().all(|kind| kind != "IMAGE")) {
        return Err("The requested combination of response modalities (TEXT) is not enough".into());
    }
    let Some(image) = config.get("imageConfig") else { return Ok(()) };
    let image = only(image, &["aspectRatio", "imageSize", "personGeneration"])?;
    one_of(
        image,
        "aspectRatio",
        &["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"],
    )?;
    one_of(image, "imageSize", &["1K", "2K", "4K"])
}

/// The members of an object that has none but these.
fn only<'v>(value: &'v Value, known: &[&str]) -> Result<&'v Map<String, Value>, String> {
    let members = value.as_object().ok_or("We could not parse the JSON body of your request.")?;
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(format!("Unknown parameter: '{unknown}'.")),
        None => Ok(members),
    }
}

fn one_of(members: &Map<String, Value>, name: &str, known: &[&str]) -> Result<(), String> {
    let is_known = |value: &Value| value.as_str().is_some_and(|value| known.contains(&value));
    match members.get(name) {
        Some(value) if !is_known(value) => Err(format!("Invalid value: '{value}' for {name}.")),
        _ => Ok(()),
    }
}

fn is_size(size: &str) -> bool {
    if size == "auto" {
        return true;
    }
    let side = |text: &str| text.parse::<u32>().ok().filter(|it| it % STEP == 0 && *it > 0);
    let sides =
        size.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
    sides.is_some_and(|(width, height)| {
        let (short, long) = (width.min(height), width.max(height));
        long <= LONGEST_SIDE && long <= 3 * short
    })
}
