//! The program of a server, and the files that it may read and write. **Never**: starts it.

use std::path::{Path, PathBuf};

use super::super::{files::Source, keys::mcp as keys, reading::Notes};
use crate::{
    launch,
    tools::connection::Sandbox,
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

#[derive(Clone, Copy)]
pub struct Places<'a> {
    /// Base of relative paths.
    pub folder: &'a Path,
    /// Folder of stored data, which no server may open.
    pub data_dir: &'a Path,
}

/// Reads a server's sandbox.
pub fn sandbox(fields: Fields, places: Places, notes: &mut Notes) -> Sandbox {
    if fields.text("sandbox") == Some("off") {
        return Sandbox::Off;
    }
    let said = fields.map("sandbox", &keys::SANDBOX);
    let mut paths = |key| {
        let items = said.map(|said| said.items(key)).unwrap_or_default();
        items.iter().filter_map(|node| path(node, places, notes)).collect()
    };
    Sandbox::Confined { read: paths("read"), write: paths("write") }
}

fn path(node: &Node, places: Places, notes: &mut Notes) -> Option<PathBuf> {
    let text = node.text()?.trim();
    let home = || launch::variable("HOME").map(PathBuf::from);
    let path = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            home()?.join(rest.trim_start_matches('/'))
        }
        _ => places.folder.join(text),
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    let kept = std::path::absolute(places.data_dir).unwrap_or_else(|_| places.data_dir.to_owned());
    let shown = node.scalar().map(|scalar| scalar.shown()).unwrap_or_default();
    if path.starts_with(&kept) {
        let message = format!("a server's 'sandbox' names {shown}, which is in data_dir");
        notes.problems.add(node.at, message, "name a folder outside data_dir");
        return None;
    }
    if !path.exists() {
        let message = format!("a server's 'sandbox' names {shown}, which does not exist");
        notes.warnings.add(node.at, message, "create it before the server starts");
    }
    Some(path)
}
