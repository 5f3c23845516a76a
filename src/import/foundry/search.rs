//! Texts at unlisted paths, found by the names of the fields around them.
//!
//! Entry functions: [`search`] and [`notes`].

use serde_json::Value;

use super::shape::{Fields, is_id, text};
use crate::markup::plain_text;

/// The readers of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// About the person, who knows it.
    Person,
    Public,
    Secret,
    Notes,
}

#[derive(Debug)]
pub struct Text<'a> {
    pub path: String,
    /// Word in front of it; may be empty.
    pub label: String,
    pub to: To,
    pub html: &'a str,
}

#[derive(Debug, Default)]
pub struct FieldTexts<'a> {
    pub texts: Vec<Text<'a>>,
    /// Number of texts in unknown fields, and of parts too large to search.
    pub unused: usize,
}

/// Fields with texts about a person, in lower case, letters and digits only.
const NAMES: &[&str] = &[
    "appearance",
    "background",
    "backstory",
    "bio",
    "biography",
    "blurb",
    "concept",
    "description",
    "goal",
    "goals",
    "history",
    "manner",
    "mannerisms",
    "motivation",
    "motivations",
    "notes",
    "occupation",
    "personality",
    "profession",
    "quirk",
    "quirks",
    "roleplaying",
    "story",
    "summary",
];
/// First words of names of fields for the game master alone ("gmOnly"), and parts of such names.
const MASTER: &[&str] = &["dm", "gamemaster", "gm", "keeper"];
const SECRET: &[&str] = &["geheim", "hidden", "private", "secret", "spielleit", "spoiler"];
/// Parts of the names of a game master's notes.
const NOTE: &[&str] = &["dmnote", "gmdescription", "gminfo", "gmnote", "keepernote"];
/// Names inside a text's object that do not describe it.
const INSIDE: &[&str] = &["content", "full", "html", "long", "short", "text", "value"];
/// Names of the heading of an entry in a list.
const HEADINGS: &[&str] = &["title", "label", "name"];
/// How deep texts are searched for.
const DEPTH_MAX: usize = 16;
/// Longest part of a path, in bytes, and longest heading, in characters.
const NAME_MAX: usize = 40;
/// Longest text that needs its name in front of it, in words.
const SHORT: usize = 3;
/// Fewest words of prose, and fewest letters of it in scripts without blanks.
const WORDS: usize = 5;
const LETTERS: usize = 12;
/// Most values looked at.
const VALUES_MAX: usize = 5_000;
/// Most texts.
const TEXTS_MAX: usize = 20;

/// Meanings of the names of fields.
pub struct Rules<'r> {
    pub meaning: fn(&str) -> Option<To>,
    /// Readers and label of the texts at a path that is known.
    pub known: &'r dyn Fn(&str) -> Option<(To, &'static str)>,
}

#[derive(Default)]
struct FieldPlace {
    path: String,
    depth: usize,
    /// Readers of texts here; `None`: unknown.
    to: Option<To>,
    /// The field's own name describes a text here, so that few words are enough.
    is_named: bool,
    label: String,
    /// An entry of a list, with a label of its own.
    has_heading: bool,
}

/// Texts in `fields`. Texts at known paths are left to the caller, lists and objects there are not.
pub fn search<'a>(fields: &'a Fields, rules: &Rules) -> FieldTexts<'a> {
    let mut found = FieldTexts::default();
    let mut waiting: Vec<(FieldPlace, &Value)> = Vec::new();
    found.unused += push_members(&mut waiting, &FieldPlace::default(), fields, rules);
    for _ in 0..VALUES_MAX {
        let Some((place, value)) = waiting.pop() else { return found };
        match value {
            Value::Object(_) | Value::Array(_) if place.depth >= DEPTH_MAX => found.unused += 1,
            Value::Object(members) => {
                found.unused += push_members(&mut waiting, &place, members, rules);
            }
            Value::Array(items) => found.unused += push_items(&mut waiting, &place, items, rules),
            Value::String(_) if (rules.known)(&place.path).is_some() => {}
            Value::String(html) if is_text(html) => found.add(place, html),
            _ => {}
        }
    }
    found.unused += usize::from(!waiting.is_empty());
    found
}

impl<'a> FieldTexts<'a> {
    fn add(&mut self, place: FieldPlace, html: &'a str) {
        let to = place.to.filter(|_| place.is_named || is_prose(html));
        match to {
            Some(to) if self.texts.len() < TEXTS_MAX => {
                let label = match to {
                    To::Person if place.label.is_empty() => label(&place.path, html),
                    To::Person => place.label,
                    _ => String::new(),
                };
                self.texts.push(Text { path: place.path, label, to, html });
            }
            _ => self.unused += usize::from(is_prose(html)),
        }
    }
}

/// Pushes `members` onto `waiting`, so that the first is popped first. Returns 1 if some had no room.
fn push_members<'a>(
    waiting: &mut Vec<(FieldPlace, &'a Value)>,
    around: &FieldPlace,
    members: &'a Fields,
    rules: &Rules,
) -> usize {
    let room = VALUES_MAX.saturating_sub(waiting.len());
    let inner = members.iter().take(room).rev();
    waiting.extend(inner.map(|(name, value)| (place(around, name, rules), value)));
    usize::from(members.len() > room)
}

/// Like [`push_members`]; the heading of an entry describes its texts.
fn push_items<'a>(
    waiting: &mut Vec<(FieldPlace, &'a Value)>,
    around: &FieldPlace,
    items: &'a [Value],
    rules: &Rules,
) -> usize {
    let room = VALUES_MAX.saturating_sub(waiting.len());
    for (at, item) in items.iter().enumerate().take(room).rev() {
        let mut place = place(around, &at.to_string(), rules);
        let heading = item.as_object().and_then(heading).filter(|_| place.to.is_some());
        if let Some(heading) = heading {
            if is_secret(heading) {
                place.to = Some(To::Secret);
            }
            place.label = plain_text(heading, NAME_MAX);
            (place.is_named, place.has_heading) = (true, true);
        }
        waiting.push((place, item));
    }
    usize::from(items.len() > room)
}

fn heading(entry: &Fields) -> Option<&str> {
    HEADINGS.iter().find_map(|name| text(entry, name))
}

/// Place of the member `name` inside `around`.
fn place(around: &FieldPlace, name: &str, rules: &Rules) -> FieldPlace {
    let own = (rules.meaning)(name);
    let name = name.get(..name.floor_char_boundary(NAME_MAX)).unwrap_or_default();
    let path = match around.path.as_str() {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    let known = (rules.known)(&path);
    let own = known.map(|(to, _)| to).or(own);
    let (to, is_named) = match (around.to, own) {
        // The heading of an entry is its label.
        _ if around.has_heading && HEADINGS.contains(&name) => (None, false),
        (Some(To::Secret), _) | (_, Some(To::Secret)) => (Some(To::Secret), true),
        (Some(To::Notes), _) => (Some(To::Notes), true),
        (_, Some(own)) => (Some(own), true),
        (outer, None) => (outer, around.is_named && says_nothing(name)),
    };
    let label = match known {
        Some((_, label)) => label.to_owned(),
        None if says_nothing(name) => around.label.clone(),
        None => String::new(),
    };
    FieldPlace { path, depth: around.depth + 1, to, is_named, label, has_heading: false }
}

/// True for the name of the only text in an object, and for the number of an entry in a list.
fn says_nothing(name: &str) -> bool {
    INSIDE.contains(&name) || name.chars().all(|c| c.is_ascii_digit())
}

/// Name in front of a text of few words: "background" of "Scholar".
fn label(path: &str, html: &str) -> String {
    let name = path.rsplit('.').find(|name| !says_nothing(name));
    let is_short = html.split_whitespace().nth(SHORT).is_none();
    if is_short { name.unwrap_or_default().to_owned() } else { String::new() }
}

/// A game master's notes that modules keep in the flags of a document.
pub fn notes(document: &Fields) -> Vec<Text<'_>> {
    let Some(flags) = document.get("flags").and_then(Value::as_object) else { return Vec::new() };
    let of_note = |name: &str| is_note(name).then_some(To::Secret);
    let found = search(flags, &Rules { meaning: of_note, known: &|_| None });
    let texts = found.texts.into_iter().filter(|text| {
        let name = text.path.rsplit('.').find(|name| !says_nothing(name)).map(plain);
        // Settings of the module are no notes.
        let says_so = |it: &String| it.contains("note") || is_note(it) || meaning(it).is_some();
        name.as_ref().is_some_and(says_so) || is_prose(text.html)
    });
    texts.map(|text| Text { path: format!("flags.{}", text.path), ..text }).collect()
}

/// False for blank texts and for ids.
pub fn is_text(html: &str) -> bool {
    !html.trim().is_empty() && !is_id(html)
}

/// True for prose: a paragraph, or some words that are no formula.
pub fn is_prose(text: &str) -> bool {
    let is_word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).nth(1).is_some();
    let is_wide = |c: &char| !c.is_ascii() && c.is_alphabetic();
    text.contains("<p>")
        || text.contains("</p>")
        || text.split_whitespace().filter(is_word).nth(WORDS - 1).is_some()
        || text.chars().filter(is_wide).nth(LETTERS - 1).is_some()
}

/// Number of texts in `value` that are prose.
pub fn prose_in(value: &Value) -> usize {
    match value {
        Value::String(text) => usize::from(is_prose(text)),
        Value::Array(items) => items.iter().map(prose_in).sum(),
        Value::Object(members) => members.values().map(prose_in).sum(),
        _ => 0,
    }
}

/// Readers of texts in fields of this name.
pub fn meaning(name: &str) -> Option<To> {
    if is_secret(name) {
        return Some(To::Secret);
    }
    NAMES.contains(&plain(name).as_str()).then_some(To::Person)
}

/// True for names of fields that only the game master reads.
pub fn is_secret(name: &str) -> bool {
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let begins = |word: &&str| {
        let rest = name.get(word.len()..).unwrap_or_default();
        let first = name.get(..word.len()).unwrap_or_default();
        first.eq_ignore_ascii_case(word) && !rest.starts_with(|c: char| c.is_ascii_lowercase())
    };
    let plain = plain(name);
    MASTER.iter().any(begins) || SECRET.iter().chain(NOTE).any(|part| plain.contains(part))
}

/// True for names of a game master's notes: "gm-notes", "GMNotes".
pub fn is_note(name: &str) -> bool {
    let plain = plain(name);
    NOTE.iter().any(|part| plain.contains(part))
}

fn plain(name: &str) -> String {
    let plain = name.chars().filter(char::is_ascii_alphanumeric);
    plain.map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known() {
        for name in ["gm", "gmOnly", "DM Info", "keeper", "keeper_notes", "privateNotes", "GMNotes"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["dmg", "gmail", "innkeeper", "notes", "", "gü"] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn formulas_are_no_prose() {
        for text in ["<p>Old.</p>", "She sells maps and charts.", "他住在山上的一座小房子里。"]
        {
            assert!(is_prose(text), "{text}");
        }
        for text in ["", "30 ft", "@abilities.dex.mod + 2d6 * 3", "systems/x/icons/a.webp"] {
            assert!(!is_prose(text), "{text}");
        }
    }

    #[test]
    fn flood_of_fields_is_searched_in_part() {
        let name = "bio".repeat(100);
        let members = (0..9_000).map(|at| (format!("{name}{at}"), Value::from(at)));
        let fields: Fields =
            [("biography".to_owned(), Value::Object(members.collect()))].into_iter().collect();
        let found = search(&fields, &Rules { meaning, known: &|_| None });
        assert_eq!((found.texts.len(), found.unused > 0), (0, true));
    }
}
