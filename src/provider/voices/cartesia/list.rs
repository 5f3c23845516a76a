//! The voices that the service offers the account.
//!
//! Entry function: [`list`].

use serde_json::Value;

use super::client::Cartesia;
use crate::provider::{
    Error,
    voices::{
        listed::{ListedVoice, language_code},
        socket::{Options, Page, listed, short},
    },
};

/// Voices a page; the service gives no more.
const PAGE: &str = "100";

/// Voices in the service's order; at most 5,000.
pub async fn list(options: Options) -> Result<Vec<ListedVoice>, Error> {
    let service = Cartesia::new(options)?;
    let address = |mark: Option<&str>| {
        let mut url = service.options.address(&["voices"])?;
        url.query_pairs_mut().append_pair("limit", PAGE);
        if let Some(last) = mark {
            url.query_pairs_mut().append_pair("starting_after", last);
        }
        Some(url)
    };
    listed(&service, &service.peer, address, page).await
}

/// The next page begins behind the last voice of this one.
fn page(page: &Value) -> Option<Page> {
    let all = page.get("data")?.as_array()?;
    let last = all.last().and_then(|voice| voice.get("id")?.as_str());
    let more = page.get("has_more").and_then(Value::as_bool).unwrap_or_default();
    let next = last.filter(|_| more).map(str::to_owned);
    Some((all.iter().filter_map(voice).collect(), next))
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
