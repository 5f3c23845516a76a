//! The kind of a document of Foundry VTT, by its key in a pack or by its fields: versions 9 to 13, whole
//! or in part.

use serde_json::{Map, Value};

pub type Fields = Map<String, Value>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A person, creature or group.
    Actor,
    /// Texts, one a page.
    Journal,
    Page,
    Folder,
    Adventure,
    /// Documents that have no place here, by their plural.
    Other(&'static str),
}

/// Access level of a reader; below it only the name or the picture is seen.
pub const OBSERVER: i64 = 2;
/// Collections of documents, as adventures and keys of packs call them.
pub const COLLECTIONS: &[(&str, Kind)] = &[
    ("folders", Kind::Folder),
    ("actors", Kind::Actor),
    ("journal", Kind::Journal),
    ("journal.pages", Kind::Page),
    ("adventures", Kind::Adventure),
    ("cards", Kind::Other("stacks of cards")),
    ("combats", Kind::Other("combats")),
    ("items", Kind::Other("items")),
    ("macros", Kind::Other("macros")),
    ("messages", Kind::Other("chat messages")),
    ("playlists", Kind::Other("playlists")),
    ("scenes", Kind::Other("scenes")),
    ("tables", Kind::Other("random tables")),
];
/// Kinds of documents that a folder may hold.
const FOLDER_TYPES: &[&str] = &[
    "Actor",
    "Adventure",
    "Cards",
    "Compendium",
    "Item",
    "JournalEntry",
    "Macro",
    "Playlist",
    "RollTable",
    "Scene",
];
/// Fields that only one kind of document without a place has.
const OTHERS: &[(&str, &str)] = &[
    ("walls", "scenes"),
    ("command", "macros"),
    ("results", "random tables"),
    ("sounds", "playlists"),
    ("cards", "stacks of cards"),
    ("speaker", "chat messages"),
    ("system", "items"),
    ("data", "items"),
];

/// The kind of a document with these `fields`; `None` if they are not of Foundry VTT.
pub fn kind(fields: &Fields) -> Option<Kind> {
    by_key(fields).or_else(|| by_fields(fields))
}

/// By the key of packs: "!actors!CHEUjiYrVM9X0vIT".
fn by_key(fields: &Fields) -> Option<Kind> {
    let (collection, _) = text(fields, "_key")?.strip_prefix('!')?.split_once('!')?;
    let known = COLLECTIONS.iter().find(|(name, _)| *name == collection);
    Some(known.map_or(Kind::Other("parts of other documents"), |(_, kind)| *kind))
}

fn by_fields(fields: &Fields) -> Option<Kind> {
    let has = |name: &str| fields.contains_key(name);
    let object = |name: &str| fields.get(name).is_some_and(Value::is_object);
    let list = |name: &str| fields.get(name).is_some_and(Value::is_array);
    // Character cards and files of Roll20 have members of these names too.
    if has("spec") || has("schema_version") || has("handouts") || has("characters") {
        return None;
    }
    let is_stored = object("_stats") || object("ownership") || object("permission");
    if is_actor(fields, is_stored) {
        return Some(Kind::Actor);
    }
    let is_plain = system(fields).is_none();
    if list("pages") && (is_stored || has_text_page(fields)) {
        return Some(Kind::Journal);
    }
    if is_plain && (list("actors") || list("journal")) {
        return Some(Kind::Adventure);
    }
    let is_folder_type = text(fields, "type").is_some_and(|it| FOLDER_TYPES.contains(&it));
    if is_plain && is_folder_type && (is_stored || has("sorting")) {
        return Some(Kind::Folder);
    }
    if !is_stored {
        return None;
    }
    if is_plain && text(fields, "content").is_some() && !has("speaker") && !has("user") {
        return Some(Kind::Journal);
    }
    let other = OTHERS.iter().find(|(name, _)| has(name));
    Some(Kind::Other(other.map_or("documents of an unknown kind", |(_, plural)| *plural)))
}

fn is_actor(fields: &Fields, is_stored: bool) -> bool {
    let object = |name: &str| fields.get(name).is_some_and(Value::is_object);
    let Some(system) = system(fields) else { return false };
    if object("prototypeToken") || object("token") {
        return true;
    }
    let has_parts =
        ["abilities", "attributes", "details"].iter().any(|name| system.contains_key(*name));
    let is_typed = text(fields, "name").is_some() && text(fields, "type").is_some();
    let has_items = fields.get("items").is_some_and(Value::is_array);
    // Items have a description of their own.
    let is_item = system.contains_key("description");
    (is_stored && has_items) || (is_typed && has_parts && object("system") && !is_item)
}

fn has_text_page(fields: &Fields) -> bool {
    let pages = fields.get("pages").and_then(Value::as_array);
    pages.is_some_and(|pages| pages.iter().any(|page| page.pointer("/text/content").is_some()))
}

/// Data of the game system: `system`, before version 10 `data`.
pub fn system(fields: &Fields) -> Option<&Fields> {
    either(fields, "system", "data")?.as_object()
}

/// Access level of all players: `ownership`, before version 10 `permission`. `None` leaves it to the
/// document around it.
pub fn level(fields: &Fields) -> Option<i64> {
    let level = either(fields, "ownership", "permission")?.get("default")?.as_i64()?;
    (level >= 0).then_some(level)
}

/// The member `name`, or `former`, its name before version 10.
pub fn either<'a>(fields: &'a Fields, name: &str, former: &str) -> Option<&'a Value> {
    let object = |name: &str| fields.get(name).filter(|value| value.is_object());
    object(name).or_else(|| object(former))
}

pub fn text<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str()
}

/// True for text that looks like an id: 16 letters and digits, in the order of no word.
pub fn is_id(text: &str) -> bool {
    let is_odd = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    text.len() == 16
        && text.chars().all(|c| c.is_ascii_alphanumeric())
        && text.chars().skip(1).any(is_odd)
}

/// The value at a `path` of names with dots between.
pub fn at<'a>(fields: &'a Fields, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = fields.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))
}
