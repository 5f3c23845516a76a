//! The service's own list of its voices.

use serde_json::{Map, Value};

use super::{Deepgram, Options};
use crate::provider::{
    Error, Kind,
    remote::{Endpoint, Manner, Options as Reach},
    voices::listed::{ListedVoice, language_code},
};

const MANNER: Manner =
    Manner { key: "authorization", before_key: "Token ", headers: &[], models: "/v1/models" };

impl Deepgram {
    /// Lists the service's public voices. Flux was not among them in 2026, so a voice that is not
    /// listed may exist. The shape is that of the vendor's own client and was not tried on the
    /// service.
    ///
    /// # Errors
    /// The service's own; another shape of the list.
    pub async fn list(options: &Options) -> Result<Vec<ListedVoice>, Error> {
        let endpoint = Endpoint::in_manner(reach(options), MANNER)?;
        let answer = endpoint.models(options.first_byte_timeout).await;
        let answer = endpoint.json(answer.map_err(|failure| failure.error)?).await?;
        listed(&answer).ok_or_else(|| {
            let what = "its list of voices is not understood";
            let way_out = "name a voice without it, and please report this";
            endpoint.peer.error(Kind::Protocol, what, way_out)
        })
    }
}

fn reach(options: &Options) -> Reach {
    Reach {
        base_url: options.base_url.clone(),
        api_key: options.api_key.clone(),
        model: "voices".to_owned(),
        temperature: None,
        extra_body: Map::new(),
        context_window: 0,
        max_tokens: None,
        continues: false,
        first_byte_timeout: options.first_byte_timeout,
        idle_timeout: options.idle_timeout,
        priced_as: None,
    }
}

/// `None`: another shape.
fn listed(answer: &Value) -> Option<Vec<ListedVoice>> {
    let voices = answer.get("tts")?.as_array()?;
    let known: Vec<ListedVoice> = voices.iter().filter_map(voice).collect();
    (voices.is_empty() || !known.is_empty()).then_some(known)
}

fn voice(listed: &Value) -> Option<ListedVoice> {
    let id = listed.get("canonical_name")?.as_str()?.to_owned();
    let name = listed.get("name").and_then(Value::as_str).unwrap_or(&id).to_owned();
    let mut languages: Vec<String> =
        texts(listed.get("languages")).filter_map(language_code).collect();
    languages.sort_unstable();
    languages.dedup();
    let about = |key: &str| listed.pointer(&format!("/metadata/{key}"));
    let words = ["accent", "age"].into_iter().filter_map(|key| about(key)?.as_str());
    let words = texts(about("tags")).chain(words).chain(texts(about("use_cases")));
    let about = words.collect::<Vec<_>>().join(", ");
    Some(ListedVoice { id, name, languages, about })
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn voices_are_listed_with_languages_and_words() {
        let thalia = json!({"name": "thalia", "canonical_name": "aura-2-thalia-en",
            "languages": ["en", "en-US"], "metadata": {"accent": "American", "age": "Adult",
            "tags": ["feminine", "clear"], "use_cases": ["IVR"], "color": "#fff"}});
        let answer = json!({"stt": [], "tts": [thalia, {"name": "no id"}, 7]});
        let wanted = ListedVoice {
            id: "aura-2-thalia-en".to_owned(),
            name: "thalia".to_owned(),
            languages: vec!["en".to_owned()],
            about: "feminine, clear, American, Adult, IVR".to_owned(),
        };
        assert_eq!(listed(&answer), Some(vec![wanted]));
        assert_eq!(listed(&json!({"tts": []})), Some(Vec::new()));
        for other in [json!([]), json!({"tts": {}}), json!({"tts": [{}]}), Value::Null] {
            assert_eq!(listed(&other), None, "{other}");
        }
    }
}
