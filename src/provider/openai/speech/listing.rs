//! The voices of a server, where it lists them: `GET /audio/voices`, which OpenAI does not have.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::{Speech, VoiceOptions};
use crate::provider::{Error, Kind, ListedVoice, remote::Endpoint};

const PATIENCE: Duration = Duration::from_secs(5);

impl Speech {
    /// The voices of the server; `None`: it lists none.
    ///
    /// # Errors
    /// The server cannot be asked, or its answer exceeds a bound.
    pub async fn list(options: &VoiceOptions) -> Result<Option<Vec<ListedVoice>>, Error> {
        let endpoint = Endpoint::new(options.reach.clone())?;
        let response = match endpoint.get("/audio/voices", PATIENCE).await {
            Ok(response) => response,
            Err(failure) if failure.error.kind() == Kind::InvalidRequest => return Ok(None),
            Err(failure) => return Err(failure.error),
        };
        let listed = timeout(PATIENCE, endpoint.json(response)).await;
        let listed = listed.map_err(|_| endpoint.peer.slow())??;
        let voices = listed.get("voices").and_then(Value::as_array);
        Ok(voices.map(|voices| voices.iter().filter_map(voice).collect()))
    }
}

/// Reads "tara", `{"id": …, "name": …}` or, from Chatterbox, `{"name": …}`.
fn voice(listed: &Value) -> Option<ListedVoice> {
    let member = |key: &str| listed.get(key).and_then(Value::as_str);
    let name = listed.as_str().or_else(|| member("name"));
    let id = member("id").or(name)?;
    let (id, name) = (id.to_owned(), name.unwrap_or(id).to_owned());
    Some(ListedVoice { id, name, ..ListedVoice::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::provider::remote::chat_server::{ChatServer, Script};

    async fn listed(answer: Script) -> Result<Option<Vec<ListedVoice>>, Error> {
        let server = ChatServer::start();
        server.push(answer);
        let listed = Speech::list(&VoiceOptions::at(&server.base_url())).await;
        assert_eq!(server.requests()[0].line, "GET /v1/audio/voices");
        listed
    }

    #[tokio::test]
    async fn voices_are_listed_where_the_server_lists_them() {
        for (voices, id, name) in [
            (json!([{"id": "af_sky", "name": "Sky", "mood": 1}]), "af_sky", "Sky"),
            (json!([7, {}, "tara"]), "tara", "tara"),
            (json!([{"name": "bartok", "filename": "bartok.wav"}]), "bartok", "bartok"),
        ] {
            let body = json!({"status": "ok", "voices": voices});
            let (id, name) = (id.to_owned(), name.to_owned());
            let voice = ListedVoice { id, name, ..ListedVoice::default() };
            assert_eq!(listed(Script::json(200, &body)).await.unwrap(), Some(vec![voice]));
        }
        for none in [
            Script::error(404, "invalid_request_error", "unknown path"),
            Script::json(200, &json!({"object": "list"})),
            Script::plain(200, "text/html").raw("<html>"),
        ] {
            assert_eq!(listed(none).await.unwrap(), None);
        }
        let down = listed(Script::json(503, &json!({"detail": "loading"}))).await;
        assert_eq!(down.unwrap_err().kind(), Kind::Unavailable);
        let large = Script::json(200, &json!({"voices": vec!["a"; 110_000]}));
        assert_eq!(listed(large).await.unwrap_err().kind(), Kind::Protocol);
    }
}
