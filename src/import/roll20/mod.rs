//! Characters and handouts of Roll20, as VTTES (one character) and R20Exporter (`campaign.json`) write
//! them, by their documented shape. `gmnotes` are the game master's; a handout that not all players may
//! read is wholly so, and so is what players write about their own characters, unless all may.
//!
//! Entry functions: [`is_roll20`], [`read`].

mod character;
mod decode;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use self::{
    character::{character, text_of, token_notes},
    decode::prose,
};
use super::draft::{Drafts, EntityDraft, LeftOut, Mistake, Passage};
use crate::domain::{EntityKind, fnv1a, one_line};

/// Most characters and handouts of a campaign.
const DOCUMENTS_MAX: usize = 10_000;
/// Longest name, in characters.
const NAME_MAX: usize = 80;
/// Lists of a campaign that are not used: key, name of one, name of several.
const UNUSED: &[(&str, &str, &str)] = &[
    ("chat_archive", "line of chat", "lines of chat"),
    ("decks", "deck of cards", "decks of cards"),
    ("jukebox", "track", "tracks"),
    ("macros", "macro", "macros"),
    ("pages", "map", "maps"),
    ("players", "player", "players"),
    ("tables", "random table", "random tables"),
];

/// True for a character of VTTES, and for a campaign, character or handout of R20Exporter.
pub fn is_roll20(document: &Value) -> bool {
    let Some(root) = document.as_object() else { return false };
    let has = |keys: &[&str]| keys.iter().all(|key| root.contains_key(*key));
    let inner = root.get("character").and_then(Value::as_object);
    inner.is_some_and(|it| it.contains_key("attribs") || it.contains_key("gmnotes"))
        || (has(&["campaign_title"]) && (has(&["characters"]) || has(&["handouts"])))
        || has(&["attribs", "name", "bio"])
        || has(&["notes", "gmnotes", "inplayerjournals"])
}

pub fn read(file: &str, document: Value, drafts: &mut Drafts) {
    let Value::Object(root) = document else { return };
    let mut reading = Reading { file, drafts };
    if let Some(inner) = root.get("character") {
        reading.character(inner, "character");
    } else if root.contains_key("campaign_title") {
        reading.campaign(&root);
    } else if root.contains_key("attribs") {
        reading.character(&Value::Object(root), "");
    } else {
        reading.handout(&Value::Object(root), "");
    }
}

struct Reading<'a> {
    file: &'a str,
    drafts: &'a mut Drafts,
}

impl Reading<'_> {
    fn campaign(&mut self, root: &Map<String, Value>) {
        let list =
            |key: &str| root.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let (characters, handouts) = (list("characters"), list("handouts"));
        if characters.len() + handouts.len() > DOCUMENTS_MAX {
            let message = format!("more than {DOCUMENTS_MAX} characters and handouts");
            self.mistake("", &message, "export the campaign in parts");
            return;
        }
        for (at, document) in characters.iter().enumerate() {
            self.character(document, &format!("characters/{at}"));
        }
        for (at, document) in handouts.iter().enumerate() {
            self.handout(document, &format!("handouts/{at}"));
        }
        for (key, one, several) in UNUSED {
            let why = "only characters and handouts are imported";
            self.left_out_counted(list(key).len(), one, several, why);
        }
    }

    fn character(&mut self, document: &Value, place: &str) {
        let Some(members) = self.members(document, place) else { return };
        let Some(name) = self.name(members, place) else { return };
        let (source, is_cut) = (source("character", members, &name), is_long(members, "bio"));
        let (on_token, is_lost) = token_notes(members);
        if is_lost {
            let what = format!("notes on the token of '{name}'");
            self.left_out(what, "they are damaged, or longer than 256 KiB");
        }
        let npc = character(members, source, self.file, name, on_token);
        let abilities = members.get("abilities").and_then(Value::as_array).map_or(0, Vec::len);
        self.left_out_counted(abilities, "ability", "abilities", "they are macros of Roll20");
        self.cut(is_cut || is_long(members, "gmnotes"), place);
        match npc {
            character::Read::Npc(draft) => self.drafts.npcs.push(*draft),
            character::Read::Player(draft) => self.drafts.entities.push(*draft),
        }
    }

    fn handout(&mut self, document: &Value, place: &str) {
        let Some(members) = self.members(document, place) else { return };
        let Some(name) = self.name(members, place) else { return };
        let (notes, is_cut) = prose(text_of(members, "notes"));
        let (gm_notes, is_gm_cut) = prose(text_of(members, "gmnotes"));
        self.cut(is_cut || is_gm_cut, place);
        let passage = |from: &str, text: String| Passage { from: from.to_owned(), text };
        let mut text = vec![passage("notes", notes.open)];
        let mut secrets = vec![
            passage("notes", notes.secret),
            passage("gmnotes", gm_notes.open),
            passage("gmnotes", gm_notes.secret),
        ];
        [&mut text, &mut secrets].into_iter().for_each(|it| it.retain(|it| !it.text.is_empty()));
        self.drafts.entities.push(EntityDraft {
            source: source("handout", members, &name),
            file: self.file.to_owned(),
            kind: EntityKind::Lore,
            name,
            aliases: Vec::new(),
            text,
            secrets,
            dm_only: !character::is_for_all(members, "inplayerjournals"),
            is_standing: false,
            known_to: Vec::new(),
            properties: Vec::new(),
            tags: character::tags(members),
        });
    }

    fn members<'d>(&mut self, document: &'d Value, place: &str) -> Option<&'d Map<String, Value>> {
        let members = document.as_object();
        if members.is_none() {
            self.mistake(place, "this is no character and no handout", "export it again");
        }
        members
    }

    fn name(&mut self, members: &Map<String, Value>, place: &str) -> Option<String> {
        let name = one_line(text_of(members, "name"), 2_000);
        let words = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let name: String = words.chars().take(NAME_MAX).collect();
        if name.is_empty() {
            let what = if place.is_empty() { "it" } else { place };
            self.left_out(what.to_owned(), "it has no name");
            return None;
        }
        Some(name.trim().to_owned())
    }

    fn cut(&mut self, is_cut: bool, place: &str) {
        if is_cut {
            self.left_out(format!("the end of a long text of {place}"), "a text may have 256 KiB");
        }
    }

    fn left_out(&mut self, what: String, why: &str) {
        let (file, why) = (self.file.to_owned(), why.to_owned());
        self.drafts.left_out.push(LeftOut { file, what, why });
    }

    fn left_out_counted(&mut self, number: usize, one: &str, several: &str, why: &str) {
        if number > 0 {
            self.left_out(format!("{number} {}", if number == 1 { one } else { several }), why);
        }
    }

    fn mistake(&mut self, place: &str, message: &str, way_out: &str) {
        self.drafts.mistakes.push(Mistake {
            file: self.file.to_owned(),
            place: place.to_owned(),
            message: message.to_owned(),
            way_out: way_out.to_owned(),
        });
    }
}

fn is_long(members: &Map<String, Value>, key: &str) -> bool {
    text_of(members, key).len() > decode::TEXT_MAX
}

/// Identifies a document by its id, else by its name.
fn source(kind: &str, members: &Map<String, Value>, name: &str) -> String {
    let ids = ["oldId", "id", "_id"].into_iter();
    let id = ids.map(|key| text_of(members, key)).find(|it| !it.is_empty());
    match id {
        Some(id) => format!("roll20:{kind}:{}", one_line(id, NAME_MAX)),
        None => format!("roll20:{kind}:{:016x}", fnv1a(name.bytes())),
    }
}
