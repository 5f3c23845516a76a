//! Folders of Markdown, as Obsidian keeps them: NPCs where the game master marked a note as one, entities
//! from all others, links as relations. Text marked as the game master's becomes secrets.
//!
//! Entry functions: [`is_notes`], [`read`]; [`is_secret`] and [`is_secret_title`] for other readers. Time and
//! memory are linear in the length of the text.
//! **Never**: shows a line whose marks are in doubt.

mod drafted;
mod front;
mod hidden;
mod inline;
mod kind;
mod lines;
mod links;
mod note;
mod split;
mod tally;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashSet;

pub use self::words::{is_secret, is_secret_title};
use self::{
    kind::{Skipped, skipped},
    links::Index,
    note::{Note, by_path},
    tally::{Part, Tally},
};
use super::draft::Drafts;

/// Lines that are looked at to tell Markdown.
const LOOK_MAX: usize = 200;

/// True if `file` is named like Markdown.
pub fn has_ending(file: &str) -> bool {
    let ending = file.rsplit_once('.').map(|(_, it)| it.to_ascii_lowercase());
    matches!(ending.as_deref(), Some("md" | "markdown"))
}

/// True if `text` is Markdown by the name of its `file` or by its own shape.
pub fn is_notes(file: &str, text: &str) -> bool {
    if has_ending(file) {
        return true;
    }
    let text = text.trim_start_matches('\u{feff}');
    let is_front = text.lines().next().is_some_and(|it| it.trim_end() == "---");
    let mut lines = text.lines().take(LOOK_MAX).map(str::trim_end);
    if is_front {
        let mut below = lines.skip(1).skip_while(|it| *it != "---").skip(1);
        return below.any(|it| !it.is_empty());
    }
    // A line with one '#' is a comment in YAML, too.
    lines.any(|it| {
        let is_link =
            it.find("[[").is_some_and(|at| it.get(at..).is_some_and(|it| it.contains("]]")));
        is_link || it.starts_with("## ") || it.starts_with("> [!")
    })
}

/// Reads notes of the folder or ZIP `root`; empty: named one by one. `files`: path inside it, and text.
pub fn read(root: &str, files: &[(String, String)], drafts: &mut Drafts) {
    let root = folder_name(root);
    let mut tally = Tally::default();
    let mut sources = HashSet::new();
    let mut notes: Vec<Note> = Vec::new();
    for (path, text) in files {
        match skipped(path) {
            Some(Skipped::Hidden) => tally.add(Part::Hidden, 1, path),
            Some(Skipped::Template) => tally.add(Part::Template, 1, path),
            None => {
                let Some(mut note) = note::read(root, path, text, &mut tally) else { continue };
                // Copies of a note have its id, too.
                if !sources.insert(note.source.clone()) {
                    note.source = by_path(path);
                    sources.insert(note.source.clone());
                }
                notes.push(note);
            }
        }
    }
    let index = Index::new(&notes);
    drafts.relations.extend(notes.iter().flat_map(|note| index.relations(note)));
    notes.into_iter().for_each(|note| drafted::add(note, drafts));
    tally.report(drafts);
}

/// Name of a folder, or of a ZIP without its ending.
fn folder_name(root: &str) -> &str {
    let last = root.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
    match last.rsplit_once('.') {
        Some((name, ending)) if ending.eq_ignore_ascii_case("zip") => name,
        _ => last,
    }
}
