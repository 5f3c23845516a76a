//! Sources of files: the only place that touches the disk.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use super::shipped;
use crate::{
    files,
    yaml::{self, Position},
};

pub const BYTES_MAX: u64 = 10 * 1024 * 1024;

pub const YAML: &[&str] = &["yaml", "yml"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Disk,
    /// Embedded in this program.
    Shipped,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Place in the file, if it was opened.
    pub at: Option<Position>,
    /// Follows the file's name and a colon.
    pub message: String,
    /// The fix.
    pub way_out: &'static str,
}

impl ReadError {
    /// Without a place in the file.
    fn new(message: impl Into<String>, way_out: &'static str) -> Self {
        Self { at: None, message: message.into(), way_out }
    }
}

impl Source {
    /// The disk if `path` exists, else this program.
    pub fn beside(path: &Path) -> Self {
        if path.exists() { Self::Disk } else { Self::Shipped }
    }

    /// Reads a text file.
    pub fn read(self, path: &Path) -> Result<String, ReadError> {
        match self {
            Self::Disk => decoded(bytes(path)?),
            Self::Shipped => shipped::FILES
                .iter()
                .find(|(name, _)| Path::new(name) == path)
                .map(|(_, text)| (*text).to_owned())
                .ok_or_else(|| ReadError::new("no such file", "name a file that exists")),
        }
    }

    pub fn has_dir(self, path: &Path) -> bool {
        match self {
            Self::Disk => path.is_dir(),
            Self::Shipped => {
                shipped::FILES.iter().any(|(name, _)| Path::new(name).parent() == Some(path))
            }
        }
    }

    /// Files of a folder with one of these extensions, sorted, without hidden ones.
    pub fn list(self, dir: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, ReadError> {
        let mut paths: Vec<PathBuf> = match self {
            Self::Disk => fs::read_dir(dir)
                .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
                .map_err(|error| failed(&error, "name a folder that exists"))?,
            Self::Shipped => shipped::FILES
                .iter()
                .map(|(name, _)| PathBuf::from(name))
                .filter(|path| path.parent() == Some(dir))
                .collect(),
        };
        paths.retain(|path| has_extension(path, extensions));
        paths.sort();
        Ok(paths)
    }

    /// The real folder behind links; `dir` itself if they cannot be followed.
    pub fn behind_links(self, dir: &Path) -> PathBuf {
        let found = match self {
            Self::Disk => fs::canonicalize(dir).ok(),
            Self::Shipped => None,
        };
        found.unwrap_or_else(|| dir.to_owned())
    }

    /// Folders in a folder, sorted, without hidden ones; empty if unreadable.
    pub fn folders(self, dir: &Path) -> Vec<PathBuf> {
        let entries = match self {
            Self::Disk => fs::read_dir(dir).ok(),
            Self::Shipped => None,
        };
        let is_folder = |entry: &fs::DirEntry| {
            entry
                .file_type()
                .is_ok_and(|kind| kind.is_dir() || (kind.is_symlink() && entry.path().is_dir()))
        };
        let folders = entries.into_iter().flatten().flatten().filter(is_folder);
        let mut folders: Vec<PathBuf> =
            folders.map(|entry| entry.path()).filter(|path| !is_hidden(path)).collect();
        folders.sort();
        folders
    }
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_one = |it: &str| extensions.iter().any(|known| it.eq_ignore_ascii_case(known));
    !is_hidden(path) && extension.is_some_and(is_one)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Reads a regular file of at most [`BYTES_MAX`].
pub fn bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    files::read(path, BYTES_MAX).map_err(|error| failed(&error, "name a file that exists"))
}

/// Like [`bytes`], with a limit of `most` bytes.
pub fn bytes_of_others(path: &Path, most: u64) -> Result<Vec<u8>, ReadError> {
    files::read(path, most).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => ReadError::new(
            format!("larger than {} MB", most / 1_000_000),
            "split it, or leave pictures and sound out",
        ),
        _ => failed(&error, "name a file that exists"),
    })
}

/// Decodes UTF-8; the error has the place of the first invalid byte.
fn decoded(bytes: Vec<u8>) -> Result<String, ReadError> {
    yaml::text(bytes).map_err(|at| ReadError {
        at: Some(at),
        message: "not UTF-8 text from here on".to_owned(),
        way_out: "save it as UTF-8",
    })
}

/// Converts an operating system's error.
fn failed(error: &std::io::Error, way_out: &'static str) -> ReadError {
    match error.kind() {
        ErrorKind::NotFound => ReadError::new("no such file or folder", way_out),
        ErrorKind::PermissionDenied => {
            ReadError::new("no permission to read it", "change its permissions")
        }
        ErrorKind::IsADirectory => ReadError::new("this is a folder", "name a YAML file in it"),
        ErrorKind::FileTooLarge => ReadError::new("larger than 10 MiB", "is this the right file?"),
        ErrorKind::InvalidInput => ReadError::new(error.to_string(), "name a regular file"),
        ErrorKind::NotADirectory => ReadError::new("this is not a folder", way_out),
        _ => ReadError::new(error.to_string().to_lowercase(), way_out),
    }
}
