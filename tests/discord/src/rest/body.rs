//! A request's body: JSON, or JSON with files.
//!
//! Entry function: [`read`]. Never: knowing what it is for.

use super::refusal::{Problems, Refusal};
use futures::stream;
use serde_json::Value;

/// All files of a request together, in bytes.
const UPLOAD: usize = 10 * 1024 * 1024;
/// Files of a request.
const FILES: usize = 10;

/// A file of a request.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// The number in `files[n]`.
    pub(crate) number: String,
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: String,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

/// Takes a body apart.
pub(crate) async fn read(kind: &str, bytes: Vec<u8>) -> Result<(Value, Vec<File>), Refusal> {
    if kind.starts_with("multipart/form-data") {
        return multipart(kind, bytes).await;
    }
    if bytes.is_empty() {
        return Ok((Value::Null, Vec::new()));
    }
    if !kind.starts_with("application/json") {
        let message = "Expected \"Content-Type\" header to be one of {'application/json'}.";
        return Err(Problems::only("_content_type", "CONTENT_TYPE_INVALID", message));
    }
    json(&bytes).map(|value| (value, Vec::new()))
}

/// Parses JSON.
fn json(bytes: &[u8]) -> Result<Value, Refusal> {
    let invalid = |_| Refusal::fault(400, 50_109, "The request body contains invalid JSON.");
    serde_json::from_slice(bytes).map_err(invalid)
}

/// Takes `payload_json` and `files[n]` apart.
async fn multipart(kind: &str, bytes: Vec<u8>) -> Result<(Value, Vec<File>), Refusal> {
    let broken =
        |error: multer::Error| Refusal::fault(400, 50_035, &format!("Invalid Form Body: {error}"));
    let boundary = multer::parse_boundary(kind).map_err(broken)?;
    let whole = stream::iter([Ok::<_, std::io::Error>(bytes)]);
    let mut parts = multer::Multipart::new(whole, boundary);
    let (mut payload, mut files, mut size) = (Value::Null, Vec::new(), 0);
    while let Some(part) = parts.next_field().await.map_err(broken)? {
        let field = part.name().unwrap_or_default().to_owned();
        let name = part.file_name().map(str::to_owned);
        let kind =
            part.content_type().map_or("application/octet-stream".into(), ToString::to_string);
        let bytes = part.bytes().await.map_err(broken)?;
        if field == "payload_json" {
            payload = json(&bytes)?;
            continue;
        }
        let number = field.strip_prefix("files[").and_then(|rest| rest.strip_suffix(']'));
        let (Some(number), Some(name)) = (number, name) else {
            let message =
                format!("a part \"{field}\" is neither \"payload_json\" nor a file \"files[n]\"");
            return Err(Refusal::fault(400, 50_035, &message));
        };
        size += bytes.len();
        files.push(File { number: number.into(), name, kind, bytes: bytes.to_vec() });
    }
    if size > UPLOAD {
        return Err(Refusal::fault(413, 40_005, "Request entity too large"));
    }
    if files.len() > FILES {
        return Err(Problems::only(
            "files",
            "BASE_TYPE_MAX_LENGTH",
            "Must be 10 or fewer in length.",
        ));
    }
    Ok((payload, files))
}
