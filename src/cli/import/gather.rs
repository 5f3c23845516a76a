//! Files and folders that a user names, as content.
//!
//! Entry function: [`gather`]. **Never**: follows a link inside a folder, or waits for a pipe.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    archives::Limits,
    config::{self, Problem},
    import::{FILE_MAX, Given},
    yaml::Position,
};

/// Deepest folder.
const DEPTH_MAX: usize = 32;

/// Content of what the user named, and what of it could not be read.
#[derive(Default)]
pub struct Gathered {
    pub files: Vec<Given>,
    pub problems: Vec<Problem>,
    pub skipped: usize,
    bytes: u64,
}

/// Reads the files at `paths`, and those inside folders.
pub fn gather(paths: &[PathBuf]) -> Gathered {
    let mut gathered = Gathered::default();
    for path in paths {
        let file = named(path);
        if !path.is_dir() {
            gathered.file(path, &file, String::new());
            continue;
        }
        let before = gathered.files.len() + gathered.problems.len();
        if let Err(error) = gathered.folder(path, &file, "", 0) {
            gathered.problem(&file, &error.to_string(), "import a part of it");
        } else if gathered.files.len() + gathered.problems.len() == before {
            gathered.problem(&file, "no file is in this folder", "name the folder of your files");
        }
    }
    gathered
}

/// The path without a leading "./" and a trailing "/": it identifies documents that have no id.
fn named(path: &Path) -> String {
    let plain = path.components().as_path();
    let inside = plain.strip_prefix(".").unwrap_or(plain);
    let plain = if inside.as_os_str().is_empty() { plain } else { inside };
    plain.display().to_string()
}

impl Gathered {
    /// Every file inside a folder, by name; hidden folders are other programs' own.
    fn folder(&mut self, path: &Path, root: &str, inside: &str, depth: usize) -> io::Result<()> {
        if depth > DEPTH_MAX {
            return Err(io::Error::other(format!("folders are nested deeper than {DEPTH_MAX}")));
        }
        let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let below = if inside.is_empty() { name.clone() } else { format!("{inside}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() && name.starts_with('.') {
                self.skipped += 1;
            } else if kind.is_dir() {
                self.folder(&entry.path(), root, &below, depth + 1)?;
            } else if kind.is_file() {
                self.bytes = self.bytes.saturating_add(entry.metadata()?.len());
                let limits = Limits::IMPORT;
                if self.files.len() >= limits.members || self.bytes > limits.inflated {
                    let (files, mb) = (limits.members, limits.inflated / 1_000_000);
                    let text = format!("more than {files} files, or than {mb} MB");
                    return Err(io::Error::other(text));
                }
                self.file(&entry.path(), root, below);
            } else {
                self.skipped += 1;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, file: &str, inside: String) {
        match config::read_file(path, FILE_MAX) {
            Ok(bytes) => self.files.push(Given { file: file.to_owned(), inside, bytes }),
            Err(problem) => self.problems.push(problem),
        }
    }

    fn problem(&mut self, file: &str, message: &str, way_out: &str) {
        self.problems.push(Problem {
            file: file.into(),
            at: Position::START,
            message: message.to_owned(),
            way_out: way_out.to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_has_one_name_however_it_is_typed() {
        for typed in ["world", "./world", "world/", ".//world/."] {
            assert_eq!(named(Path::new(typed)), "world", "{typed}");
        }
        assert_eq!((named(Path::new("./")), named(Path::new("/a/"))), (".".into(), "/a".into()));
        assert_eq!(named(Path::new("../world")), "../world");
    }
}
