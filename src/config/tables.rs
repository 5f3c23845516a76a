//! Random tables: the user's own, and the shipped ones.

use std::path::Path;

use super::{
    files::{Source, YAML},
    keys,
    reading::{Folder, Notes, Reading},
    shipped,
};
use crate::{
    tools::builtin::RandomTable,
    yaml::{Fields, Kind, Node, Position, Problems, quoted},
};

/// Adds the tables of the checked mapping `tables`.
pub fn inline(node: &Node, tables: &mut Vec<RandomTable>, problems: &mut Problems) {
    for entry in node.entries() {
        let table = table(&entry.key, &entry.node, problems);
        add(table, entry.at, tables, problems);
    }
}

/// Adds the tables of the files in `dir`, named at `at`.
pub fn folder(
    reading: &mut Reading,
    Folder { path: dir, named_at }: Folder,
    tables: &mut Vec<RandomTable>,
    notes: &mut Notes,
) {
    let paths = match reading.list(dir, YAML) {
        Ok(paths) => paths,
        Err(error) => {
            let message = format!("table_dir '{}': {}", dir.display(), error.message);
            let at = named_at.unwrap_or(Position::START);
            return notes.problems.add(at, message, error.way_out);
        }
    };
    for path in paths {
        let kind = Kind::Shape(&keys::app::TABLE_FILE);
        let Some((node, mut notes)) = reading.file_or_problem(&path, &kind) else { continue };
        let fields = Fields::new(&node, &keys::app::TABLE_FILE);
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = fields.text("name").map(str::to_owned).or(stem).unwrap_or_default();
        if let Some(entries) = fields.get("entries") {
            let table = table(&name, entries, &mut notes.problems);
            add(table, fields.place("name"), tables, &mut notes.problems);
        }
        reading.take(notes);
    }
}

/// Adds the shipped tables that the user's do not replace.
pub fn built_in(tables: &mut Vec<RandomTable>, notes: &mut Notes) {
    let mut reading = Reading::new(Source::Shipped, &|_| None, &[]);
    let mut own = Vec::new();
    let shipped = Folder { path: Path::new(shipped::TABLES), named_at: None };
    folder(&mut reading, shipped, &mut own, notes);
    own.retain(|table| !tables.iter().any(|other| other.answers_to(&table.name)));
    tables.append(&mut own);
}

fn table(name: &str, node: &Node, problems: &mut Problems) -> RandomTable {
    let entries: Vec<_> = node.items().iter().filter_map(entry).collect();
    if node.items().is_empty() && node.entries().is_empty() && node.text().is_none() {
        problems.add(node.at, format!("table {} is empty", quoted(name)), "add an entry");
    }
    RandomTable { name: name.to_owned(), entries }
}

/// Weight and text of an entry.
fn entry(node: &Node) -> Option<(u32, String)> {
    if let Some(text) = node.text() {
        return Some((1, text.to_owned()));
    }
    let fields = Fields::new(node, &keys::app::TABLE_ENTRY);
    Some((fields.whole("weight").unwrap_or(1), fields.text("result")?.to_owned()))
}

/// Adds a table; reports a duplicate name.
fn add(table: RandomTable, at: Position, tables: &mut Vec<RandomTable>, problems: &mut Problems) {
    if tables.iter().any(|other| other.answers_to(&table.name)) {
        let message = format!("table {} appears twice", quoted(&table.name));
        problems.add(at, message, "give it another name");
    }
    tables.push(table);
}
