//! Lorebooks and world info as entities: of V2 and V3 cards, SillyTavern, NovelAI and Agnai.
//!
//! Entry functions: [`read`] (the lorebook of a character), [`read_alone`].

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashSet},
};

use serde_json::{Map, Value};

use super::{
    fault::Fault,
    fields::Fields,
    macros::{Audience, Macros},
    names::{clean, distinct},
    reading::Reading,
    texts::about,
};
use crate::{
    domain::{EntityKind, fnv1a, one_line},
    import::draft::{EntityDraft, Passage},
};

/// Most entries; the largest lorebooks seen have 1,500.
const ENTRIES_MAX: usize = 5_000;
/// Longest id kept, in characters.
const ID_MAX: usize = 40;
/// Words of a text that name an entry without a name.
const NAME_WORDS: usize = 6;

pub struct Owner<'a> {
    pub source: &'a str,
    /// Sources of the NPCs that know it; empty: everyone.
    pub known_to: Vec<String>,
}

pub fn read(reading: &mut Reading<'_>, book: &Fields<'_>, owner: &Owner<'_>, macros: &mut Macros) {
    let entries: Vec<(String, &Value)> = match book.map.get("entries") {
        Some(Value::Array(entries)) => {
            entries.iter().enumerate().map(|(at, entry)| (at.to_string(), entry)).collect()
        }
        Some(Value::Object(entries)) => {
            entries.iter().map(|(key, entry)| (one_line(key, ID_MAX), entry)).collect()
        }
        None | Some(Value::Null) => Vec::new(),
        Some(_) => {
            reading.odd(&book.place("entries"), "it is not a list of entries");
            return;
        }
    };
    if entries.len() > ENTRIES_MAX {
        let message = format!("more than {ENTRIES_MAX} entries");
        reading.mistake(Fault::new(&book.place("entries"), message, "split the lorebook"));
        return;
    }
    let mut seen = Seen::default();
    for (key, value) in &entries {
        let place = format!("{}/{key}", book.place("entries"));
        let Value::Object(map) = value else {
            reading.odd(&place, "it is not an entry");
            continue;
        };
        if let Some(entity) = seen.entry(reading, &Fields::new(map, place), owner, macros) {
            reading.drafts.entities.push(entity);
        }
    }
    seen.report(reading, entries.len());
}

/// Adds a lorebook without a character: `document`, or its member `inside`.
pub fn read_alone(
    reading: &mut Reading<'_>,
    document: &Map<String, Value>,
    inside: Option<&'static str>,
) {
    let inner = inside.and_then(|name| Some((name, document.get(name)?.as_object()?)));
    let book = match inner {
        Some((name, map)) => Fields::new(map, name),
        None => Fields::new(document, ""),
    };
    let name = book.text(&["name"], reading).map(|name| clean(&name.text)).unwrap_or_default();
    // World info is called like its file.
    let file = reading.file.rsplit(['/', '\\', '!']).next().unwrap_or_default();
    let file = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let name = if name.is_empty() { clean(file) } else { name };
    let source = format!("lorebook:{name}");
    let before = reading.drafts.entities.len();
    let faults = reading.drafts.mistakes.len();
    let mut macros = Macros::new("the character");
    let owner = Owner { source: &source, known_to: Vec::new() };
    read(reading, &book, &owner, &mut macros);
    report_unknown(reading, &macros);
    if reading.drafts.entities.len() == before && reading.drafts.mistakes.len() == faults {
        let message = "no entry of this lorebook is switched on and has a text";
        reading.mistake(Fault::new(&book.place("entries"), message, "switch entries on"));
    }
}

pub fn report_unknown(reading: &mut Reading<'_>, macros: &Macros) {
    let names: Vec<&str> = macros.unknown().collect();
    if !names.is_empty() {
        let what = format!("placeholders: {}", names.join(", "));
        reading.left_out(what, "nothing here has these values");
    }
}

/// Counts over the entries of one book.
#[derive(Default)]
struct Seen {
    sources: HashSet<String>,
    off: usize,
    empty: usize,
    patterns: usize,
    secondary: usize,
    decorators: BTreeSet<String>,
}

impl Seen {
    /// One entry; `None`: it is switched off, or has no text.
    fn entry(
        &mut self,
        reading: &mut Reading<'_>,
        fields: &Fields<'_>,
        owner: &Owner<'_>,
        macros: &mut Macros,
    ) -> Option<EntityDraft> {
        let is_off = fields.flag(&["enabled"]) == Some(false)
            || fields.flag(&["disable", "disabled"]) == Some(true);
        let content = fields.text(&["content", "entry", "text"], reading);
        let from = content.as_ref().map_or("content", |it| it.name);
        let decorated = Decorated::of(content.as_ref().map_or("", |it| &*it.text));
        if is_off || decorated.is_off {
            self.off += 1;
            return None;
        }
        let told = about(decorated.body, macros);
        if told.open.is_empty() && told.secret.is_empty() {
            self.empty += 1;
            return None;
        }
        let mut keys = self.keys(reading, fields, macros);
        keys.extend(decorated.keys.iter().map(|key| clean(key)));
        let name = named(reading, fields, &keys, &told.open, macros);
        let source = self.source(owner, fields, &name);
        self.decorators.extend(decorated.unknown);
        let passages = |text: String| {
            let passage = Passage { from: from.to_owned(), text };
            if passage.text.is_empty() { Vec::new() } else { vec![passage] }
        };
        Some(EntityDraft {
            source,
            file: reading.file.clone(),
            kind: EntityKind::Lore,
            aliases: distinct(&name, keys),
            name,
            text: passages(told.open),
            secrets: passages(told.secret),
            dm_only: false,
            is_standing: decorated.is_standing
                || fields.flag(&["constant", "forceActivation"]) == Some(true),
            known_to: owner.known_to.clone(),
            properties: Vec::new(),
            tags: Vec::new(),
        })
    }

    /// Names among the keys of an entry. Patterns and the empty key, which would match every line, are none.
    fn keys(
        &mut self,
        reading: &mut Reading<'_>,
        fields: &Fields<'_>,
        macros: &mut Macros,
    ) -> Vec<String> {
        let second = ["secondary_keys", "keysecondary"];
        let has_second = match fields.value(&second) {
            Some((_, Value::Array(keys))) => !keys.is_empty(),
            Some((_, Value::String(keys))) => !keys.is_empty(),
            _ => false,
        };
        if has_second && fields.flag(&["selective"]) != Some(false) {
            self.secondary += 1;
        }
        let Some((name, _)) = fields.value(&["keys", "key", "keywords"]) else {
            return Vec::new();
        };
        let keys = fields.words(name, reading);
        let all = fields.flag(&["use_regex", "useRegex"]) == Some(true);
        let (patterns, keys): (Vec<Cow<'_, str>>, Vec<Cow<'_, str>>) =
            keys.into_iter().partition(|key| all || is_pattern(key));
        self.patterns += patterns.len();
        keys.iter().map(|key| clean(&macros.filled(key, Audience::About))).collect()
    }

    /// Identifies the entry over imports: by its id, else by its name.
    fn source(&mut self, owner: &Owner<'_>, fields: &Fields<'_>, name: &str) -> String {
        let id = match fields.value(&["id", "uid"]) {
            Some((_, Value::String(id))) if !id.trim().is_empty() => one_line(id, ID_MAX),
            Some((_, Value::Number(id))) => id.to_string(),
            _ => format!("{:016x}", fnv1a(name.bytes())),
        };
        let first = format!("{}/lore/{id}", owner.source);
        let mut source = first.clone();
        let mut number = self.sources.len();
        while !self.sources.insert(source.clone()) {
            number += 1;
            source = format!("{first}-{number}");
        }
        source
    }

    fn report(self, reading: &mut Reading<'_>, entries: usize) {
        let lore = ["entry of lore", "entries of lore"];
        reading.left_out_counted(self.off, lore, "switched off in the file");
        reading.left_out_counted(self.empty, lore, "without a text");
        let patterns = ["regular expression of lore", "regular expressions of lore"];
        let why = "lore is found by names and by meaning, not by patterns";
        reading.left_out_counted(self.patterns, patterns, why);
        let secondary = ["list of secondary keys", "lists of secondary keys"];
        reading.left_out_counted(self.secondary, secondary, "each name finds its entry alone");
        if !self.decorators.is_empty() {
            let names: Vec<&str> = self.decorators.iter().map(String::as_str).take(10).collect();
            reading.left_out(format!("decorators: {}", names.join(", ")), PLACING);
        }
        if entries > 0 {
            reading.left_out("order, depth and chance of lore", PLACING);
        }
    }
}

/// Reason why settings of lore are not used.
const PLACING: &str = "where lore stands in a prompt is decided here";

/// Name of an entry: its own, its comment, its first key, else the first words of its text.
fn named(
    reading: &mut Reading<'_>,
    fields: &Fields<'_>,
    keys: &[String],
    text: &str,
    macros: &mut Macros,
) -> String {
    let own = fields.text(&["name", "comment", "displayName"], reading);
    let own = own.map(|it| clean(&macros.filled(&it.text, Audience::About))).unwrap_or_default();
    let key = keys.iter().find(|key| !key.is_empty());
    let is_name = |name: &str| name.contains(char::is_alphanumeric);
    match key {
        _ if is_name(&own) => own,
        Some(key) if is_name(key) => key.clone(),
        _ => {
            let words: Vec<&str> = text.split_whitespace().take(NAME_WORDS).collect();
            let words = clean(&words.join(" "));
            if is_name(&words) { words } else { "Lore".to_owned() }
        }
    }
}

/// True for `/pattern/flags`.
fn is_pattern(key: &str) -> bool {
    key.strip_prefix('/').and_then(|rest| rest.rsplit_once('/')).is_some_and(|(pattern, flags)| {
        !pattern.is_empty() && flags.chars().all(|c| c.is_ascii_lowercase())
    })
}

/// A text with the decorators before it (`@@depth 4`).
#[derive(Default)]
struct Decorated<'t> {
    body: &'t str,
    is_standing: bool,
    is_off: bool,
    keys: Vec<&'t str>,
    unknown: Vec<String>,
}

impl<'t> Decorated<'t> {
    fn of(text: &'t str) -> Self {
        let mut decorated = Self { body: text.trim_start(), ..Self::default() };
        while let Some(rest) = decorated.body.strip_prefix("@@") {
            let (line, body) = rest.split_once('\n').unwrap_or((rest, ""));
            decorated.body = body.trim_start();
            let line = line.trim_start_matches('@').trim();
            let (name, given) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            match name {
                "activate" | "constant" => decorated.is_standing = true,
                "dont_activate" => decorated.is_off = true,
                "additional_keys" => {
                    let keys = given.split(',').map(str::trim).filter(|key| !key.is_empty());
                    decorated.keys.extend(keys.take(100));
                }
                "" => {}
                _ if decorated.unknown.len() < 20 => decorated.unknown.push(one_line(name, 30)),
                _ => {}
            }
        }
        decorated
    }
}
