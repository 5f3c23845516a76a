//! One note: its front matter and text, read.
//!
//! Entry items: [`Note`], [`read`], [`by_path`].

use super::{
    front::{self, Field, Front, bare},
    inline::{cut, plain, stem, without_emphasis},
    kind::{Kind, Marks, is_secret_path, kind},
    split::{Link, Parts, line_label, split},
    tally::{Part, Tally},
    words::{is_secret, is_secret_root, is_secret_title},
};
use crate::{
    domain::{EntityKind, one_line, visible},
    import::{draft::Passage, pronounced},
};

/// Longest note, in bytes.
const NOTE_MAX: usize = 256 << 10;
/// Longest name, in characters.
const NAME_MAX: usize = 80;
/// Most aliases, tags, properties and words about looks of a note.
const LIST_MAX: usize = 40;
/// Longest value of a property, in characters.
const VALUE_MAX: usize = 1_000;
/// Keys of the front matter, in lower case without separators.
const NAMES: &[&str] = &["name", "title", "titel"];
const ALIASES: &[&str] = &["alias", "aliases", "nickname", "nicknames", "spitzname"];
const TYPES: &[&str] =
    &["art", "categories", "category", "fileclass", "kategorie", "kind", "notetype", "typ", "type"];
const TAGS: &[&str] = &["tag", "tags"];
const LANGUAGES: &[&str] = &["lang", "language", "sprache"];
const IDS: &[&str] = &["id", "uid", "uuid"];
const VISIBILITY: &[&str] = &["access", "sichtbarkeit", "visibility"];
const PUBLISHED: &[&str] = &["dgpublish", "publish"];
const LOOKS: &[&str] = &[
    "age",
    "alter",
    "ancestry",
    "gender",
    "geschlecht",
    "pronomen",
    "pronouns",
    "race",
    "rasse",
    "sex",
    "species",
    "spezies",
    "volk",
];
/// Keys for Obsidian and its plugins.
const PROGRAM: &[&str] = &[
    "banner",
    "bannerx",
    "bannery",
    "cover",
    "created",
    "cssclass",
    "cssclasses",
    "date",
    "datecreated",
    "datemodified",
    "dgpublish",
    "icon",
    "image",
    "images",
    "kanbanplugin",
    "modified",
    "permalink",
    "position",
    "publish",
    "updated",
];
/// Separators behind a person's name proper.
const ENDS: &[&str] = &[" - ", " – ", " — ", ", ", " ("];

#[derive(Debug)]
pub struct Note {
    pub path: String,
    pub source: String,
    pub name: String,
    pub aliases: Vec<String>,
    pub kind: Option<Kind>,
    pub is_secret: bool,
    /// Language by BCP 47.
    pub language: Option<String>,
    pub tags: Vec<String>,
    pub properties: Vec<(String, String)>,
    /// Respelling of the name, as written.
    pub pronunciation: Option<String>,
    /// Gender, age and kind.
    pub looks: Vec<String>,
    pub secrets: Vec<Passage>,
    /// Its text, and links of text and front matter.
    pub parts: Parts,
}

pub fn by_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    format!("notes:{}", one_line(path.trim_start_matches("./"), 500))
}

/// The note at `path` in the folder `root`. `None`: nothing in it is of use; `tally` says what.
pub fn read(root: &str, path: &str, text: &str, tally: &mut Tally) -> Option<Note> {
    let text = lines_of(path, text, tally);
    let split_text = front::split(&text);
    let read = split_text.yaml.map(|yaml| front::read(yaml, split_text.is_closed));
    let (front, body) = match read {
        Some(Some(front)) => (front, split_text.body),
        Some(None) => (Front::default(), text.as_str()),
        None => (Front::default(), split_text.body),
    };
    if front.fields.iter().any(|it| bare(&it.key) == "excalidrawplugin") {
        tally.add(Part::Drawing, 1, path);
        return None;
    }
    if let Some(fault) = &front.fault {
        let what = format!("front matter ({fault})");
        let why = "what could not be read in it is kept for you alone";
        tally.note(path, &what, why);
    }
    let parts = split(body);
    let mut note = named(root, path, &front, parts);
    for field in &front.fields {
        note.field(field, front.is_broken, tally);
    }
    note.looks_of_text();
    tally.add(Part::Embed, note.parts.embeds, path);
    tally.add(Part::Address, note.parts.addresses, path);
    tally.add(Part::Block, note.parts.blocks, path);
    let has_text = !(note.parts.open.is_empty() && note.parts.secrets.is_empty());
    if !has_text && note.secrets.is_empty() && note.kind.is_none() {
        tally.add(Part::Empty, 1, path);
        return None;
    }
    Some(note)
}

/// `text` with line ends by `\n`, without invisible characters, at most [`NOTE_MAX`] bytes of it.
fn lines_of(path: &str, text: &str, tally: &mut Tally) -> String {
    let mut taken = cut(text, NOTE_MAX);
    if taken.len() < text.len() {
        // A line may say at its end that it is secret.
        let end = taken.rfind('\n').unwrap_or(0);
        taken = taken.get(..end).unwrap_or_default();
        let why = "a note may have 256 KiB; split it";
        tally.note(path, &format!("text after line {}", taken.lines().count()), why);
    }
    visible(&taken.replace("\r\n", "\n").replace('\r', "\n"))
}

fn named(root: &str, path: &str, front: &Front, parts: Parts) -> Note {
    let open = |keys| front.values(keys).filter(|it| !has_marks(it)).map(clean);
    let first = |keys| open(keys).find(|it| !it.is_empty());
    let file_name = clean(stem(path));
    let title = parts.title.as_deref().map(clean).filter(|it| !it.is_empty());
    let name = first(NAMES).or(title).unwrap_or_else(|| file_name.clone());
    let name = if name.is_empty() { "Note".to_owned() } else { name };
    let mut tags: Vec<String> = front.values(TAGS).flat_map(split_tags).collect();
    tags.extend(parts.tags.iter().map(|it| clean(it)));
    let has_secret_tag = tags.iter().any(|it| is_secret_title(it));
    distinct(&mut tags, "");
    let types: Vec<&str> = front.values(TYPES).collect();
    let whole = format!("{root}/{path}");
    let by_root = || kind(&Marks { path: &whole, ..Marks::default() }).filter(|it| it.is_npc);
    let own = kind(&Marks {
        types: types.clone(),
        tags: tags.iter().map(String::as_str).collect(),
        path,
    });
    let kind = own.or_else(by_root);
    let mut aliases: Vec<String> = open(ALIASES).collect();
    if is_said(&file_name) {
        aliases.push(file_name);
    }
    let is_person =
        kind.is_some_and(|it| matches!(it.entity, EntityKind::Npc | EntityKind::Player));
    if is_person && let Some(end) = ENDS.iter().filter_map(|end| name.find(end)).min() {
        aliases.push(name.get(..end).unwrap_or_default().trim().to_owned());
    }
    distinct(&mut aliases, &name);
    let by_id = first(IDS).map(|id| format!("notes:id:{id}"));
    let language = front.values(LANGUAGES).find(|it| is_language(it)).map(str::to_owned);
    // The author of such a note has marked the secret parts of it.
    let is_parted =
        own.is_some_and(|it| it.is_npc) && !parts.open.is_empty() && !parts.secrets.is_empty();
    let is_secret = is_secret_path(path, is_parted)
        || is_secret_root(root)
        || has_secret_tag
        || types.iter().any(|it| is_secret_title(it));
    Note {
        path: path.to_owned(),
        source: by_id.unwrap_or_else(|| by_path(path)),
        name,
        aliases,
        kind,
        is_secret,
        language,
        tags,
        properties: Vec::new(),
        pronunciation: None,
        looks: Vec::new(),
        secrets: Vec::new(),
        parts,
    }
}

impl Note {
    /// Takes over a field of the front matter.
    fn field(&mut self, field: &Field, is_broken: bool, tally: &mut Tally) {
        let key = bare(&field.key);
        let is_one_of = |keys: &[&str]| keys.contains(&key.as_str());
        let says = |words: &[&str]| {
            field.values.iter().any(|it| words.contains(&it.to_lowercase().as_str()))
        };
        let (yes, no) = (["true", "yes", "ja", "1"], ["false", "no", "nein", "0"]);
        let hides = is_one_of(PUBLISHED) && says(&no);
        let is_private = is_one_of(VISIBILITY) && field.values.iter().any(|it| is_private(it));
        self.is_secret |= hides || is_private;
        if is_secret(&field.key) {
            self.is_secret |= says(&yes);
            if !(says(&yes) || says(&no)) {
                self.secret(field);
            }
            return;
        }
        let is_read = [NAMES, ALIASES, TYPES, TAGS, IDS].into_iter().any(is_one_of);
        if is_broken && !(is_read && field.values.len() <= 1) && !is_one_of(TAGS) {
            self.secret(field);
            return;
        }
        let is_marked = field.values.iter().any(|it| has_marks(it));
        if is_one_of(PROGRAM) {
            tally.add(Part::Field, 1, &self.path);
        } else if field.is_nested {
            tally.add(Part::Nested, 1, &self.path);
        } else if is_marked {
            self.secret(field);
        } else if !is_read && !is_one_of(VISIBILITY) {
            self.property(field, &key);
        }
    }

    fn secret(&mut self, field: &Field) {
        let values = field.values.iter().map(|it| visible(&plain(it).text));
        let text = values.collect::<Vec<_>>().join("\n");
        if !text.trim().is_empty() && self.secrets.len() < LIST_MAX {
            self.secrets.push(Passage { from: one_line(&field.key, NAME_MAX), text });
        }
    }

    fn property(&mut self, field: &Field, key: &str) {
        let mut texts = Vec::new();
        let name = one_line(&field.key, NAME_MAX);
        for value in &field.values {
            let found = plain(value);
            let kind = Some(name.clone());
            let links = found.links.into_iter().map(|to| Link { to, kind: kind.clone() });
            self.parts.links.extend(links);
            texts.push(one_line(&found.text, VALUE_MAX));
        }
        let text = texts.join(", ").chars().take(VALUE_MAX).collect::<String>();
        if text.trim().is_empty() || self.properties.len() >= LIST_MAX {
            return;
        }
        if pronounced::is_key(key) {
            self.pronunciation = self.pronunciation.take().or(Some(text));
            return;
        }
        if LOOKS.contains(&key) {
            self.looks.push(format!("{name}: {text}"));
        }
        self.properties.push((name, text));
    }

    /// Looks that labelled lines of the open text say.
    fn looks_of_text(&mut self) {
        let lines = self.parts.open.iter().flat_map(|it| it.text.lines());
        let found = lines.filter_map(|line| {
            let label = line_label(line)?;
            let value = label.value.trim();
            let is_look = LOOKS.contains(&bare(&label.name).as_str());
            let is_said = !value.is_empty() && !value.starts_with('[');
            (is_look && is_said).then(|| format!("{}: {}", label.name, one_line(value, NAME_MAX)))
        });
        let found: Vec<String> = found.take(LIST_MAX).collect();
        self.looks.extend(found);
    }
}

/// A name on one line, without mark-up.
fn clean(name: &str) -> String {
    let line = one_line(&plain(cut(name, 2_000)).text, 2_000);
    let words = without_emphasis(&line).split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(NAME_MAX).collect::<String>().trim().to_owned()
}

/// True if people may say the name of a file: "Holya", not "holya-townmaster" or "01 Intro".
fn is_said(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && !name.contains('_')
}

fn split_tags(value: &str) -> Vec<String> {
    let tags = value.split([',', ' ', '\t']).map(|it| clean(it.trim_start_matches('#')));
    tags.filter(|it| !it.is_empty()).collect()
}

/// Without doubles, blank ones and `but`, at most [`LIST_MAX`].
fn distinct(names: &mut Vec<String>, but: &str) {
    let mut kept: Vec<String> = Vec::new();
    for name in names.drain(..) {
        if kept.len() < LIST_MAX && !name.is_empty() && name != but && !kept.contains(&name) {
            kept.push(name);
        }
    }
    *names = kept;
}

/// A tag such as "de" or "pt-BR", not a language of a game.
fn is_language(value: &str) -> bool {
    let mut parts = value.split('-');
    let is_first = parts.next().is_some_and(|it| {
        (2..=3).contains(&it.len()) && it.chars().all(|c| c.is_ascii_lowercase())
    });
    is_first && parts.all(|it| (2..=8).contains(&it.len()) && it.is_ascii())
}

/// True if a value has marks of the game master's that count in the text below.
fn has_marks(value: &str) -> bool {
    ["%%", "<!--", "[!"].iter().any(|mark| value.contains(mark))
}

fn is_private(value: &str) -> bool {
    is_secret(value) || matches!(value.to_lowercase().as_str(), "none" | "nobody" | "me")
}
