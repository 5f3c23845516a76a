//! The account's voices.
//!
//! Entry function: [`list`]. It may lack voices that work: shared ones can be spoken with without
//! being added to the account.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::{client::ElevenLabs, options::Options};
use crate::provider::{
    Error, Kind,
    bounds::{ANSWER, Body, VALUES},
    voices::{
        listed::ListedVoice,
        socket::{Dialect, SocketFailure},
    },
};

/// Longest wait for all pages.
const WHOLE: Duration = Duration::from_secs(20);
/// Voices a page; the service gives no more.
const PAGE: &str = "100";
const PAGES: usize = 50;
/// Longest name and description, in characters.
const TEXT: usize = 100;

/// Voices of the account, in the service's order; at most 5,000.
pub async fn list(options: Options) -> Result<Vec<ListedVoice>, Error> {
    let service = ElevenLabs::new(options)?;
    timeout(WHOLE, service.voices()).await.map_err(|_| service.peer.slow())?
}

impl ElevenLabs {
    async fn voices(&self) -> Result<Vec<ListedVoice>, Error> {
        let (mut all, mut token) = (Vec::new(), None::<String>);
        for _ in 0..PAGES {
            let page = self.page(token.as_deref()).await?;
            let voices = page.get("voices").and_then(Value::as_array);
            let voices = voices.ok_or_else(|| self.unread())?;
            all.extend(voices.iter().filter_map(voice));
            let more = page.get("has_more").and_then(Value::as_bool).unwrap_or_default();
            let next = page.get("next_page_token").and_then(Value::as_str);
            match next.filter(|next| more && Some(*next) != token.as_deref()) {
                Some(next) => token = Some(next.to_owned()),
                None => break,
            }
        }
        Ok(all)
    }

    async fn page(&self, token: Option<&str>) -> Result<Value, Error> {
        let mut url = self.options.address(&["v2", "voices"]).ok_or_else(|| self.unread())?;
        url.query_pairs_mut().append_pair("page_size", PAGE);
        if let Some(token) = token {
            url.query_pairs_mut().append_pair("next_page_token", token);
        }
        let answer = self.handshake().get(url).await;
        let mut answer = answer.map_err(|why| self.failure(SocketFailure::NotOpened(&why)))?;
        let mut body = Body::within(ANSWER);
        while let Some(piece) = answer.chunk().await.map_err(|_| self.unread())? {
            body.push(&piece).map_err(|bound| self.failure(SocketFailure::Flooding(bound)))?;
        }
        let checked = VALUES.check_values(&body.bytes);
        checked.map_err(|bound| self.failure(SocketFailure::Flooding(bound)))?;
        serde_json::from_slice(&body.bytes).map_err(|_| self.unread())
    }

    fn unread(&self) -> Error {
        self.peer.error(Kind::Protocol, "its list of voices cannot be read", "check base_url")
    }
}

fn voice(voice: &Value) -> Option<ListedVoice> {
    let id = voice.get("voice_id")?.as_str()?.to_owned();
    let labels = voice.get("labels");
    let label = |name: &str| labels?.get(name)?.as_str();
    let verified = voice.get("verified_languages").and_then(Value::as_array);
    let verified = verified.into_iter().flatten();
    let codes = verified.filter_map(|it| it.get("language")?.as_str()).chain(label("language"));
    let mut languages: Vec<String> = Vec::new();
    for code in codes.map(|code| code.to_ascii_lowercase()) {
        if code.len() == 2 && !languages.contains(&code) {
            languages.push(code);
        }
    }
    let named = ["gender", "age", "accent", "descriptive", "description", "use_case"];
    let about: Vec<&str> = named.into_iter().filter_map(label).collect();
    let short = |text: &str| text.replace('_', " ").chars().take(TEXT).collect::<String>();
    let name = voice.get("name").and_then(Value::as_str).unwrap_or(&id);
    let name = name.chars().take(TEXT).collect();
    Some(ListedVoice { name, languages, about: short(&about.join(", ")), id })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn voice_is_described_by_its_labels() {
        let listed = voice(&json!({
            "voice_id": "JBFqnCBsd6RMkjVDRZzb", "name": "George", "mood": [1],
            "labels": {"gender": "male", "age": "middle_aged", "accent": null, "use_case": "narration"},
            "verified_languages": [{"language": "en"}, {"language": "DE"}, {"language": "en"}, 5],
        }));
        let wanted = ListedVoice {
            id: "JBFqnCBsd6RMkjVDRZzb".to_owned(),
            name: "George".to_owned(),
            languages: vec!["en".to_owned(), "de".to_owned()],
            about: "male, middle aged, narration".to_owned(),
        };
        assert_eq!(listed, Some(wanted));
        let bare = voice(&json!({"voice_id": "x", "labels": null})).unwrap();
        assert_eq!((bare.name.as_str(), bare.about.as_str()), ("x", ""));
        assert_eq!(voice(&json!({"name": "no id"})), None);
    }
}
