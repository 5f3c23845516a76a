//! The account's voices.
//!
//! Entry function: [`list`]. It may lack voices that work: shared ones can be spoken with without
//! being added to the account.

use serde_json::Value;

use super::client::ElevenLabs;
use crate::provider::{
    Error,
    voices::{
        listed::ListedVoice,
        socket::{Options, Page, listed, short},
    },
};

/// Voices a page; the service gives no more.
const PAGE: &str = "100";

/// Voices of the account, in the service's order; at most 5,000.
pub async fn list(options: Options) -> Result<Vec<ListedVoice>, Error> {
    let service = ElevenLabs::new(options)?;
    let address = |mark: Option<&str>| {
        let mut url = service.options.address(&["v2", "voices"])?;
        url.query_pairs_mut().append_pair("page_size", PAGE);
        if let Some(token) = mark {
            url.query_pairs_mut().append_pair("next_page_token", token);
        }
        Some(url)
    };
    listed(&service, &service.peer, address, page).await
}

fn page(page: &Value) -> Option<Page> {
    let voices = page.get("voices")?.as_array()?.iter().filter_map(voice).collect();
    let next = page.get("next_page_token").and_then(Value::as_str);
    let more = page.get("has_more").and_then(Value::as_bool).unwrap_or_default();
    Some((voices, next.filter(|_| more).map(str::to_owned)))
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
    let name = short(voice.get("name").and_then(Value::as_str).unwrap_or(&id));
    Some(ListedVoice { name, languages, about: short(&about.join(", ").replace('_', " ")), id })
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
