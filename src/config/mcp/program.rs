//! The program of a server. Entry functions: [`folder`], [`warn_of_missing`]. **Never**: starts it.

use std::path::{Path, PathBuf};

use super::super::{files::Source, reading::Notes};
use crate::{
    launch,
    yaml::{Fields, Node, quoted},
};

/// Absolute working directory of the program: `folder`, which has its file; `None`: the file is not
/// on the disk, or our own working directory is unknown.
pub fn folder(folder: &Path, source: Source) -> Option<PathBuf> {
    let folder = match source {
        Source::Disk if folder.as_os_str().is_empty() => Path::new("."),
        Source::Disk => folder,
        Source::Shipped => return None,
    };
    std::path::absolute(folder).ok()
}

/// Warns of a missing program: it may be installed later, but its name is probably wrong.
pub fn warn_of_missing(fields: Fields, name: &str, folder: &Path, notes: &mut Notes) {
    if !launch::is_there(name, folder) {
        // Anything else may be a password.
        let is_filled_in = fields.get("command").and_then(Node::scalar);
        let is_filled_in = is_filled_in.is_some_and(|it| it.written.is_some());
        let shown = if is_filled_in { fields.shown("command") } else { quoted(name) };
        let message = format!("program {shown} not found");
        let way_out = "install it, or give its absolute path or a path relative to this file";
        notes.warnings.add(fields.place("command"), message, way_out);
    }
}
