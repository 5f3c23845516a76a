//! Texts about an actor: where dnd5e and pf2e have them, and what other systems call them.

use serde_json::Value;

use super::shape::{Fields, at, is_id};

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

/// Paths of dnd5e and pf2e with a word in front of their text, in the order of the prompt.
const PATHS: &[(&str, &str, To)] = &[
    ("details.biography.value", "", To::Person),
    ("details.biography", "", To::Person),
    ("details.biography.public", "", To::Public),
    ("details.blurb", "", To::Person),
    ("details.publicNotes", "", To::Public),
    ("details.privateNotes", "", To::Secret),
    ("details.biography.backstory", "", To::Person),
    ("details.biography.birthPlace", "Place of birth", To::Person),
    ("details.appearance", "Appearance", To::Person),
    ("details.biography.appearance", "Appearance", To::Person),
    ("details.trait", "Traits", To::Person),
    ("details.biography.attitude", "Attitude", To::Person),
    ("details.ideal", "Ideal", To::Person),
    ("details.bond", "Bond", To::Person),
    ("details.flaw", "Flaw", To::Person),
    ("details.biography.beliefs", "Beliefs", To::Person),
    ("details.biography.anathema", "Would never", To::Person),
    ("details.biography.edicts", "Has sworn", To::Person),
    ("details.biography.likes", "Likes", To::Person),
    ("details.biography.dislikes", "Dislikes", To::Person),
    ("details.biography.catchphrases", "Says often", To::Person),
    ("details.biography.allies", "Allies", To::Person),
    ("details.biography.enemies", "Enemies", To::Person),
    ("details.biography.organizations", "Organizations", To::Person),
    ("details.biography.campaignNotes", "", To::Notes),
];
/// Fields of other systems with texts about a person, in lower case, letters and digits only.
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
/// Parts of names of what only the game master reads.
const SECRET: &[&str] =
    &["dmnote", "gmdescription", "gminfo", "gmnote", "hidden", "private", "secret"];
/// Names inside a text's object that say nothing of what it is.
const INSIDE: &[&str] = &["content", "full", "html", "long", "short", "text", "value"];
/// How deep texts of other systems are searched for.
const DEPTH_MAX: usize = 4;
/// Longest text that needs its name in front of it, in words.
const SHORT: usize = 3;
/// Most values looked at.
const VALUES_MAX: usize = 5_000;
/// Most texts of other systems.
const TEXTS_MAX: usize = 20;

pub fn texts(system: &Fields) -> Vec<Text<'_>> {
    let known = PATHS.iter().filter_map(|(path, label, to)| {
        let html = at(system, path)?.as_str().filter(|html| is_text(html))?;
        Some(Text { path: (*path).to_owned(), label: (*label).to_owned(), to: *to, html })
    });
    let mut texts: Vec<Text> = known.collect();
    texts.extend(others(system));
    texts
}

struct Waiting<'a> {
    path: String,
    depth: usize,
    /// Readers of texts at this place; `None`: unknown.
    to: Option<To>,
    value: &'a Value,
}

/// Texts at other paths, by their names.
fn others(system: &Fields) -> Vec<Text<'_>> {
    let mut found = Vec::new();
    let mut waiting: Vec<Waiting> = Vec::new();
    push_all(&mut waiting, None, system);
    for _ in 0..VALUES_MAX {
        let Some(next) = waiting.pop() else { break };
        match next.value {
            Value::Object(members) if next.depth < DEPTH_MAX => {
                push_all(&mut waiting, Some(&next), members);
            }
            Value::String(html) if found.len() < TEXTS_MAX && is_text(html) => {
                let is_known = PATHS.iter().any(|(path, ..)| *path == next.path);
                let Some(to) = next.to.filter(|_| !is_known) else { continue };
                let label = if to == To::Person { label(&next.path, html) } else { String::new() };
                found.push(Text { path: next.path, label, to, html });
            }
            _ => {}
        }
    }
    found
}

/// False for nothing, and for the id of something else.
fn is_text(html: &str) -> bool {
    !html.trim().is_empty() && !is_id(html)
}

/// Says what a text of few words is: "background" of "Scholar".
fn label(path: &str, html: &str) -> String {
    let name = path.rsplit('.').find(|name| !INSIDE.contains(name));
    let is_short = html.split_whitespace().nth(SHORT).is_none();
    if is_short { name.unwrap_or_default().to_owned() } else { String::new() }
}

/// Puts `members` on top of `waiting`, the first uppermost.
fn push_all<'a>(waiting: &mut Vec<Waiting<'a>>, around: Option<&Waiting<'a>>, members: &'a Fields) {
    let outer = around.and_then(|it| it.to);
    for (name, value) in members.iter().rev() {
        let to = match (outer, meaning(name)) {
            (Some(To::Secret), _) => outer,
            (_, Some(own)) => Some(own),
            (_, None) => outer.filter(|_| INSIDE.contains(&name.as_str())),
        };
        let path = around.map_or_else(|| name.clone(), |it| format!("{}.{name}", it.path));
        waiting.push(Waiting { path, depth: around.map_or(1, |it| it.depth + 1), to, value });
    }
}

fn meaning(name: &str) -> Option<To> {
    if is_secret(name) {
        return Some(To::Secret);
    }
    NAMES.contains(&plain(name).as_str()).then_some(To::Person)
}

/// True for names of what only the game master reads.
pub fn is_secret(name: &str) -> bool {
    let plain = plain(name);
    matches!(plain.as_str(), "gm" | "dm") || SECRET.iter().any(|part| plain.contains(part))
}

fn plain(name: &str) -> String {
    let plain = name.chars().filter(char::is_ascii_alphanumeric);
    plain.map(|c| c.to_ascii_lowercase()).collect()
}
