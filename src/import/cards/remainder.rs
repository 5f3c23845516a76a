//! Parts of a card that have no place here.
//!
//! Entry function: [`report`].

use serde_json::{Map, Value};

use super::{carriers::PICTURES, fields::Fields, reading::Reading};
use crate::domain::one_line;

/// Newest version of the format that is known.
const NEWEST: f64 = 3.0;
/// Fields that are read, and those that only say when and how a card was made.
const KNOWN: &[&str] = &[
    "name",
    "char_name",
    "nickname",
    "description",
    "char_persona",
    "personality",
    "scenario",
    "world_scenario",
    "first_mes",
    "char_greeting",
    "mes_example",
    "example_dialogue",
    "alternate_greetings",
    "group_only_greetings",
    "system_prompt",
    "post_history_instructions",
    "creator_notes",
    "creator_notes_multilingual",
    "creatorcomment",
    "creator",
    "character_version",
    "character_book",
    "tags",
    "extensions",
    "assets",
    "spec",
    "spec_version",
    "data",
    "avatar",
    "chat",
    "fav",
    "talkativeness",
    "create_date",
    "creation_date",
    "modification_date",
    "source",
    "metadata",
];
/// Extensions that are read, or are settings of a program alone.
const KNOWN_EXTENSIONS: &[&str] = &["depth_prompt", "glyphoxa", "world", "fav", "talkativeness"];
/// Most names in one line.
const NAMES_MAX: usize = 10;
/// Longest name shown, in characters.
const NAME_MAX: usize = 40;

/// Notes the parts of the card in `document` with these `fields` that were not used.
pub fn report(reading: &mut Reading<'_>, document: &Map<String, Value>, fields: &Fields<'_>) {
    let version: f64 = match document.get("spec_version") {
        Some(Value::String(version)) => version.trim().parse().unwrap_or_default(),
        Some(version) => version.as_f64().unwrap_or_default(),
        None => 0.0,
    };
    if version > NEWEST {
        let what = format!("what is new in version {version} of the format");
        reading.left_out(what, "version 3.0 is known");
    }
    let assets = fields.map.get("assets").and_then(Value::as_array).map_or(0, Vec::len);
    reading.left_out_counted(assets, ["asset", "assets"], PICTURES);
    if let Some(extensions) = fields.object("extensions", reading) {
        let extensions = extensions.map;
        if let Some(world) = extensions.get("world").and_then(Value::as_str)
            && !world.trim().is_empty()
        {
            let what = format!("the lorebook '{}'", one_line(world.trim(), NAME_MAX));
            reading.left_out(what, "the card only names it; import its file too");
        }
        let others = extensions.keys().filter(|name| !KNOWN_EXTENSIONS.contains(&name.as_str()));
        listed(reading, "extensions", others);
    }
    listed(reading, "fields", fields.map.keys().filter(|name| !KNOWN.contains(&name.as_str())));
}

fn listed<'n>(reading: &mut Reading<'_>, what: &str, names: impl Iterator<Item = &'n String>) {
    let names: Vec<&String> = names.collect();
    if names.is_empty() {
        return;
    }
    let shown = names.iter().take(NAMES_MAX).map(|name| one_line(name, NAME_MAX));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(NAMES_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    reading.left_out(format!("{what}: {shown}{more}"), "nothing here uses them");
}
