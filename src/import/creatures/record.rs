//! One creature, whichever of the shapes it has.

use serde_json::Value;

use crate::{
    domain::fnv1a,
    markup::{line, plain_text, prose},
};

/// Longest name, in characters.
const NAME_MAX: usize = 80;
/// Longest word of a record, in characters.
const WORD_MAX: usize = 200;
/// Longest id, in characters.
const ID_MAX: usize = 100;
/// Longest description, in bytes.
const TEXT_MAX: usize = 16 << 10;
/// Lists of what a creature can do.
const ABILITIES: &[&str] = &[
    "actions",
    "bonus_actions",
    "lair_actions",
    "legendary_actions",
    "reactions",
    "special_abilities",
    "traits",
];

#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    fields: &'a Value,
    /// The object around them in a fixture; else `fields` itself.
    outer: &'a Value,
}

impl<'a> Record<'a> {
    /// Looks into a fixture.
    pub fn of(outer: &'a Value) -> Self {
        Self { fields: outer.get("fields").unwrap_or(outer), outer }
    }

    /// True for what has a name, hit points and a challenge rating.
    pub fn is_creature(&self) -> bool {
        let has = |name: &str| self.fields.get(name).is_some_and(|value| !value.is_null());
        let ratings = ["challenge_rating", "challenge_rating_decimal", "challenge_rating_text"];
        let has_points = has("hit_points") || has("hit_dice");
        has_points && ratings.into_iter().any(has) && self.name().is_some()
    }

    pub fn name(&self) -> Option<String> {
        let name = plain_text(self.fields.get("name")?.as_str()?, NAME_MAX).trim().to_owned();
        (!name.is_empty()).then_some(name)
    }

    /// Identifies it over imports: by its address or key, else by a hash of `file` and `name`.
    pub fn source(&self, file: &str, name: &str) -> String {
        let slug = self.word("slug").map(|slug| match self.word("document__slug") {
            Some(document) => format!("{document}/{slug}"),
            None => slug,
        });
        let pk = || self.outer.get("pk").and_then(Value::as_str).map(str::to_owned);
        let id = self.word("url").filter(|url| !url.contains("://"));
        let id = id.or_else(pk).or_else(|| self.word("key")).or(slug);
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
        let id: String = id.unwrap_or_default().chars().filter(is_plain).take(ID_MAX).collect();
        match id.trim_matches('/') {
            "" => source_of_name(file, name),
            id => format!("creature:{id}"),
        }
    }

    /// "Large beast (fish), unaligned".
    pub fn summary(&self) -> Option<String> {
        let size = self.word("size").into_iter();
        let words: Vec<String> =
            size.chain(self.word("type")).map(|it| it.to_lowercase()).collect();
        let mut summary = words.join(" ");
        if let Some(subtype) = self.word("subtype") {
            summary = format!("{summary} ({subtype})");
        }
        if let Some(alignment) = self.word("alignment") {
            summary = format!("{summary}, {alignment}");
        }
        let mut letters = summary.chars();
        let first = letters.next()?.to_uppercase();
        Some(first.chain(letters).collect())
    }

    pub fn description(&self) -> Option<String> {
        let text = match self.fields.get("desc")? {
            Value::String(text) => text.clone(),
            Value::Array(lines) => {
                lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
            }
            _ => return None,
        };
        let cut = text.get(..text.floor_char_boundary(TEXT_MAX)).unwrap_or_default();
        Some(prose(cut).open)
    }

    pub fn languages(&self) -> Option<String> {
        let pretty = self.fields.get("languages").and_then(|it| it.get("as_string"));
        let pretty = pretty.and_then(Value::as_str).map(shortened).filter(|it| !it.is_empty());
        pretty.or_else(|| self.word("languages")).or_else(|| self.word("languages_desc"))
    }

    pub fn properties(&self) -> Vec<(String, String)> {
        let mut properties = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            properties.extend(value.map(|value| (name.to_owned(), value)));
        };
        for name in ["size", "type", "alignment"] {
            add(name, self.word(name));
        }
        let names = ["challenge_rating_text", "challenge_rating", "challenge_rating_decimal"];
        add("challenge rating", names.into_iter().find_map(|name| self.word(name)).map(rating));
        properties
    }

    pub fn abilities(&self) -> usize {
        let lists = ABILITIES.iter().filter_map(|name| self.fields.get(name)?.as_array());
        lists.map(Vec::len).sum()
    }

    /// A word or number, also by the name of what is there.
    fn word(&self, name: &str) -> Option<String> {
        let value = self.fields.get(name)?;
        let word = match value.get("name").unwrap_or(value) {
            Value::String(text) => shortened(text),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        (!word.is_empty()).then_some(word)
    }
}

/// Identifies a creature of `file` by its name alone.
pub fn source_of_name(file: &str, name: &str) -> String {
    format!("creature:{:016x}", fnv1a(format!("creature\n{name}\n{file}").bytes()))
}

fn shortened(text: &str) -> String {
    line(text).chars().take(WORD_MAX).collect()
}

/// A challenge rating as it is printed: "1/4" for "0.25", "10" for "10.000".
fn rating(value: String) -> String {
    match value.parse::<f64>() {
        Ok(0.125) => "1/8".to_owned(),
        Ok(0.25) => "1/4".to_owned(),
        Ok(0.5) => "1/2".to_owned(),
        Ok(number) if number.is_finite() => number.to_string(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn rating_is_told_as_printed() {
        for (value, told) in [("0.125", "1/8"), ("10.000", "10"), ("1/2", "1/2"), ("NaN", "NaN")] {
            assert_eq!(rating(value.to_owned()), told);
        }
    }

    proptest! {
        #[test]
        fn any_words_make_a_record(name in "\\PC{0,90}", key in "\\PC{0,12}", desc in "\\PC{0,40}") {
            let record = json!({"name": name, "key": key, "desc": desc, "size": desc, "hit_points": 1,
                                "challenge_rating": key});
            let record = Record::of(&record);
            if let Some(name) = record.name() {
                prop_assert!(record.source("f", &name).is_ascii() && name.chars().count() <= 80);
            }
            record.description();
            record.summary();
            record.properties();
        }
    }
}
