//! `GET /voices`, in pages of at most one voice.

use serde_json::{Value, json};

use super::{Asked, BARKEEP, NEWER, OLDER, error};

const SECOND: &str = "694f9389-aac1-45b6-b726-9d9369183238";

/// Status and body of the answer.
pub fn answer(asked: &Asked, key: &str) -> (&'static str, Value) {
    let version = asked.header("cartesia-version").unwrap_or_default();
    match () {
        () if asked.header("authorization") != Some(format!("Bearer {key}").as_str()) => {
            ("401 Unauthorized", error(None, "Invalid API key"))
        }
        () if ![OLDER, NEWER].contains(&version) => {
            ("400 Bad Request", error(None, "Cartesia-Version is missing"))
        }
        () => page(asked),
    }
}

fn page(asked: &Asked) -> (&'static str, Value) {
    let limit = asked.value("limit").unwrap_or("10").parse::<u32>();
    if !limit.is_ok_and(|limit| (1..=100).contains(&limit)) {
        return ("400 Bad Request", error(None, "invalid limit"));
    }
    match asked.value("starting_after") {
        None => ("200 OK", one(&[voice(BARKEEP, "Barkeep", "masculine")], true)),
        Some(BARKEEP) => ("200 OK", one(&[voice(SECOND, "Sage", "feminine")], false)),
        Some(SECOND) => ("200 OK", one(&[], false)),
        Some(_) => ("400 Bad Request", error(None, "invalid starting_after")),
    }
}

fn one(voices: &[Value], has_more: bool) -> Value {
    json!({"data": voices, "has_more": has_more, "next_page": null})
}

fn voice(id: &str, name: &str, gender: &str) -> Value {
    json!({
        "id": id, "name": name, "gender": gender, "language": "en", "tagline": "Worn",
        "description": "A worn voice", "access": "public", "visibility": "all", "is_owner": false,
        "created_at": "2026-01-01T00:00:00Z",
        "locales": [{"locale": "en-US", "is_native": true}],
    })
}
