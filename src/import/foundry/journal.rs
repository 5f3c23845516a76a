//! Pages of journals, and descriptions of adventures, as entities.

use serde_json::Value;

use super::{
    documents::Document,
    index::Index,
    left_out::LeftOuts,
    search::notes,
    shape::{Fields, OBSERVER, at, level},
    texts::{Texts, Told, relations},
};
use crate::{
    domain::EntityKind,
    import::draft::{Drafts, EntityDraft, Passage, RelationTarget},
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
    let mut reading = Texts::new(document, index);
    let Content { mut text, mut secrets, links } = content(&document.fields, &mut reading);
    for note in notes(&document.fields) {
        let told = reading.read(&note.path, note.html);
        secrets.extend(told.open.into_iter().chain(told.secret));
    }
    left.add(&document.file, "texts that were cut", reading.cut);
    if text.is_empty() && secrets.is_empty() {
        left.count(&document.file, "pages without text");
        return;
    }
    let journal = document.journal.as_ref();
    let level = level(&document.fields).unwrap_or_else(|| journal.map_or(0, |it| it.level));
    let dm_only = level < OBSERVER;
    if dm_only && text.is_empty() {
        text.append(&mut secrets);
    }
    let (name, aliases) = names(document);
    let flags = at(&document.fields, "flags.monks-enhanced-journal");
    drafts.entities.push(EntityDraft {
        source: document.source.clone(),
        file: document.file.clone(),
        kind: flags.and_then(kind).unwrap_or(EntityKind::Lore),
        name,
        aliases,
        text,
        secrets,
        dm_only,
        is_standing: false,
        known_to: Vec::new(),
        properties: Vec::new(),
        tags: index.folders(journal.and_then(|it| it.folder.as_deref())),
    });
    drafts.relations.extend(relations(document, links));
}

#[derive(Default)]
struct Content {
    text: Vec<Passage>,
    secrets: Vec<Passage>,
    links: Vec<RelationTarget>,
}

impl Content {
    fn add(&mut self, told: Told) {
        self.text.extend(told.open);
        self.secrets.extend(told.secret);
        self.links.extend(told.links);
    }
}

/// Texts of a page, of a journal before version 10, or of an adventure.
fn content(fields: &Fields, reading: &mut Texts) -> Content {
    let filled = |path: &str| at(fields, path)?.as_str().filter(|it| !it.trim().is_empty());
    let mut content = Content::default();
    match (filled("text.content"), filled("text.markdown")) {
        (Some(html), Some(markdown)) => both(html, markdown, reading, &mut content),
        (None, Some(markdown)) => content.add(reading.read("text.markdown", markdown)),
        (Some(html), None) => content.add(reading.read("text.content", html)),
        (None, None) => {
            for path in ["content", "description", "caption"] {
                if let Some(html) = filled(path) {
                    content.add(reading.read(path, html));
                }
            }
        }
    }
    content
}

/// Adds a page that is stored as Markdown and as HTML. The HTML is the better text, but may have lost secret
/// blocks, which then come from the Markdown. If it shows them openly or is empty, the Markdown replaces it.
fn both(html: &str, markdown: &str, reading: &mut Texts, content: &mut Content) {
    let source = reading.read("text.markdown", markdown);
    let told = reading.read("text.content", html);
    let letters = |passage: &Option<Passage>| {
        let text = passage.as_ref().map_or("", |it| it.text.as_str());
        text.chars().filter(|c| c.is_alphanumeric()).collect::<String>()
    };
    let hidden = letters(&source.secret);
    let is_shown = !hidden.is_empty() && letters(&told.open).contains(&hidden);
    if is_shown || (told.open.is_none() && told.secret.is_none()) {
        return content.add(source);
    }
    if !letters(&told.secret).contains(&hidden) {
        content.secrets.extend(source.secret);
    }
    content.add(told);
}

/// Name of the entity, which begins with the name of its journal, and the name of the page as an alias.
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
