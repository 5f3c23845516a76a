//! All NPCs, inline and from files, with unique names.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    changes::{ChangedNpc, Changes},
    files::YAML,
    keys,
    npc::{NpcDefaults, is_assistant, npc},
    reading::{Folder, Notes, Reading},
};
use crate::{
    domain::{Npc, bare_name},
    logic::{language, words::fold},
    yaml::{self, Entry, Fields, Kind, Node, Position, Problem, Value, nearest, quoted},
};

/// The NPCs read so far and the places of their names.
#[derive(Default)]
pub struct Cast {
    pub npcs: Vec<Npc>,
    /// The game master's assistant, if described.
    pub assistant: Option<Npc>,
    /// Names in use, folded.
    names: BTreeMap<String, Taken>,
    /// Name and profession of each NPC that has one.
    professions: Vec<(String, String)>,
    /// Duplicate names.
    clashes: Vec<Problem>,
    /// Entries of the configuration that may change NPCs of files.
    changes: Changes,
    /// Files or list items meant to be NPCs.
    pub tried: usize,
}

struct Taken {
    /// File and line, for messages.
    place: String,
    /// Index of the NPC.
    owner: usize,
}

impl Cast {
    /// Prepares changes: `nodes` of the configuration may change NPCs of files.
    pub fn expect(&mut self, nodes: &[Node], notes: &Notes) {
        self.changes = Changes::new(nodes, notes.problems.file());
    }

    /// Inserts the remaining NPCs of the configuration before all others.
    pub fn own(&mut self, defaults: &NpcDefaults, notes: &mut Notes) {
        let (nodes, of_files) = (self.changes.rest(&self.npcs), self.npcs.len());
        self.inline(&nodes, defaults, notes);
        self.npcs.rotate_left(of_files);
    }

    /// NPCs of files that the configuration changes.
    pub fn changed(&mut self) -> Vec<ChangedNpc> {
        std::mem::take(&mut self.changes.changed)
    }

    fn inline(&mut self, nodes: &[Node], defaults: &NpcDefaults, notes: &mut Notes) {
        self.tried += nodes.len();
        for node in nodes.iter().filter(|node| matches!(node.value, Value::Map(_))) {
            self.add(node, defaults, notes);
        }
    }

    /// Adds the NPCs of the files in `dir`; `named_at` is its place in the configuration.
    pub fn folder(
        &mut self,
        reading: &mut Reading,
        Folder { path: dir, named_at }: Folder,
        defaults: &NpcDefaults,
        notes: &mut Notes,
    ) {
        let paths = match reading.list(dir, YAML) {
            Ok(paths) => paths,
            Err(error) => {
                self.tried += 1;
                let message = format!("npc_dir '{}': {}", dir.display(), error.message);
                let at = named_at.unwrap_or(Position::START);
                return notes.problems.add(at, message, error.way_out);
            }
        };
        for path in paths {
            let Some((mut node, mut notes)) = reading.file_or_problem(&path, &Kind::Any) else {
                self.tried += 1;
                continue;
            };
            self.file(&mut node, defaults, &mut notes);
            reading.take(notes);
        }
    }

    /// Adds the NPC of a file, or those it lists under `npcs`.
    fn file(&mut self, node: &mut Node, defaults: &NpcDefaults, notes: &mut Notes) {
        let shape = if is_list(node) { &keys::npc::NPCS } else { &keys::npc::NPC };
        yaml::check(node, "", &Kind::Shape(shape), &mut notes.problems);
        if is_list(node) {
            let fields = Fields::new(node, &keys::npc::NPCS);
            match fields.get("npcs") {
                Some(_) => self.inline(fields.items("npcs"), defaults, notes),
                None => self.tried += 1,
            }
            return;
        }
        self.tried += 1;
        if matches!(node.value, Value::Map(_)) {
            self.add(node, defaults, notes);
        }
    }

    /// The NPCs; `None` if one is unreadable.
    pub fn whole(&self) -> Option<&[Npc]> {
        let read = self.npcs.len() + usize::from(self.assistant.is_some());
        (self.tried == read).then_some(self.npcs.as_slice())
    }

    pub fn is_empty(&self) -> bool {
        self.tried == usize::from(self.assistant.is_some())
    }

    /// Duplicate names, and errors in changes.
    pub fn clashes(&mut self) -> Vec<Problem> {
        let mut clashes = std::mem::take(&mut self.clashes);
        clashes.append(&mut self.changes.problems);
        clashes
    }

    pub fn warnings(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.changes.warnings)
    }

    /// Adds one NPC and its names.
    fn add(&mut self, node: &Node, defaults: &NpcDefaults, notes: &mut Notes) {
        let changed = self.changes.apply(node, defaults, notes);
        let (merged, npc) = match &changed {
            Some((merged, npc)) => (merged, npc.clone()),
            None => (node, npc(node, defaults, notes)),
        };
        let fields = Fields::new(merged, &keys::npc::NPC);
        let file = notes.problems.file();
        self.claim(&npc.name, file, fields.place("name"));
        for node in fields.items("aliases") {
            self.claim(node.text().unwrap_or_default(), file, node.at);
        }
        let profession = fields.text("profession").map(without_article);
        match &self.assistant {
            _ if !is_assistant(&fields) => {
                self.professions.extend(profession.map(|it| (npc.name.clone(), it.to_owned())));
                self.npcs.push(npc);
            }
            None => self.assistant = Some(npc),
            Some(first) => {
                let message = format!("{} is already the assistant", quoted(&first.name));
                let way_out = "keep one; the others may be of kind npc";
                notes.problems.add(fields.place("kind"), message, way_out);
            }
        }
    }

    /// Adds each profession that is unique as a name, once all NPCs are read.
    pub fn name_by_profession(&mut self) {
        for (name, profession) in &self.professions {
            let is_so = |of: &str| bare_name(of) == bare_name(profession);
            let practised = self.professions.iter().filter(|(_, other)| is_so(other)).count();
            let taken = self.npcs.iter().any(|npc| npc.is_called(profession));
            let npc = self.npcs.iter_mut().find(|npc| npc.name == *name);
            if let Some(npc) = npc.filter(|_| practised == 1 && !taken) {
                npc.aliases.push(profession.clone());
            }
        }
    }

    /// Reserves a name for the next NPC, or reports the NPC that has it.
    fn claim(&mut self, name: &str, file: &Arc<str>, at: Position) {
        let owner = self.npcs.len() + usize::from(self.assistant.is_some());
        let folded = bare_name(name);
        let place = format!("{file}:{}", at.line);
        match self.names.get(&folded) {
            _ if folded.is_empty() => {}
            Some(taken) if taken.owner == owner => {}
            Some(taken) => self.clashes.push(Problem {
                file: Arc::clone(file),
                at,
                message: format!("the name {} is taken by another npc", quoted(name)),
                way_out: format!("see {}; choose another", taken.place),
            }),
            None => {
                self.names.insert(folded, Taken { place, owner });
            }
        }
    }
}

/// True if a file lists NPCs: it has the key `npcs`, or a misspelt one and no name.
fn is_list(node: &Node) -> bool {
    let has = |key: &str| node.entries().iter().any(|entry| entry.key == key);
    let near = |entry: &Entry| nearest(&entry.key, ["npcs"]).is_some();
    has("npcs") || !has("name") && node.entries().iter().any(near)
}

fn without_article(name: &str) -> &str {
    let name = name.trim();
    let rest = name.split_once(char::is_whitespace).filter(|(article, _)| {
        let article = fold(article);
        language::is_any(|it| it.articles, &article) || language::is_any(|it| it.definite, &article)
    });
    rest.map_or(name, |(_, rest)| rest.trim_start())
}
