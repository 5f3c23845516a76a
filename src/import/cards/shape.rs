//! JSON of cards: read within bounds, and told apart by what it holds.
//!
//! Entry functions: [`parsed`], [`shape`].

use serde_json::{Map, Value};

use super::fault::Fault;
use crate::domain::json_values;

/// Most bytes; the largest lorebooks seen have 4 MiB.
const BYTES_MAX: usize = 16 << 20;
/// Most values, each of 72 bytes or more in memory.
const VALUES_MAX: usize = 500_000;
/// Fields that a V1 card or one of Pygmalion has, and an NPC of other programs does not.
const SPOKEN: &[&str] = &[
    "first_mes",
    "mes_example",
    "char_greeting",
    "char_persona",
    "example_dialogue",
    "world_scenario",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Card {
        /// True if its fields are in `data` (V2, V3).
        is_nested: bool,
    },
    /// A lorebook or world info without a character.
    Book {
        /// Name of the member that holds it; `None`: the document itself.
        inside: Option<&'static str>,
    },
}

/// `json` as a value. `place`: where it was inside the file.
pub fn parsed(json: &[u8], place: &str) -> Result<Value, Fault> {
    if json.len() > BYTES_MAX {
        let message = format!("more than {} MiB of JSON", BYTES_MAX >> 20);
        return Err(Fault::new(place, message, "split the lorebook"));
    }
    let text = decoded(json, place)?;
    if json_values(text.as_bytes()) > VALUES_MAX {
        let message = format!("more than {VALUES_MAX} values");
        return Err(Fault::new(place, message, "split the lorebook"));
    }
    serde_json::from_str(&text).map_err(|error| {
        let message = format!("not valid JSON: {}", error.to_string().to_lowercase());
        Fault::new(place, message, "export the card again")
    })
}

/// `None`: neither a card nor a lorebook.
pub fn shape(document: &Value) -> Option<Shape> {
    let map = document.as_object()?;
    let spec = map.get("spec").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let data = map.get("data").and_then(Value::as_object);
    if spec.starts_with("lorebook_v") {
        return Some(Shape::Book { inside: data.map(|_| "data") });
    }
    if spec.starts_with("chara_card_v") {
        return Some(Shape::Card { is_nested: data.is_some() });
    }
    if data.is_some_and(is_character) {
        return Some(Shape::Card { is_nested: true });
    }
    if is_character(map) {
        return Some(Shape::Card { is_nested: false });
    }
    if is_book(map.get("entries")) {
        return Some(Shape::Book { inside: None });
    }
    None
}

fn is_character(map: &Map<String, Value>) -> bool {
    let has_text = |key: &str| map.get(key).is_some_and(Value::is_string);
    let is_described = || ["description", "personality", "scenario"].into_iter().all(has_text);
    (has_text("name") || has_text("char_name"))
        && (SPOKEN.iter().any(|key| has_text(key)) || is_described())
}

/// True for entries with keys and a text, as a list or by number.
fn is_book(entries: Option<&Value>) -> bool {
    let is_entry = |entry: &Value| {
        let has = |names: &[&str]| names.iter().any(|name| entry.get(name).is_some());
        has(&["content", "entry", "text"]) && has(&["keys", "key", "keywords"])
    };
    match entries {
        Some(Value::Array(entries)) => entries.iter().any(is_entry),
        Some(Value::Object(entries)) => entries.values().any(is_entry),
        _ => false,
    }
}

/// Text of UTF-8, or UTF-16 by its mark or its zeros.
fn decoded(bytes: &[u8], place: &str) -> Result<String, Fault> {
    let encoding = || {
        let way_out = "save the file as UTF-8";
        Fault::new(place, "the text is neither UTF-8 nor UTF-16", way_out)
    };
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16(&units)
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes).map_err(|_| encoding()),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes).map_err(|_| encoding()),
        [b'{', 0, ..] => wide(bytes, u16::from_le_bytes).map_err(|_| encoding()),
        [0, b'{', ..] => wide(bytes, u16::from_be_bytes).map_err(|_| encoding()),
        _ => {
            let text = std::str::from_utf8(bytes).map_err(|_| encoding())?;
            Ok(text.trim_start_matches('\u{feff}').to_owned())
        }
    }
}
