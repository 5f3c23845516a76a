//! A character of Roll20: an NPC, or a player's character by its owner.
//!
//! Entry functions: [`character`], [`token_notes`], [`is_for_all`], [`tags`], [`text_of`].

use serde_json::{Map, Value};

use super::decode::{TEXT_MAX, decoded, prose};
use crate::{
    domain::{EntityKind, one_line},
    import::draft::{EntityDraft, NpcDraft, Passage},
    markup::Prose,
};

/// Most attributes that are looked at; sheets have a few thousand.
const ATTRIBUTES_MAX: usize = 20_000;
const TAGS_MAX: usize = 40;
/// Longest fact, in characters.
const FACT_MAX: usize = 300;
/// Attributes of sheets of the fifth edition that an NPC knows of itself -> words for them.
const FACTS: &[(&str, &str)] = &[
    ("npc_type", "kind"),
    ("race", "race"),
    ("class", "class"),
    ("alignment", "alignment"),
    ("background", "background"),
    ("npc_languages", "languages"),
    ("personality_traits", "personality"),
    ("ideals", "ideals"),
    ("bonds", "bonds"),
    ("flaws", "flaws"),
];
/// Names of the member with a character's token.
const TOKENS: [&str; 2] = ["defaulttoken", "_defaulttoken"];
/// Attributes about looks, and how an NPC is.
const LOOKS: &[&str] = &["gender", "sex", "age", "race", "npc_type", "pronouns"];
const PERSONALITY: &[&str] = &["personality_traits", "ideals", "bonds", "flaws"];

#[derive(Debug)]
pub enum Read {
    Npc(Box<NpcDraft>),
    Player(Box<EntityDraft>),
}

/// The text of a member; nothing where it is something else.
pub fn text_of<'a>(members: &'a Map<String, Value>, key: &str) -> &'a str {
    members.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Ids in a member that is a list, or a text with commas.
fn players(members: &Map<String, Value>, key: &str) -> Vec<String> {
    let ids: Vec<&str> = match members.get(key) {
        Some(Value::String(text)) => text.split(',').take(TAGS_MAX).collect(),
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).take(TAGS_MAX).collect()
        }
        _ => Vec::new(),
    };
    let ids = ids.into_iter().map(str::trim).filter(|it| !it.is_empty());
    ids.map(str::to_owned).collect()
}

/// True if every player is among those in a member.
pub fn is_for_all(members: &Map<String, Value>, key: &str) -> bool {
    players(members, key).iter().any(|it| it == "all")
}

/// Notes of the game master on a character's token, which is an object or its JSON in a text; and true if
/// some of them could not be read.
pub fn token_notes(members: &Map<String, Value>) -> (Prose, bool) {
    let parsed;
    let token = match TOKENS.iter().find_map(|key| members.get(*key)) {
        Some(Value::Object(token)) => token,
        Some(Value::String(text)) => {
            let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
            let short = Some(text).filter(|text| text.len() <= TEXT_MAX);
            parsed = short.and_then(|text| read(text).or_else(|| read(&decoded(text))));
            match &parsed {
                Some(token) => token,
                None => return (Prose::default(), text.contains("gmnotes")),
            }
        }
        _ => return (Prose::default(), false),
    };
    prose(text_of(token, "gmnotes"))
}

/// Tags: a list, or JSON of one in a text.
pub fn tags(members: &Map<String, Value>) -> Vec<String> {
    let parsed;
    let items = match members.get("tags") {
        Some(Value::Array(items)) => items,
        Some(Value::String(text)) if text.len() < 10_000 => {
            parsed = serde_json::from_str::<Vec<Value>>(text).unwrap_or_default();
            &parsed
        }
        _ => return Vec::new(),
    };
    let tags = items.iter().filter_map(Value::as_str).map(|it| one_line(it, 80).trim().to_owned());
    tags.filter(|it| !it.is_empty()).take(TAGS_MAX).collect()
}

/// The character in `members`, with the notes on its token; a player's character if a player controls it.
pub fn character(
    members: &Map<String, Value>,
    source: String,
    file: &str,
    name: String,
    on_token: Prose,
) -> Read {
    let attributes = attributes(members);
    let fact = |key: &str| attributes.iter().find(|(it, _)| *it == key).map(|(_, text)| text);
    let (bio, _) = prose(text_of(members, "bio"));
    let (gm_notes, _) = prose(text_of(members, "gmnotes"));
    let passage = |from: &str, text: String| Passage { from: from.to_owned(), text };
    let mut secrets = vec![
        passage("bio", bio.secret),
        passage("gmnotes", gm_notes.open),
        passage("gmnotes", gm_notes.secret),
        passage("defaulttoken/gmnotes", on_token.open),
        passage("defaulttoken/gmnotes", on_token.secret),
    ];
    secrets.retain(|it| !it.text.is_empty());
    let mut text = vec![passage("bio", bio.open)];
    text.retain(|it| !it.text.is_empty());
    let lines = |wanted: &dyn Fn(&str) -> bool| {
        let known = FACTS.iter().filter(|(key, _)| wanted(key));
        let lines = known.filter_map(|(key, word)| Some(format!("{word}: {}", fact(key)?)));
        lines.collect::<Vec<_>>().join("\n")
    };
    let of_person = lines(&|key| PERSONALITY.contains(&key));
    let of_sheet = lines(&|key| !PERSONALITY.contains(&key));
    let is_npc = fact("npc").is_some_and(|it| it == "1" || it == "true");
    let owners = players(members, "controlledby");
    if !is_npc && owners.iter().any(|it| it != "all") {
        // A text that not all players may read stays hidden from them.
        if !["controlledby", "inplayerjournals"].iter().any(|key| is_for_all(members, key)) {
            secrets.append(&mut text);
        }
        return Read::Player(Box::new(EntityDraft {
            source,
            file: file.to_owned(),
            kind: EntityKind::Player,
            name,
            aliases: Vec::new(),
            text,
            secrets,
            dm_only: false,
            is_standing: false,
            known_to: Vec::new(),
            properties: Vec::new(),
            tags: tags(members),
        }));
    }
    let looks = LOOKS.iter().filter_map(|key| Some(format!("{key}: {}", fact(key)?))).collect();
    text.extend((!of_person.is_empty()).then(|| passage("attribs", of_person)));
    let knowledge = (!of_sheet.is_empty()).then(|| passage("attribs", of_sheet));
    Read::Npc(Box::new(NpcDraft {
        source,
        file: file.to_owned(),
        name,
        personality: text,
        knowledge: knowledge.into_iter().collect(),
        secrets,
        looks,
        tags: tags(members),
        ..NpcDraft::default()
    }))
}

/// Attributes that are used, by name, as one line each. The first of a name counts.
fn attributes(members: &Map<String, Value>) -> Vec<(&'static str, String)> {
    let all = members.get("attribs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut found: Vec<(&'static str, String)> = Vec::new();
    let keys = FACTS.iter().map(|(key, _)| *key).chain(LOOKS.iter().copied()).chain(["npc"]);
    let keys: Vec<&'static str> = keys.collect();
    for attribute in all.iter().take(ATTRIBUTES_MAX) {
        let name = attribute.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(key) = keys.iter().find(|it| it.eq_ignore_ascii_case(name)) else { continue };
        let text = match attribute.get("current") {
            Some(Value::String(text)) => prose(text).0.open,
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Bool(flag)) => flag.to_string(),
            _ => continue,
        };
        let text = one_line(&text, FACT_MAX).trim().to_owned();
        if !text.is_empty() && !found.iter().any(|(it, _)| it == key) {
            found.push((*key, text));
        }
    }
    found
}
