//! Files of kept sessions that cannot be read or written.
//!
//! Entry type: [`FileError`]. **Never**: shows what is in a file.

use std::{
    io,
    path::{Path, PathBuf},
};

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
