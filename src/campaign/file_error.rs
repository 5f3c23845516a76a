//! Our own files, which may be missing, and errors that do not show their content.
//!
//! Entry type: [`FileError`]; functions: [`read_if_there`], [`names_in`].

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::files;

#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} '{}': {error}", .path.display())]
pub struct FileError {
    doing: &'static str,
    path: PathBuf,
    error: io::Error,
}

impl FileError {
    pub fn on(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self { doing, path: path.to_owned(), error }
    }
}

/// Content of the file; `None` if it does not exist.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match files::read_own(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::on("read", path)(error)),
    }
}

/// Unicode names in `folder`; none if it does not exist.
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
