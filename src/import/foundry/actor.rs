//! Actors as NPCs; vehicles, groups and stat blocks of packs as entities.

use serde_json::{Map, Value};

use super::{
    documents::{Document, clean_name, within},
    facts::{abilities, facts, looks, properties},
    fields::texts,
    index::Index,
    left_out::{LeftOuts, UNUSED},
    search::{FieldTexts, Text, To, notes},
    shape::{Fields, OBSERVER, either, level, system, text},
    texts::{Texts, Told, relations},
};
use crate::{
    domain::{EntityKind, bare_name},
    import::draft::{Drafts, EntityDraft, NpcDraft, Passage, RelationTarget},
};

/// Types of actors that are no persons.
const THINGS: &[(&str, EntityKind)] = &[
    ("army", EntityKind::Faction),
    ("encounter", EntityKind::Event),
    ("group", EntityKind::Faction),
    ("hazard", EntityKind::Lore),
    ("loot", EntityKind::Item),
    ("party", EntityKind::Faction),
    ("ship", EntityKind::Item),
    ("starship", EntityKind::Item),
    ("vehicle", EntityKind::Item),
];

/// Texts of an actor by their readers.
#[derive(Debug, Default)]
struct ActorTexts {
    person: Vec<Passage>,
    public: Vec<Passage>,
    secrets: Vec<Passage>,
    notes: Vec<Passage>,
    /// Abilities that change speech; stat blocks have them too.
    abilities: Vec<Passage>,
    links: Vec<RelationTarget>,
}

pub fn actor(document: &Document, index: &Index, left: &mut LeftOuts, drafts: &mut Drafts) {
    let nothing = Map::new();
    let system = system(&document.fields).unwrap_or(&nothing);
    let mut reading = Texts::new(document, index);
    let mut known = ActorTexts::default();
    let FieldTexts { texts, unused } = texts(system);
    left.add(&document.file, UNUSED, unused);
    for text in texts {
        let path = format!("{}.{}", system_name(document), text.path);
        let told = reading.read(&path, text.html);
        known.add(text, told);
    }
    let has_texts = !known.is_empty();
    for text in notes(&document.fields) {
        let told = reading.read(&text.path, text.html);
        known.add(text, told);
    }
    for (name, html) in abilities(&document.fields) {
        let told = reading.read("items", html);
        known.abilities.extend(told.open.map(|it| labelled(&name, it)));
        known.secrets.extend(told.secret);
    }
    left.add(&document.file, "texts that were cut", reading.cut);
    // Links of other texts would reveal private thoughts.
    let links = std::mem::take(&mut known.links);
    drafts.relations.extend(relations(document, links));
    let own_type = text(&document.fields, "type").unwrap_or_default();
    let thing = THINGS.iter().find(|(name, _)| *name == own_type).map(|(_, kind)| *kind);
    // Only sources of packs have keys.
    let is_creature = document.fields.contains_key("_key") && !has_texts;
    let thing = thing.or(is_creature.then_some(EntityKind::Npc));
    let tags = index.folders(text(&document.fields, "folder"));
    let aliases = aliases(document);
    match thing {
        Some(kind) => {
            let entity = EntityDraft { kind, ..thing_draft(document, system, known) };
            drafts.entities.push(EntityDraft { aliases, tags, ..entity });
        }
        None => {
            if !known.public.is_empty() {
                drafts.entities.push(EntityDraft {
                    aliases: aliases.clone(),
                    tags: tags.clone(),
                    ..public(document, &known)
                });
            }
            let npc = person(document, system, known);
            drafts.npcs.push(NpcDraft { aliases, tags, ..npc });
        }
    }
}

impl ActorTexts {
    fn add(&mut self, text: Text, told: Told) {
        if text.to == To::Public {
            self.links.extend(told.links);
        }
        let passages = match text.to {
            To::Person => &mut self.person,
            To::Public => &mut self.public,
            To::Secret => &mut self.secrets,
            To::Notes => &mut self.notes,
        };
        passages.extend(told.open.map(|it| labelled(&text.label, it)));
        self.secrets.extend(told.secret);
    }

    fn is_empty(&self) -> bool {
        [&self.person, &self.public, &self.secrets, &self.notes].iter().all(|it| it.is_empty())
    }
}

fn labelled(label: &str, passage: Passage) -> Passage {
    let text = match label {
        "" => passage.text,
        label => format!("{label}: {}", passage.text),
    };
    Passage { text, ..passage }
}

/// The NPC itself, which knows its biography and its public description.
fn person(document: &Document, system: &Fields, known: ActorTexts) -> NpcDraft {
    let ActorTexts { person: mut personality, public, secrets, notes, abilities, .. } = known;
    for passage in public {
        if !personality.iter().any(|it| it.text == passage.text) {
            personality.push(passage);
        }
    }
    personality.extend(facts_of(document, system));
    personality.extend(abilities);
    NpcDraft {
        source: document.source.clone(),
        file: document.file.clone(),
        name: document.name.clone(),
        personality,
        secrets,
        for_dm: notes,
        looks: looks(&document.fields, system),
        ..NpcDraft::default()
    }
}

fn public(document: &Document, known: &ActorTexts) -> EntityDraft {
    EntityDraft {
        source: format!("{}:public", document.source),
        kind: EntityKind::Npc,
        text: known.public.clone(),
        ..bare(document)
    }
}

/// A thing, group or creature without a seat. Texts that readers do not see are the game master's.
fn thing_draft(document: &Document, system: &Fields, known: ActorTexts) -> EntityDraft {
    let ActorTexts { person, public, secrets, notes, abilities, .. } = known;
    let is_read = level(&document.fields).is_some_and(|level| level >= OBSERVER);
    let dm_only = public.is_empty() && !is_read;
    let (mut text, mut hidden) = (public, secrets);
    if is_read {
        text.extend(person)
    } else {
        hidden.extend(person)
    }
    hidden.extend(notes);
    if dm_only {
        text.extend(facts_of(document, system));
        text.extend(abilities);
    }
    // Readers of a public description do not see the sheet.
    let properties = if is_read || dm_only { properties(system) } else { Vec::new() };
    EntityDraft { text, secrets: hidden, dm_only, properties, ..bare(document) }
}

fn bare(document: &Document) -> EntityDraft {
    EntityDraft {
        source: document.source.clone(),
        file: document.file.clone(),
        kind: EntityKind::Npc,
        name: document.name.clone(),
        aliases: Vec::new(),
        text: Vec::new(),
        secrets: Vec::new(),
        dm_only: false,
        is_standing: false,
        known_to: Vec::new(),
        properties: Vec::new(),
        tags: Vec::new(),
    }
}

fn facts_of(document: &Document, system: &Fields) -> impl Iterator<Item = Passage> {
    let around = within(&document.place, system_name(document));
    let facts = facts(system).into_iter();
    facts.map(move |fact| Passage { from: format!("{around}.{}", fact.from), ..fact })
}

/// Names that players say: that of the token, and the name without what follows a comma or bracket.
fn aliases(document: &Document) -> Vec<String> {
    let token = either(&document.fields, "prototypeToken", "token");
    let token = token.and_then(|it| it.get("name")).and_then(Value::as_str).map(clean_name);
    let short = document.name.split(['(', ',', '|', '[']).next().map(|it| it.trim().to_owned());
    let mut aliases: Vec<String> = Vec::new();
    for alias in token.into_iter().chain(short).filter(|it| !it.is_empty()) {
        let is_same = |it: &String| bare_name(it) == bare_name(&alias);
        if !is_same(&document.name) && !aliases.iter().any(is_same) {
            aliases.push(alias);
        }
    }
    aliases
}

/// Name of the system's data in the document.
fn system_name(document: &Document) -> &'static str {
    if document.fields.get("system").is_some_and(Value::is_object) { "system" } else { "data" }
}
