//! An actor's facts besides its texts: kind, languages, and abilities that change how it speaks.

use serde_json::Value;

use super::shape::{Fields, at, is_id, system, text};
use crate::{import::draft::Passage, markup::line};

/// Longest word or name, in characters.
const WORD_MAX: usize = 80;
/// Longest list of words.
const LIST_MAX: usize = 20;
const ABILITIES_MAX: usize = 6;
/// Words in the names of abilities that change how an NPC speaks or is spoken to.
const SPEECH: &[&str] =
    &["deaf", "mimic", "mute", "silent", "speak", "speech", "telepath", "tongue", "voice"];
/// Types of items that name a person's kind.
const BEING: &[&str] = &["ancestry", "class", "heritage", "race", "species"];
/// Scores of mind and manner: path, what a low one and what a high one means.
const SCORES: &[(&str, &str, &str)] = &[
    (
        "int",
        "Slow of mind: uses short and simple words.",
        "Quick of mind: chooses words precisely.",
    ),
    ("cha", "Awkward with people.", "Wins people over easily."),
];
/// Scores from 3 to this are low.
const LOW: i64 = 7;
/// Scores from here on are high.
const HIGH: i64 = 16;

/// Gender, age and kind of the actor, in the file's words.
pub fn looks(fields: &Fields, system: &Fields) -> Vec<String> {
    let mut looks = Vec::new();
    for path in ["gender", "age", "race", "ancestry", "species", "type"] {
        looks.extend(word(system, &format!("details.{path}")));
    }
    looks.extend(word(system, "details.type.subtype"));
    let beings = items(fields).filter(|item| is_being(item));
    looks.extend(beings.filter_map(|item| word(item, "name")));
    looks.extend(at(system, "traits.value").map(list).unwrap_or_default());
    let mut told: Vec<String> = Vec::new();
    for look in looks {
        if !told.iter().any(|it| it.eq_ignore_ascii_case(&look)) && told.len() < LIST_MAX {
            told.push(look);
        }
    }
    told
}

/// Facts about the actor, each with its path inside the system's data.
pub fn facts(system: &Fields) -> Vec<Passage> {
    let mut facts = Vec::new();
    let mut fact = |from: &str, text: String| facts.push(Passage { from: from.to_owned(), text });
    if let Some(alignment) = word(system, "details.alignment") {
        fact("details.alignment", format!("Alignment: {alignment}"));
    }
    for path in ["traits.languages", "details.languages"] {
        let languages = at(system, path).map(languages).unwrap_or_default();
        if !languages.is_empty() {
            fact(path, format!("Languages: {}", languages.join(", ")));
        }
    }
    for (name, low, high) in SCORES {
        match score(system, name) {
            Some(..=0) | None => {}
            Some(..=LOW) => fact(&format!("abilities.{name}"), (*low).to_owned()),
            Some(HIGH..) => fact(&format!("abilities.{name}"), (*high).to_owned()),
            Some(_) => {}
        }
    }
    facts
}

pub fn properties(system: &Fields) -> Vec<(String, String)> {
    let named = [
        ("type", "details.type"),
        ("size", "traits.size"),
        ("alignment", "details.alignment"),
        ("challenge rating", "details.cr"),
        ("level", "details.level"),
    ];
    named
        .iter()
        .filter_map(|(name, path)| Some(((*name).to_owned(), word(system, path)?)))
        .collect()
}

/// A word or number at `path`, or at `value` or `name` inside it; ids are none.
fn word(fields: &Fields, path: &str) -> Option<String> {
    let value = at(fields, path)?;
    let value = value.get("value").or_else(|| value.get("name")).unwrap_or(value);
    let word: String = match value {
        Value::String(text) => line(text).chars().take(WORD_MAX).collect(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!word.is_empty() && !is_id(&word)).then_some(word)
}

fn list(value: &Value) -> Vec<String> {
    let words = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let words = words.map(|word| line(word).chars().take(WORD_MAX).collect::<String>());
    words.filter(|word| !word.is_empty()).take(LIST_MAX).collect()
}

/// Languages as a list, or as `value` with more in words beside it.
fn languages(value: &Value) -> Vec<String> {
    let mut languages = list(value.get("value").unwrap_or(value));
    for name in ["custom", "details"] {
        let more = value.get(name).and_then(Value::as_str).map(line).unwrap_or_default();
        languages
            .extend((!more.is_empty()).then(|| more.chars().take(WORD_MAX).collect::<String>()));
    }
    languages
}

/// An ability of dnd5e, 1 to 30; of pf2e by its modifier.
fn score(system: &Fields, name: &str) -> Option<i64> {
    let ability = at(system, "abilities")?.get(name)?;
    let value = ability.get("value").and_then(Value::as_i64);
    value.or_else(|| {
        let modifier = ability.get("mod")?.as_i64()?;
        Some(modifier.clamp(-5, 10) * 2 + 10)
    })
}

/// Names and descriptions of abilities that change how the actor speaks, or is spoken to.
pub fn abilities(fields: &Fields) -> Vec<(String, &str)> {
    items(fields).filter_map(ability).take(ABILITIES_MAX).collect()
}

/// True for items that say something about the actor itself.
pub fn is_told(item: &Fields) -> bool {
    is_being(item) || ability(item).is_some()
}

fn is_being(item: &Fields) -> bool {
    text(item, "type").is_some_and(|it| BEING.contains(&it))
}

fn ability(item: &Fields) -> Option<(String, &str)> {
    let name = word(item, "name")?;
    let plain = name.to_lowercase();
    let is_ability = matches!(text(item, "type"), Some("feat" | "action" | "feature" | "trait"));
    if !is_ability || !SPEECH.iter().any(|word| plain.contains(word)) {
        return None;
    }
    let description = at(system(item)?, "description")?;
    Some((name, description.get("value").unwrap_or(description).as_str()?))
}

fn items(fields: &Fields) -> impl Iterator<Item = &Fields> {
    let items = fields.get("items").and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_object)
}
