//! A character card as an NPC: who they are for the prompt, what they say as lines, and everything that is
//! addressed to a model or to the reader for the game master alone.
//!
//! Entry function: [`read`].

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{
    examples::exchanges,
    fault::Fault,
    fields::Fields,
    looks::{is_for_adults, looks},
    lore::{self, Owner, report_unknown},
    macros::Macros,
    markdown::tidy,
    names::{aliases, clean, short},
    reading::Reading,
    remainder,
    texts::{about, noted, said},
};
use crate::{
    domain::{fnv1a, one_line},
    import::draft::{Exchange, NpcDraft, Passage},
};

/// Fields of who they are, in the order of the prompt; the second name is Pygmalion's.
const PERSONALITY: &[&[&str]] =
    &[&["description", "char_persona"], &["personality"], &["scenario", "world_scenario"]];
/// Fields for the game master.
const NOTES: &[&[&str]] = &[
    &["system_prompt"],
    &["post_history_instructions"],
    &["creator_notes", "creatorcomment"],
    &["creator"],
    &["character_version"],
];
/// Lists of further greetings.
const GREETINGS: &[&str] = &["alternate_greetings", "group_only_greetings"];
/// Most example exchanges; more would not fit into a prompt.
const EXAMPLES_MAX: usize = 200;
/// Members of the extension of our own cards that the NPC gets back.
const CARRIED: &[&str] = &["language", "max_sentences", "pronunciation", "voice"];
/// Largest size of these as JSON, in bytes.
const EXTENSION_MAX: usize = 4 << 10;
/// Most texts of a list in the extension.
const TEXTS_MAX: usize = 100;
/// Longest tag, in characters.
const TAG_MAX: usize = 40;

/// Adds the character of `document`, whose fields are in `data` if it `is_nested`, and its lorebook.
pub fn read(reading: &mut Reading<'_>, document: &Map<String, Value>, is_nested: bool) {
    let inner = document.get("data").filter(|_| is_nested).and_then(Value::as_object);
    let fields = match inner {
        Some(map) => Fields::new(map, "data"),
        None => Fields::new(document, ""),
    };
    let Some((mut npc, mut macros)) = identified(reading, &fields) else { return };
    describe(&mut npc, reading, &fields, &mut macros);
    let told = lines(&mut npc, reading, &fields, &mut macros);
    note(&mut npc, reading, &fields);
    let what = ["text with stage directions", "texts with stage directions"];
    reading.left_out_counted(told, what, "an NPC says only the words between them");
    if let Some(book) = fields.object("character_book", reading) {
        let owner = Owner { source: &npc.source, known_to: vec![npc.source.clone()] };
        lore::read(reading, &book, &owner, &mut macros);
    }
    report_unknown(reading, &macros);
    remainder::report(reading, document, &fields);
    reading.drafts.npcs.push(npc);
}

/// An NPC with its names, and the values of its placeholders.
fn identified(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Option<(NpcDraft, Macros)> {
    let name = fields.text(&["name", "char_name"], reading).map(|name| clean(&name.text));
    let nickname = fields.text(&["nickname"], reading).map(|name| clean(&name.text));
    let has_letters = |name: &String| name.contains(char::is_alphanumeric);
    let nickname = nickname.filter(has_letters);
    let Some(name) = name.filter(has_letters).or_else(|| nickname.clone()) else {
        let way_out = "write a name into the card and export it again";
        reading.mistake(Fault::new(&fields.place("name"), "the character has no name", way_out));
        return None;
    };
    let creator = fields.text(&["creator"], reading).map(|it| it.text.trim().to_owned());
    // A card of the same author and name is a newer version of it; without an author the text tells.
    let told = fields.value(&["description", "char_persona", "personality"]);
    let told = told.and_then(|(_, text)| text.as_str()).unwrap_or_default();
    let identity = [name.as_str(), creator.as_deref().unwrap_or(told)].join("\0");
    let npc = NpcDraft {
        source: format!("card:{name}:{:016x}", fnv1a(identity.bytes())),
        file: reading.file.clone(),
        aliases: aliases(&name, nickname.as_deref()),
        ..NpcDraft::default()
    };
    let macros = Macros::new(nickname.as_deref().unwrap_or_else(|| short(&name)));
    Some((NpcDraft { name, ..npc }, macros))
}

fn describe(
    npc: &mut NpcDraft,
    reading: &mut Reading<'_>,
    fields: &Fields<'_>,
    macros: &mut Macros,
) {
    for names in PERSONALITY {
        let Some(field) = fields.text(names, reading) else { continue };
        let told = about(&field.text, macros);
        push(&mut npc.personality, field.name, told.open);
        push(&mut npc.secrets, field.name, told.secret);
    }
    let tags = fields.words("tags", reading);
    npc.tags = tags.into_iter().map(|tag| one_line(tag.trim(), TAG_MAX)).collect();
    npc.tags.retain(|tag| !tag.is_empty());
    let described = npc.personality.iter().map(|passage| passage.text.as_str());
    npc.looks = looks(&described.collect::<Vec<_>>().join("\n"), &npc.tags);
}

/// Fills greetings and examples. Returns the number of texts with stage directions.
fn lines(
    npc: &mut NpcDraft,
    reading: &mut Reading<'_>,
    fields: &Fields<'_>,
    macros: &mut Macros,
) -> usize {
    let mut told = 0;
    let first = fields.text(&["first_mes", "char_greeting"], reading);
    let first = first.map(|it| (it.name, it.text));
    let mut greetings: Vec<(&str, Cow<'_, str>)> = first.into_iter().collect();
    for &list in GREETINGS {
        greetings.extend(fields.texts(list, reading).into_iter().map(|text| (list, text)));
    }
    for (from, text) in greetings {
        let greeting = said(&text, macros);
        if !greeting.is_all {
            told += 1;
            push(&mut npc.for_dm, from, about(&text, macros).open);
        }
        if !greeting.text.is_empty() && !npc.greetings.contains(&greeting.text) {
            npc.greetings.push(greeting.text);
        }
    }
    let Some(field) = fields.text(&["mes_example", "example_dialogue"], reading) else {
        return told;
    };
    let mut names = vec![npc.name.as_str()];
    names.extend(npc.aliases.iter().map(String::as_str));
    let examples = exchanges(&tidy(&field.text), &names);
    if examples.is_empty() {
        push(&mut npc.personality, field.name, about(&field.text, macros).open);
    }
    let more = examples.len().saturating_sub(EXAMPLES_MAX);
    let what = ["further example", "further examples"];
    reading.left_out_counted(more, what, "an NPC has at most 200");
    for raw in examples.into_iter().take(EXAMPLES_MAX) {
        let (player, answer) = (about(&raw.player, macros).open, said(&raw.npc, macros));
        told += usize::from(!answer.is_all);
        if !answer.text.is_empty() {
            npc.examples.push(Exchange { player, npc: answer.text });
        }
    }
    told
}

fn note(npc: &mut NpcDraft, reading: &mut Reading<'_>, fields: &Fields<'_>) {
    for names in NOTES {
        if let Some(field) = fields.text(names, reading) {
            push(&mut npc.for_dm, field.name, noted(&field.text));
        }
    }
    if let Some(notes) = fields.object("creator_notes_multilingual", reading) {
        for (language, text) in notes.map.iter().take(50) {
            let from = format!("creator_notes_multilingual/{}", one_line(language, 20));
            push(&mut npc.for_dm, &from, text.as_str().map(noted).unwrap_or_default());
        }
    }
    let extensions = fields.map.get("extensions");
    let prompt = extensions.and_then(|it| it.get("depth_prompt")?.get("prompt")?.as_str());
    let prompt = prompt.map(noted).unwrap_or_default();
    push(&mut npc.for_dm, "extensions/depth_prompt/prompt", prompt);
    if let Some(own) = extensions.and_then(|it| it.get("glyphoxa")?.as_object()) {
        ours(npc, own);
    }
    if is_for_adults(&npc.tags) {
        let text = "The author marks this character as not for everyone.".to_owned();
        push(&mut npc.for_dm, "tags", text);
    }
}

/// Reads the extension `own` of a card that was exported here. Its rules only go to the game master: anyone
/// may have written them.
fn ours(npc: &mut NpcDraft, own: &Map<String, Value>) {
    let texts = |key: &str| {
        let all = own.get(key).and_then(Value::as_array).into_iter().flatten();
        all.filter_map(Value::as_str).take(TEXTS_MAX)
    };
    for alias in texts("aliases").map(clean) {
        let is_new = alias != npc.name && !npc.aliases.contains(&alias);
        if is_new && alias.contains(char::is_alphanumeric) {
            npc.aliases.push(alias);
        }
    }
    let rules: Vec<String> = texts("behavior_rules").map(noted).collect();
    push(&mut npc.for_dm, "extensions/glyphoxa/behavior_rules", rules.join("\n"));
    let kept = own.iter().filter(|(key, _)| CARRIED.contains(&key.as_str()));
    let kept = Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect());
    npc.extension = Some(kept).filter(|it| it.to_string().len() <= EXTENSION_MAX);
}

fn push(passages: &mut Vec<Passage>, from: &str, text: String) {
    if !text.is_empty() {
        passages.push(Passage { from: from.to_owned(), text });
    }
}
