//! Entries under `npcs:` of the configuration that change an NPC with a file of its own.
//!
//! Entry type: [`Changes`]. Keys of the entry replace those of the file; mappings are merged, lists are not.
//! **Never**: renames an NPC.

use std::{collections::BTreeSet, sync::Arc};

use super::{keys, npc, reading::Notes};
use crate::{
    domain::{Npc, bare_name},
    yaml::{Fields, Node, Position, Problem, Problems, Value, nearest, quoted},
};

/// An NPC of a file that the configuration changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedNpc {
    /// Its name.
    pub name: String,
    /// File it is described in, as the user knows it.
    pub file: Arc<str>,
}

/// Entries of the configuration, until it is known which of them change a file's NPC.
#[derive(Default)]
pub struct Changes {
    /// The configuration's own name.
    file: Arc<str>,
    /// Entries that have changed nobody so far.
    open: Vec<Node>,
    /// NPCs that were changed.
    pub changed: Vec<ChangedNpc>,
    /// Errors in what they change.
    pub problems: Vec<Problem>,
    /// Warnings about what they change.
    pub warnings: Vec<Problem>,
}

impl Changes {
    /// Those among `nodes` of the configuration `file`.
    pub fn new(nodes: &[Node], file: &Arc<str>) -> Self {
        Self { file: Arc::clone(file), open: nodes.to_vec(), ..Self::default() }
    }

    /// The NPC of `node`, with what changes it; `None`: nothing does. Problems of what is changed become
    /// those of the configuration.
    pub fn apply(
        &mut self,
        node: &Node,
        defaults: &npc::NpcDefaults,
        notes: &mut Notes,
    ) -> Option<(Node, Npc)> {
        let name = name_of(node)?;
        let is_it =
            |entry: &Node| name_of(entry).is_some_and(|it| bare_name(it) == bare_name(name));
        let at = self.open.iter().position(is_it)?;
        let change = self.open.remove(at);
        let mut places = BTreeSet::new();
        for entry in change.entries().iter().filter(|entry| entry.key != "name") {
            collect(&entry.node, &mut places);
        }
        let mut merged = node.clone();
        merge(&mut merged, &change);
        let file = notes.problems.file();
        self.changed.push(ChangedNpc { name: name.to_owned(), file: Arc::clone(file) });
        let (problems, warnings) =
            (Problems::new(Arc::clone(file)), Problems::new(Arc::clone(file)));
        let mut found = Notes { problems, warnings };
        let npc = npc::npc(&merged, defaults, &mut found);
        let mine = |problem: &Problem| places.contains(&problem.at);
        let pairs = [
            (found.problems, &mut notes.problems, &mut self.problems),
            (found.warnings, &mut notes.warnings, &mut self.warnings),
        ];
        for (found, theirs, ours) in pairs {
            for problem in found.into_vec() {
                match mine(&problem) {
                    true => ours.push(Problem { file: Arc::clone(&self.file), ..problem }),
                    false => theirs.add(problem.at, problem.message, problem.way_out),
                }
            }
        }
        Some((merged, npc))
    }

    /// The entries that are NPCs of their own. One that could only change somebody, and whose name is like
    /// one of `npcs`, is an error, and so is another one for an NPC that was changed.
    pub fn rest(&mut self, npcs: &[Npc]) -> Vec<Node> {
        let mut open = std::mem::take(&mut self.open);
        let changed: Vec<_> = self.changed.iter().map(|npc| bare_name(&npc.name)).collect();
        let is_changed =
            |node: &mut Node| name_of(node).is_some_and(|name| changed.contains(&bare_name(name)));
        for node in open.extract_if(.., is_changed) {
            let fields = Fields::new(&node, &keys::npc::NPC);
            let name = fields.text("name").unwrap_or_default();
            self.problems.push(Problem {
                file: Arc::clone(&self.file),
                at: fields.place("name"),
                message: format!("'npcs' changes {} twice", quoted(name)),
                way_out: "put all its keys into one entry".to_owned(),
            });
        }
        for node in &open {
            let fields = Fields::new(node, &keys::npc::NPC);
            let is_own = ["lines", "personality"].iter().any(|key| fields.get(key).is_some());
            let Some(name) = fields.text("name").filter(|_| !is_own) else { continue };
            let called = npcs.iter().find(|npc| npc.is_called(name)).map(|npc| npc.name.as_str());
            let near = || nearest(name, npcs.iter().map(|npc| npc.name.as_str()));
            if let Some(near) = called.or_else(near) {
                self.problems.push(Problem {
                    file: Arc::clone(&self.file),
                    at: fields.place("name"),
                    message: format!("no file describes an npc with the name {}", quoted(name)),
                    way_out: format!(
                        "did you mean '{near}'? a new npc needs 'lines' or 'personality'"
                    ),
                });
            }
        }
        open
    }
}

/// The name in `node`.
fn name_of(node: &Node) -> Option<&str> {
    node.inside(&["name"])?.text().filter(|name| !name.trim().is_empty())
}

/// Puts what `change` has into `base`; the name stays.
fn merge(base: &mut Node, change: &Node) {
    if let (Value::Map(entries), Value::Map(changes)) = (&mut base.value, &change.value) {
        for change in changes.iter().filter(|change| change.key != "name") {
            match entries.iter_mut().find(|entry| entry.key == change.key) {
                Some(entry) => merge(&mut entry.node, &change.node),
                None => entries.push(change.clone()),
            }
        }
    } else {
        *base = change.clone();
    }
}

/// Adds the places of `node` and all within it.
fn collect(node: &Node, places: &mut BTreeSet<Position>) {
    places.insert(node.at);
    node.items().iter().for_each(|item| collect(item, places));
    for entry in node.entries() {
        places.insert(entry.at);
        collect(&entry.node, places);
    }
}
