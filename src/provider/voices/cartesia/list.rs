//! The voices that the service offers the account.
//!
//! Entry function: [`list`].

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::{client::Cartesia, options::Options};
use crate::provider::{
    Error, Kind,
    bounds::{ANSWER, Body, VALUES},
    voices::{
        listed::{ListedVoice, language_code},
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

/// Voices in the service's order; at most 5,000.
pub async fn list(options: Options) -> Result<Vec<ListedVoice>, Error> {
    let service = Cartesia::new(options)?;
    timeout(WHOLE, service.voices()).await.map_err(|_| service.peer.slow())?
}

impl Cartesia {
    async fn voices(&self) -> Result<Vec<ListedVoice>, Error> {
        let (mut all, mut after) = (Vec::new(), None::<String>);
        for _ in 0..PAGES {
            let page = self.page(after.as_deref()).await?;
            let voices = page.get("data").and_then(Value::as_array);
            let voices = voices.ok_or_else(|| self.unread())?;
            all.extend(voices.iter().filter_map(voice));
            let more = page.get("has_more").and_then(Value::as_bool).unwrap_or_default();
            let last = voices.last().and_then(|voice| voice.get("id")?.as_str());
            match last.filter(|last| more && Some(*last) != after.as_deref()) {
                Some(last) => after = Some(last.to_owned()),
                None => break,
            }
        }
        Ok(all)
    }

    /// The page behind the voice with this ID.
    async fn page(&self, after: Option<&str>) -> Result<Value, Error> {
        let mut url = self.options.address(&["voices"]).ok_or_else(|| self.unread())?;
        url.query_pairs_mut().append_pair("limit", PAGE);
        if let Some(after) = after {
            url.query_pairs_mut().append_pair("starting_after", after);
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
    let text = |name: &str| voice.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    let id = text("id")?.to_owned();
    let locales = voice.get("locales").and_then(Value::as_array).into_iter().flatten();
    let tags = locales.filter_map(|it| it.get("locale")?.as_str());
    let mut languages: Vec<String> = Vec::new();
    for code in text("language").into_iter().chain(tags).filter_map(language_code) {
        if !languages.contains(&code) {
            languages.push(code);
        }
    }
    let gender = text("gender").map(|gender| match gender {
        "masculine" => "male",
        "feminine" => "female",
        other => other,
    });
    let about: Vec<&str> = gender.into_iter().chain(text("description")).collect();
    let short = |text: &str| text.chars().take(TEXT).collect::<String>();
    let name = short(text("name").unwrap_or(&id));
    Some(ListedVoice { name, languages, about: short(&about.join(", ").replace('_', " ")), id })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn voice_is_described_by_its_page() {
        let listed = voice(&json!({
            "id": "a0e99841", "name": "Barkeep", "mood": [1], "gender": "masculine", "language": "en",
            "description": "A worn man", "locales": [{"locale": "en-US"}, {"locale": "de-DE"}, 5],
        }));
        let wanted = ListedVoice {
            id: "a0e99841".to_owned(),
            name: "Barkeep".to_owned(),
            languages: vec!["en".to_owned(), "de".to_owned()],
            about: "male, A worn man".to_owned(),
        };
        assert_eq!(listed, Some(wanted));
        let bare = voice(&json!({"id": "x", "gender": "gender_neutral"})).unwrap();
        assert_eq!((bare.name.as_str(), bare.about.as_str()), ("x", "gender neutral"));
        assert_eq!(voice(&json!({"name": "no id"})), None);
    }
}
