//! People of drafts to NPC files: which are new, which are written again, and which are left alone.
//!
//! Entry functions: [`people`], [`unseat`].

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    looks::{Looks, is_look},
    npc_files::{MadeFile, NewFile, NpcFiles},
    preview::{Item, Left, Preview},
    voice::{ChosenVoice, VoiceOffer, choose, of_card},
    written::{NOT_SAYABLE, Parts, Written, marked, name, voice_in, written},
};
use crate::{
    domain::{EntityKind, Npc, bare_name},
    import::draft::{Drafts, EntityDraft, NpcDraft},
    logic::words::fold,
};

/// Most people of an import that take a seat: a prompt names the whole cast, and each file waits for the disk.
pub const SEATS_MAX: usize = 200;
/// Most characters of a text that are searched for looks.
const LOOKED_AT: usize = 20_000;

/// The cast that people join.
#[derive(Clone, Debug)]
pub struct Cast {
    pub folder: PathBuf,
    /// NPCs whose names are taken, with the game master's assistant.
    pub npcs: Vec<Npc>,
    /// Voices that can speak, the preferred ones first.
    pub voices: Vec<VoiceOffer>,
    /// The voice of all, as it is; `None`: one that fits each.
    pub voice: Option<VoiceOffer>,
    /// ISO 639-1 code of those whose file says none.
    pub language: String,
    /// NPCs know their own secrets; otherwise only the game master does.
    pub knows_secrets: bool,
}

/// Seats of an import.
#[derive(Debug, Default)]
pub struct People {
    pub files: Vec<NewFile>,
    /// Names of seated people, by the sources of their drafts.
    pub names: BTreeMap<String, String>,
    /// Sources of people whose files the game master has changed; those files stay.
    pub edited: BTreeSet<String>,
    /// Sources of people beyond [`SEATS_MAX`].
    pub unseated: BTreeSet<String>,
}

/// Plans the files of all people in `drafts`; `preview` gets what becomes of each.
pub fn people(drafts: &Drafts, cast: &Cast, files: &mut NpcFiles, preview: &mut Preview) -> People {
    // A session may not have taken its last files yet.
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for MadeFile { name, aliases, .. } in files.all() {
        let Some(name) = name else { continue };
        let called = std::iter::once(name).chain(aliases);
        taken.extend(called.map(|it| (key(it), name.clone())));
    }
    for npc in &cast.npcs {
        let called = std::iter::once(&npc.name).chain(&npc.aliases);
        taken.extend(called.map(|it| (key(it), npc.name.clone())));
    }
    let named = drafts.npcs.iter().map(|it| (key(&name(&it.name)), it.source.as_str())).collect();
    let mut standing: BTreeMap<&str, Vec<&EntityDraft>> = BTreeMap::new();
    for entity in drafts.entities.iter().filter(|it| it.is_standing && !it.dm_only) {
        for source in &entity.known_to {
            standing.entry(source.as_str()).or_default().push(entity);
        }
    }
    let people = People::default();
    let mut seating = Seating { standing, named, cast, files, preview, taken, people };
    let mut used = BTreeSet::new();
    for draft in &drafts.npcs {
        if used.insert(draft.source.as_str()) {
            seating.seat(draft);
        } else {
            let about = format!("{} has it twice; the first counts", draft.file);
            seating.preview.kept.push(Item::new("npc", &draft.name, about));
        }
    }
    for entity in &drafts.entities {
        // A note that had a seat may be hidden now.
        if let Some(made) = seating.files.made_of(&entity.source) {
            let name = made.name.as_ref().unwrap_or(&entity.name);
            let about = format!("'{}' stays: delete it to take the NPC out", made.path.display());
            seating.preview.kept.push(Item::new("npc", name, about));
        }
    }
    seating.people
}

/// Turns people of `drafts` without a seat into entities that only the game master sees, since these hold their
/// secrets too.
pub fn unseat(drafts: &mut Drafts, people: &People, preview: &mut Preview) {
    if people.unseated.is_empty() {
        return;
    }
    let all = std::mem::take(&mut drafts.npcs);
    let (unseated, seated): (Vec<NpcDraft>, Vec<NpcDraft>) =
        all.into_iter().partition(|it| people.unseated.contains(&it.source));
    drafts.npcs = seated;
    preview.left_out.push(Left {
        file: "all files".to_owned(),
        what: format!("seats and spoken lines of {} NPCs", people.unseated.len()),
        why: format!(
            "an import seats {SEATS_MAX}, the others become entities that only you see; import those by \
             themselves that are to speak"
        ),
    });
    drafts.entities.extend(unseated.into_iter().map(|npc| EntityDraft {
        source: npc.source,
        file: npc.file,
        kind: EntityKind::Npc,
        name: npc.name,
        aliases: npc.aliases,
        text: npc.personality.into_iter().chain(npc.knowledge).chain(npc.secrets).collect(),
        secrets: Vec::new(),
        dm_only: true,
        is_standing: false,
        known_to: Vec::new(),
        properties: Vec::new(),
        tags: npc.tags,
    }));
}

/// A name as the store tells it from others: without case, accents and marks.
fn key(name: &str) -> String {
    let folded = fold(name);
    if folded.is_empty() { bare_name(name) } else { folded }
}

struct Seating<'a> {
    /// Facts always in a prompt, by the sources of those who know them.
    standing: BTreeMap<&'a str, Vec<&'a EntityDraft>>,
    /// Sources of all drafts by their names as keys, which are no other draft's aliases.
    named: BTreeMap<String, &'a str>,
    cast: &'a Cast,
    files: &'a mut NpcFiles,
    preview: &'a mut Preview,
    /// Names in use as keys, each with the full name of the NPC that has it.
    taken: BTreeMap<String, String>,
    people: People,
}

impl<'a> Seating<'a> {
    /// Plans the file of one person, unless the name is taken.
    fn seat(&mut self, draft: &'a NpcDraft) {
        let own = name(&draft.name);
        let own_key = key(&own);
        if own.is_empty() {
            let about = format!("{} is left out: it has no name", draft.file);
            return self.preview.kept.push(Item::new("npc", &own, about));
        }
        let made = self.files.made_of(&draft.source).cloned();
        if made.is_none() && self.people.names.len() >= SEATS_MAX {
            self.people.unseated.insert(draft.source.clone());
            return;
        }
        if let Some(edited) = made.as_ref().filter(|it| it.is_edited) {
            let about = format!("you have changed '{}'", edited.path.display());
            // It may have another name now.
            let called = edited.name.clone().unwrap_or(own);
            self.preview.kept.push(Item::new("npc", &called, about));
            self.taken.entry(key(&called)).or_insert_with(|| draft.name.clone());
            self.people.names.insert(draft.source.clone(), called);
            self.people.edited.insert(draft.source.clone());
            return;
        }
        // Its own file may have its name.
        let before = made.as_ref().and_then(|it| it.name.as_deref()).map(key);
        let holder = self.taken.get(&own_key);
        if let Some(holder) = holder.filter(|it| Some(key(it)) != before) {
            let about = format!("{} is left out: '{holder}' has that name; rename one", draft.file);
            return self.preview.kept.push(Item::new("npc", &own, about));
        }
        self.people.names.insert(draft.source.clone(), own.clone());
        let is_free = |alias: &&String| {
            let alias = key(alias);
            let holder = self.taken.get(&alias);
            self.named.get(&alias).is_none_or(|it| *it == draft.source)
                && holder.is_none_or(|it| Some(key(it)) == before)
        };
        let others = draft.aliases.iter().filter(|it| {
            let alias = key(it);
            !alias.is_empty() && alias != own_key
        });
        let (aliases, taken): (Vec<&String>, Vec<&String>) = others.partition(is_free);
        let aliases: Vec<String> = aliases.into_iter().cloned().collect();
        self.preview.left_out.extend(taken.into_iter().map(|alias| Left {
            file: draft.file.clone(),
            what: format!("the name '{alias}' of '{own}'"),
            why: "another npc has it".to_owned(),
        }));
        let all = std::iter::once(&own).chain(&aliases);
        self.taken.extend(all.map(|it| (key(it), draft.name.clone())));
        self.write(draft, &own, &aliases, made);
    }

    /// Plans a new file, or an update of an unedited one.
    fn write(&mut self, draft: &NpcDraft, own: &str, aliases: &[String], made: Option<MadeFile>) {
        let standing = self.standing.get(draft.source.as_str()).map_or(&[][..], Vec::as_slice);
        let content = made.as_ref().map(|it| it.content.as_str());
        let (written, about) = described(draft, aliases, standing, self.cast, content);
        let mut left_out = |what: String, why: &str| {
            let (file, why) = (draft.file.clone(), why.to_owned());
            self.preview.left_out.push(Left { file, what, why });
        };
        if written.cut > 0 {
            let what = format!("the last {} characters about '{own}'", written.cut);
            left_out(what, "a description has room for 8,000");
        }
        if written.unused > 0 {
            let what = format!("{} greetings and example lines of '{own}'", written.unused);
            let why =
                "without a chat model an NPC answers 30 short questions, and greets in 8 ways";
            left_out(what, why);
        }
        if !written.is_pronounced {
            left_out(format!("the pronunciation of '{own}'"), NOT_SAYABLE);
        }
        let text = marked(&draft.source, &written.text);
        let item = |path: &Path| Item::new("npc", own, format!("{}, {about}", path.display()));
        match made {
            Some(made) if made.content == written.text => self.preview.unchanged += 1,
            Some(MadeFile { path, content, .. }) => {
                self.preview.changed.push(item(&path));
                let before = Some(marked(&draft.source, &content));
                self.people.files.push(NewFile { path, text, before });
            }
            None => {
                let path = self.files.path_for(own, &draft.source);
                self.preview.added.push(item(&path));
                self.people.files.push(NewFile { path, text, before: None });
            }
        }
    }
}

/// The file of a person, and their voice in words. `made`: content that an earlier import wrote.
fn described(
    draft: &NpcDraft,
    aliases: &[String],
    standing: &[&EntityDraft],
    cast: &Cast,
    made: Option<&str>,
) -> (Written, String) {
    let told = draft.personality.iter().chain(&draft.knowledge);
    let told: String = told.flat_map(|it| it.text.chars().chain([' '])).take(LOOKED_AT).collect();
    let tags = draft.tags.iter().filter(|tag| is_look(tag));
    let named: Vec<String> = draft.looks.iter().chain(tags).cloned().collect();
    let of_ours = || draft.extension.as_ref()?.get("language")?.as_str();
    let language = draft.language.as_deref().or_else(of_ours).and_then(two_letters);
    let language = language.as_deref().unwrap_or(&cast.language);
    let looks = Looks::of(&named, &told);
    let given = match &cast.voice {
        Some(named) => Some(ChosenVoice::named(named)),
        None => draft.extension.as_ref().and_then(|it| of_card(it, &cast.voices)),
    };
    // Players know the voice.
    let kept_voice = made
        .filter(|_| given.is_none())
        .and_then(|content| voice_in(content, language, &cast.voices));
    let voice = given.or_else(|| choose(&draft.name, language, &looks, &cast.voices));
    let standing = standing.iter().map(|it| {
        let text: Vec<&str> = it.text.iter().map(|passage| passage.text.as_str()).collect();
        (name(&it.name), text.join("\n"))
    });
    let parts = Parts {
        draft,
        aliases,
        standing: &standing.collect::<Vec<_>>(),
        kept_voice,
        voice: voice.as_ref(),
        language,
        knows_secrets: cast.knows_secrets,
    };
    let about = match &voice {
        _ if kept_voice.is_some() => "the voice it had".to_owned(),
        Some(voice) => format!("voice {} {}: {}", voice.provider, voice.voice_id, voice.why),
        None => "the default voice".to_owned(),
    };
    (written(&parts), about)
}

/// The ISO 639-1 code that a language tag begins with.
fn two_letters(tag: &str) -> Option<String> {
    let code = tag.split(['-', '_']).next()?.to_ascii_lowercase();
    (code.len() == 2 && code.chars().all(|c| c.is_ascii_lowercase())).then_some(code)
}
