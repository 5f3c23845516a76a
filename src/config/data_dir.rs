//! Checks whether `data_dir` is a folder, and whether other users can use it.

use std::{fs, io::ErrorKind, os::unix::fs::MetadataExt, path::Path};

use super::reading::Notes;
use crate::yaml::{Fields, quoted};

const KEY: &str = "data_dir";
/// Start of the warning about a folder that other users can use.
pub const SHARED: &str = "other users can ";

/// Checks the folder at `path`. A missing one is created on first use.
pub fn check(path: &Path, fields: &Fields<'_>, notes: &mut Notes) {
    if fields.is_broken(KEY) {
        return;
    }
    let shown = match fields.get(KEY) {
        Some(_) => fields.shown(KEY),
        None => quoted(&path.display().to_string()),
    };
    let (is_folder, mode) = match fs::metadata(path) {
        Ok(about) => (about.is_dir(), about.mode()),
        // A parent is a file.
        Err(error) if error.kind() == ErrorKind::NotADirectory => (false, 0),
        Err(_) => return,
    };
    if !is_folder {
        let way_out = "name a folder, or a path that does not exist yet";
        notes.problems.add(fields.place(KEY), format!("data_dir {shown} is not a folder"), way_out);
        return;
    }
    let may = match (mode & 0o044 != 0, mode & 0o022 != 0) {
        (_, true) => "read and change",
        (true, false) => "read",
        (false, false) => return,
    };
    let message = format!("{SHARED}{may} data_dir {shown}");
    notes.warnings.add(fields.place(KEY), message, "run chmod 700 on it to keep it private");
}
