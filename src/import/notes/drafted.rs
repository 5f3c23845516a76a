//! Notes as drafts: an NPC with a seat, or an entity.
//!
//! Entry function: [`add`].

use super::{note::Note, split::Block, words::words};
use crate::{
    domain::EntityKind,
    import::{
        draft::{Drafts, EntityDraft, LeftOut, NpcDraft, Passage},
        pronounced,
    },
};

/// Most greetings, and the longest, in characters.
const GREETINGS_MAX: usize = 10;
const GREETING_MAX: usize = 300;
/// Words in headings above an NPC's greetings.
const GREETINGS: &[&str] = &[
    "begrüßung",
    "begrüßungen",
    "catchphrase",
    "catchphrases",
    "greeting",
    "greetings",
    "quote",
    "quotes",
    "sprüche",
    "zitat",
    "zitate",
];
/// Words in headings above an NPC's character.
const PERSONALITY: &[&str] = &[
    "appearance",
    "auftreten",
    "aussehen",
    "behavior",
    "behaviour",
    "beschreibung",
    "bond",
    "bonds",
    "character",
    "charakter",
    "demeanor",
    "demeanour",
    "description",
    "eigenschaften",
    "fears",
    "flaw",
    "flaws",
    "ideal",
    "ideals",
    "mannerisms",
    "motivation",
    "motivations",
    "personality",
    "persönlichkeit",
    "quirks",
    "roleplay",
    "roleplaying",
    "speak",
    "speech",
    "stimme",
    "traits",
    "values",
    "verhalten",
    "voice",
    "ziele",
];

pub fn add(note: Note, drafts: &mut Drafts) {
    let kind = note.kind;
    let is_npc = kind.is_some_and(|it| it.is_npc);
    if is_npc && !note.is_secret {
        drafts.npcs.push(npc(note));
        return;
    }
    if is_npc {
        drafts.left_out.push(LeftOut {
            file: note.path.clone(),
            what: format!("a seat for {}", note.name),
            why: "the whole note is the game master's, by its folder, a tag or its front matter"
                .to_owned(),
        });
    }
    let entity = kind.map_or(EntityKind::Lore, |it| it.entity);
    drafts.entities.push(self::entity(note, entity));
}

fn npc(note: Note) -> NpcDraft {
    let said = note.pronunciation.as_deref();
    let mut draft = NpcDraft {
        secrets: secrets(&note),
        pronunciation: said.map(|it| pronounced::pairs(&note.name, it)).unwrap_or_default(),
        source: note.source,
        file: note.path,
        name: note.name,
        aliases: note.aliases,
        language: note.language,
        looks: note.looks,
        tags: note.tags,
        ..NpcDraft::default()
    };
    for block in &note.parts.open {
        let words: Vec<String> = block.headings.iter().flat_map(|it| words(it)).collect();
        let has = |all: &[&str]| words.iter().any(|it| all.contains(&it.as_str()));
        if has(GREETINGS) {
            let room = GREETINGS_MAX.saturating_sub(draft.greetings.len());
            draft.greetings.extend(greetings(&block.text).take(room));
        } else if block.headings.is_empty() || has(PERSONALITY) {
            draft.personality.push(passage(block));
        } else {
            draft.knowledge.push(passage(block));
        }
    }
    if draft.personality.is_empty() {
        draft.personality = std::mem::take(&mut draft.knowledge);
    }
    if !note.properties.is_empty() {
        let lines = note.properties.iter().map(|(key, value)| format!("{key}: {value}"));
        let text = lines.collect::<Vec<_>>().join("\n");
        draft.knowledge.push(Passage { from: "front matter".to_owned(), text });
    }
    draft
}

fn entity(mut note: Note, kind: EntityKind) -> EntityDraft {
    let said = note.pronunciation.take().map(|it| (pronounced::PROPERTY.to_owned(), it));
    note.properties.extend(said);
    EntityDraft {
        text: note.parts.open.iter().map(passage).collect(),
        secrets: secrets(&note),
        source: note.source,
        file: note.path,
        kind,
        name: note.name,
        aliases: note.aliases,
        dm_only: note.is_secret,
        is_standing: false,
        known_to: Vec::new(),
        properties: note.properties,
        tags: note.tags,
    }
}

/// A block with the heading above it.
fn passage(block: &Block) -> Passage {
    let text = block.text.trim_end();
    match block.headings.last() {
        Some(heading) => Passage {
            from: block.headings.join(" > "),
            text: format!("{}:\n{text}", heading.trim_end_matches(':')),
        },
        None => Passage { from: "text".to_owned(), text: text.to_owned() },
    }
}

fn secrets(note: &Note) -> Vec<Passage> {
    let of_text = note.parts.secrets.iter().map(|block| Passage {
        from: block.headings.join(" > "),
        text: block.text.trim_end().to_owned(),
    });
    note.secrets.iter().cloned().chain(of_text).collect()
}

/// Entries of a list and lines of a quote, without quotation marks.
fn greetings(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(|line| {
        let line = line.trim().trim_start_matches(['-', '*', '+', ' ']);
        line.trim_matches(['"', '“', '”', '„', '«', '»']).trim()
    });
    let good = |line: &&str| !line.is_empty() && line.chars().count() <= GREETING_MAX;
    lines.filter(good).filter(|it| !it.starts_with('[')).map(str::to_owned)
}
