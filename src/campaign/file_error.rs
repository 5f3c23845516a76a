//! Files of ours that may be missing, and errors of those that cannot be read or written.
//!
//! Entry type: [`FileError`]; entry functions: [`read_if_there`], [`names_in`]. **Never**: shows what is in a
//! file.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::files;

/// Error of a file operation.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} '{}': {error}", .path.display())]
pub struct FileError {
    doing: &'static str,
    path: PathBuf,
    error: io::Error,
}

impl FileError {
    /// Makes the error of `doing` something with the file at `path`.
    pub fn on(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self { doing, path: path.to_owned(), error }
    }
}

/// Content of our own file at `path`; `None` without one.
///
/// # Errors
/// It cannot be read.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match files::read_own(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::on("read", path)(error)),
    }
}

/// Names in `folder`, except those that are not Unicode; none without the folder.
///
/// # Errors
/// The folder cannot be read.
pub fn names_in(folder: &Path) -> Result<Vec<String>, FileError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(FileError::on("read", folder)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(FileError::on("read", folder))?.file_name();
        names.extend(name.into_string().ok());
    }
    Ok(names)
}
