//! Enrichers of Foundry VTT as words: links to documents, rolls, references to rules.
//!
//! `@UUID[Actor.id]{label}`, `[[/r 1d6]]`, `[[lookup @name]]`, `&Reference[prone]`, and those of the
//! systems dnd5e and pf2e. A label is used where one is given.

use serde_json::Value;

use super::{
    fields::is_hidden,
    index::Index,
    rolls::{check, damage, rolled, template},
    search::is_secret,
    shape::{Fields, at, system},
};
use crate::{import::draft::RelationTarget, markup::line};

/// Longest content of an enricher, and longest label, in bytes. Bounds the work at each bracket.
const INNER_MAX: usize = 300;
/// Longest value looked up, in characters.
const VALUE_MAX: usize = 80;
/// Length of an id.
const ID: usize = 16;
/// Replaces unknown values.
const UNKNOWN: &str = "…";
/// Names of enrichers that link to documents.
const LINKS: &[&str] = &[
    "Actor",
    "Cards",
    "Compendium",
    "Embed",
    "Item",
    "JournalEntry",
    "JournalEntryPage",
    "Macro",
    "Playlist",
    "RollTable",
    "Scene",
    "UUID",
];

/// Data that enrichers refer to.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub index: &'a Index,
    pub name: &'a str,
    pub fields: &'a Fields,
}

/// `text` with its enrichers as words; the documents they link to are added to `links`.
pub fn words(text: &str, context: Context, links: &mut Vec<RelationTarget>) -> String {
    let mut words = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['@', '[', '&']) {
        let (before, from) = rest.split_at(at);
        words.push_str(before);
        if let Some(found) = Enricher::read(from) {
            words.push_str(&found.told(context, links));
            rest = found.rest;
        } else {
            let (mark, after) = from.split_at(1);
            words.push_str(mark);
            rest = after;
        }
    }
    words.push_str(rest);
    words
}

/// An enricher at the start of a text.
#[derive(Clone, Copy, Debug)]
struct Enricher<'a> {
    /// "UUID"; empty for `[[…]]`.
    name: &'a str,
    inner: &'a str,
    label: Option<&'a str>,
    rest: &'a str,
}

impl<'a> Enricher<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (name, (inner, rest)) = if let Some(after) = text.strip_prefix("[[") {
            let (inner, rest) = enclosed(after, '[', ']')?;
            ("", (inner, rest.strip_prefix(']')?))
        } else {
            let is_reference = text.starts_with('&');
            let after = text.strip_prefix(['@', '&'])?;
            let end = after.find(|c: char| !c.is_ascii_alphanumeric())?;
            let (name, after) = after.split_at(end);
            if name.is_empty() || is_reference != (name == "Reference") {
                return None;
            }
            (name, enclosed(after.strip_prefix('[')?, '[', ']')?)
        };
        let label = rest.strip_prefix('{').and_then(|rest| enclosed(rest, '{', '}'));
        let (label, rest) = label.map_or((None, rest), |(label, rest)| (Some(label), rest));
        Some(Self { name, inner, label, rest })
    }

    fn told(&self, context: Context, links: &mut Vec<RelationTarget>) -> String {
        let told = match self.name {
            "" => rolled(self.inner, &|path| looked_up(path, context)),
            "Reference" => reference(self.inner).to_owned(),
            "Check" => check(self.inner),
            "Damage" => damage(self.inner),
            "Template" => template(self.inner),
            "Localize" => String::new(),
            name if LINKS.contains(&name) => link(name, self.inner, context, links),
            _ => self.inner.split('|').next().unwrap_or_default().to_owned(),
        };
        match self.label.map(str::trim).filter(|label| !label.is_empty()) {
            Some(label) => label.to_owned(),
            None => told,
        }
    }
}

/// `text` before and after the `close` that matches an earlier `open`.
fn enclosed(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        if at > INNER_MAX || c == '\n' {
            return None;
        }
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                let (inner, rest) = text.split_at(at);
                return Some((inner, rest.strip_prefix(close)?));
            }
        }
    }
    None
}

/// Name of the document that `inner` links to, which is added to `links`.
fn link(name: &str, inner: &str, context: Context, links: &mut Vec<RelationTarget>) -> String {
    let inner = inner.split(['#', '?']).next().unwrap_or_default().trim();
    let inner = if name == "Embed" { inner.split(' ').next().unwrap_or_default() } else { inner };
    let mut parts = inner.rsplit('.');
    let id = parts.next().unwrap_or_default();
    let kind = parts.next().filter(|kind| !kind.is_empty()).unwrap_or(name);
    if let Some(known) = context.index.document(id) {
        links.push(RelationTarget::Source(known.source.clone()));
        return known.name.clone();
    }
    let is_id = id.len() == ID && id.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_id && matches!(name, "Actor" | "JournalEntry") {
        // Links by name, as they were typed by hand.
        links.push(RelationTarget::Name(inner.to_owned()));
        return inner.to_owned();
    }
    let source = match kind {
        "Actor" => Some(format!("foundry:actor:{id}")),
        "JournalEntry" => Some(format!("foundry:journal:{id}")),
        "JournalEntryPage" => parts.next().map(|of| format!("foundry:page:{of}.{id}")),
        _ => None,
    };
    links.extend(source.filter(|_| is_id).map(RelationTarget::Source));
    UNKNOWN.to_owned()
}

/// "prone" of "prone", "condition=prone apply=false" and "rule=prone".
fn reference(inner: &str) -> &str {
    let inner = inner.trim();
    match inner.split_once('=') {
        None => inner,
        Some((_, value)) => {
            let value = value.trim_start();
            match value.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next().unwrap_or_default(),
                None => value.split(' ').next().unwrap_or_default(),
            }
        }
    }
}

/// The word at `path` ("@details.race") of the document; whole texts and secrets are not told.
fn looked_up(path: &str, context: Context) -> String {
    let path = path.trim_start_matches('@');
    if path == "name" {
        return context.name.to_owned();
    }
    if path.split('.').any(is_secret) {
        return UNKNOWN.to_owned();
    }
    let system = system(context.fields);
    if system.is_some_and(|fields| is_hidden(fields, path)) {
        return UNKNOWN.to_owned();
    }
    let own = system.and_then(|fields| at(fields, path));
    let value = own.or_else(|| at(context.fields, path));
    let value = value.and_then(|value| value.get("value").or(Some(value)));
    let told: String = match value {
        Some(Value::String(text)) if !text.contains('<') => {
            line(text).chars().take(VALUE_MAX).collect()
        }
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    if told.is_empty() { UNKNOWN.to_owned() } else { told }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn told(text: &str) -> (String, Vec<RelationTarget>) {
        let fields = json!({"name": "Ann", "system": {"details": {"race": "elf", "age": 40}, "gmNotes": "Thief"}});
        let context =
            Context { index: &Index::default(), name: "Ann", fields: fields.as_object().unwrap() };
        let mut links = Vec::new();
        (words(text, context, &mut links), links)
    }

    #[test]
    fn enrichers_become_words() {
        for (text, expected) in [
            ("Ask @UUID[Actor.aaaaaaaaaaaaaaaa]{Old Tom}!", "Ask Old Tom!"),
            ("Ask @UUID[Actor.aaaaaaaaaaaaaaaa] now", "Ask … now"),
            ("@Actor[Old Tom] and @Item[Ring of Ice]{the ring}", "Old Tom and the ring"),
            ("deals [[/r 1d6]] fire", "deals 1d6 fire"),
            (
                "[[/damage 2d6 type=fire average]]{a burn} and [[/damage 2d6 type=fire]]",
                "a burn and 2d6 fire damage",
            ),
            ("[[/r 2d6[fire] # flames]] [[3d4]]", "2d6 fire 3d4"),
            ("[[lookup @name]] is [[lookup @details.age]], [[lookup @hp]]", "Ann is 40, …"),
            ("[[lookup @gmNotes]]", "…"),
            ("make a [[/check ability=dex dc=15]]", "make a DC 15 dex check"),
            ("[[/save wis 12]], [[/attack +5]]", "DC 12 wis save, +5 to hit"),
            ("&Reference[prone] &Reference[condition=blinded apply=false]", "prone blinded"),
            ("&Reference[rule=\"Bright Light\"]{bright}", "bright"),
            (
                "@Check[type:will|dc:20|basic], @Check[perception]",
                "DC 20 will check, perception check",
            ),
            (
                "@Damage[(2d6+3)[fire]] in a @Template[type:cone|distance:30]",
                "2d6+3 fire damage in a 30-foot cone",
            ),
            (
                "@PDF[Players|page=5]{the book}, ann@example.org, [1], R&D, @a",
                "the book, ann@example.org, [1], R&D, @a",
            ),
            ("[[never closed, @UUID[nor this", "[[never closed, @UUID[nor this"),
        ] {
            assert_eq!(told(text).0, expected, "{text}");
        }
    }

    #[test]
    fn links_name_their_targets() {
        let (_, links) = told(
            "@UUID[Compendium.world.people.Actor.aaaaaaaaaaaaaaaa]{A} @Actor[Old Tom] \
             @UUID[JournalEntry.bbbbbbbbbbbbbbbb.JournalEntryPage.cccccccccccccccc#top] \
             @UUID[Item.dddddddddddddddd]",
        );
        assert_eq!(
            links,
            [
                RelationTarget::Source("foundry:actor:aaaaaaaaaaaaaaaa".to_owned()),
                RelationTarget::Name("Old Tom".to_owned()),
                RelationTarget::Source("foundry:page:bbbbbbbbbbbbbbbb.cccccccccccccccc".to_owned()),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_told(text in r"(\PC|@UUID|\[\[/|\]|\}|\{|&Reference\[|[a-z=.|]){0,60}") {
            told(&text);
        }
    }
}
