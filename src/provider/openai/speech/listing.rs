//! The voices of a server, where it lists them: `GET /audio/voices`, which OpenAI does not have.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::{Speech, SpeechOptions};
use crate::provider::{Error, Kind, ListedVoice, bounds::VALUES, remote::Endpoint};

const PATIENCE: Duration = Duration::from_secs(5);

impl Speech {
    /// The voices of the server; empty if it lists none, so that only it knows them.
    ///
    /// # Errors
    /// The server cannot be asked, or its answer exceeds a bound.
    pub async fn list(options: SpeechOptions) -> Result<Vec<ListedVoice>, Error> {
        let endpoint = Endpoint::new(options.reach)?;
        let response = match endpoint.get("/audio/voices", PATIENCE).await {
            Ok(response) => response,
            Err(failure) if failure.error.kind() == Kind::InvalidRequest => return Ok(Vec::new()),
            Err(failure) => return Err(failure.error),
        };
        let body = timeout(PATIENCE, endpoint.read(response)).await;
        let body = body.map_err(|_| endpoint.peer.slow())??;
        VALUES.check_values(&body).map_err(|bound| endpoint.peer.over(bound))?;
        let listed: Value = serde_json::from_slice(&body).unwrap_or_default();
        let voices = listed.get("voices").and_then(Value::as_array);
        Ok(voices.into_iter().flatten().filter_map(voice).collect())
    }
}

/// Reads "tara", `{"id": …, "name": …}` or, from Chatterbox, `{"name": …}`.
fn voice(listed: &Value) -> Option<ListedVoice> {
    let member = |key: &str| listed.get(key).and_then(Value::as_str);
    let name = listed.as_str().or_else(|| member("name"));
    let id = member("id").or(name)?;
    let (languages, about) = (Vec::new(), String::new());
    Some(ListedVoice { id: id.to_owned(), name: name.unwrap_or(id).to_owned(), languages, about })
}
