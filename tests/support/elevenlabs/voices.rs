//! `GET /v2/voices`, in two pages.

use serde_json::{Value, json};

use super::{Asked, GEORGE, detail};

/// Status and body of the answer.
pub fn answer(asked: &Asked, key: &str) -> (&'static str, Value) {
    if asked.header("xi-api-key") != Some(key) {
        return ("401 Unauthorized", detail("invalid_api_key", "Invalid API key"));
    }
    let size = asked.value("page_size").unwrap_or("10").parse::<u32>();
    if !size.is_ok_and(|size| (1..=100).contains(&size)) {
        return ("422 Unprocessable Entity", detail("invalid_page_size", "refused"));
    }
    let voice = |id: &str, name: &str, gender: &str| {
        json!({
            "voice_id": id, "name": name, "category": "premade",
            "labels": {"gender": gender, "age": "middle_aged", "use_case": "narration"},
            "verified_languages": [{"language": "en", "model_id": "eleven_flash_v2_5"}],
        })
    };
    match asked.value("next_page_token") {
        None => {
            let voices = [voice(GEORGE, "George", "male")];
            let page = json!({"voices": voices, "has_more": true, "total_count": 2,
                "next_page_token": "page-2"});
            ("200 OK", page)
        }
        Some("page-2") => {
            let voices = [voice("EXAVITQu4vr4xnSDxMaL", "Sarah", "female")];
            let page = json!({"voices": voices, "has_more": false, "total_count": 2,
                "next_page_token": null});
            ("200 OK", page)
        }
        Some(_) => ("400 Bad Request", detail("invalid_page_token", "refused")),
    }
}
