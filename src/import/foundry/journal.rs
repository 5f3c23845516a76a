//! Pages of journals as entities.

use serde_json::Value;

use super::{
    documents::Document,
    index::Index,
    left_out::LeftOuts,
    shape::{Fields, OBSERVER, at, level},
    texts::{Texts, relations},
};
use crate::{
    domain::EntityKind,
    import::draft::{Drafts, EntityDraft},
};

/// Names of pages that players do not ask for.
const PLAIN_NAMES: &[&str] = &[
    "description",
    "details",
    "gm notes",
    "introduction",
    "notes",
    "overview",
    "page",
    "summary",
    "text",
];
/// Shortest name of a page by which it may be asked for, in characters.
const ALIAS_MIN: usize = 4;
/// Kinds of pages of Monk's Enhanced Journal.
const KINDS: &[(&str, EntityKind)] = &[
    ("person", EntityKind::Npc),
    ("place", EntityKind::Location),
    ("poi", EntityKind::Location),
    ("shop", EntityKind::Location),
    ("organization", EntityKind::Faction),
    ("quest", EntityKind::Quest),
    ("event", EntityKind::Event),
    ("loot", EntityKind::Item),
];

pub fn page(document: &Document, index: &Index, left: &mut LeftOuts, drafts: &mut Drafts) {
    let Some((path, content)) = content(&document.fields) else {
        left.count(&document.file, "pages without text");
        return;
    };
    let mut texts = Texts::new(document, index);
    let told = texts.read(path, content);
    if told.open.is_none() && told.secret.is_none() {
        left.count(&document.file, "pages without text");
        return;
    }
    left.add(&document.file, "texts that were cut", texts.cut);
    let journal = document.journal.as_ref();
    let level = level(&document.fields).unwrap_or_else(|| journal.map_or(0, |it| it.level));
    let (name, aliases) = names(document);
    let flags = at(&document.fields, "flags.monks-enhanced-journal");
    drafts.entities.push(EntityDraft {
        source: document.source.clone(),
        file: document.file.clone(),
        kind: flags.and_then(kind).unwrap_or(EntityKind::Lore),
        name,
        aliases,
        text: told.open.into_iter().collect(),
        secrets: told.secret.into_iter().collect(),
        dm_only: level < OBSERVER,
        is_standing: false,
        known_to: Vec::new(),
        properties: Vec::new(),
        tags: index.folders(journal.and_then(|it| it.folder.as_deref())),
    });
    drafts.relations.extend(relations(document, told.links));
}

fn content(fields: &Fields) -> Option<(&'static str, &str)> {
    let text = |path: &'static str| {
        let text = at(fields, path)?.as_str()?;
        (!text.trim().is_empty()).then_some((path, text))
    };
    // Markdown is stored as HTML too.
    ["text.content", "text.markdown", "content"].into_iter().find_map(text)
}

/// Name of the entity, which says its journal's too, and the page's own.
fn names(document: &Document) -> (String, Vec<String>) {
    let page = &document.name;
    let Some(journal) = document.journal.as_ref().filter(|it| it.name != *page) else {
        return (page.clone(), Vec::new());
    };
    let is_plain = PLAIN_NAMES.contains(&page.to_lowercase().as_str());
    let is_asked_for = !is_plain && page.chars().count() >= ALIAS_MIN;
    let aliases = is_asked_for.then(|| page.clone()).into_iter().collect();
    (format!("{}: {page}", journal.name).chars().take(80).collect(), aliases)
}

fn kind(flags: &Value) -> Option<EntityKind> {
    let name = flags.get("pagetype").or_else(|| flags.get("type"))?.as_str()?;
    KINDS.iter().find(|(kind, _)| *kind == name).map(|(_, kind)| *kind)
}
