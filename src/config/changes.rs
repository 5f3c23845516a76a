//! Entries under `npcs:` of the configuration that change an NPC with a file of its own.
//! Keys of the entry replace those of the file; mappings are merged, lists are not.

use std::sync::Arc;

use super::{keys, npc, reading::Notes};
use crate::{
    domain::{Npc, bare_name},
    yaml::{Fields, Node, Position, Problem, Problems, Value, nearest, quoted},
};

/// Offset of the configuration's line numbers in a merged entry, to tell its places from the
/// file's.
const OURS: usize = usize::MAX / 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedNpc {
    pub name: String,
    /// File that describes it, as shown to the user.
    pub file: Arc<str>,
}

/// Entries of the configuration, until each is matched with a file's NPC.
#[derive(Default)]
pub struct Changes {
    /// Name of the configuration file.
    file: Arc<str>,
    /// Entries that have not changed an NPC so far.
    open: Vec<Node>,
    pub changed: Vec<ChangedNpc>,
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
}

impl Changes {
    /// Collects the entries among `nodes` of the configuration `file`.
    pub fn new(nodes: &[Node], file: &Arc<str>) -> Self {
        Self { file: Arc::clone(file), open: nodes.to_vec(), ..Self::default() }
    }

    /// Merges `node` with the entry that changes it, and reads the NPC; `None`: no such entry.
    /// Problems of the entry are reported in the configuration.
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
        let mut change = self.open.remove(at);
        renumber(&mut change, |line| line.saturating_add(OURS));
        let mut merged = node.clone();
        merge(&mut merged, &change);
        let file = notes.problems.file();
        self.changed.push(ChangedNpc { name: name.to_owned(), file: Arc::clone(file) });
        let (problems, warnings) =
            (Problems::new(Arc::clone(file)), Problems::new(Arc::clone(file)));
        let mut found = Notes { problems, warnings };
        let npc = npc::npc(&merged, defaults, &mut found);
        let pairs = [
            (found.problems, &mut notes.problems, &mut self.problems),
            (found.warnings, &mut notes.warnings, &mut self.warnings),
        ];
        for (found, theirs, ours) in pairs {
            for problem in found.into_vec() {
                match problem.at.line.checked_sub(OURS) {
                    Some(line) => ours.push(Problem {
                        file: Arc::clone(&self.file),
                        at: Position { line, ..problem.at },
                        ..problem
                    }),
                    None => theirs.add(problem.at, problem.message, problem.way_out),
                }
            }
        }
        renumber(&mut merged, |line| line.checked_sub(OURS).unwrap_or(line));
        Some((merged, npc))
    }

    /// Remaining entries: NPCs of their own. Reports a second entry for a changed NPC, and an entry
    /// with a name like one of `npcs` but without `lines` or `personality`.
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

fn name_of(node: &Node) -> Option<&str> {
    node.inside(&["name"])?.text().filter(|name| !name.trim().is_empty())
}

/// Replaces values of `base` by those of `change`, except the name.
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

/// Maps the line numbers of `node` and its descendants.
fn renumber(node: &mut Node, number: fn(usize) -> usize) {
    node.at.line = number(node.at.line);
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| renumber(item, number)),
        Value::Map(entries) => {
            for entry in entries {
                entry.at.line = number(entry.at.line);
                renumber(&mut entry.node, number);
            }
        }
        Value::Scalar(_) | Value::Broken => {}
    }
}
