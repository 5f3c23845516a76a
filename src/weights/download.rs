//! A package on its way to the disk.
//!
//! Entry type: [`Download`].

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{digest::Digest, error::InstallError, set::Package};
use crate::files;

/// The bytes of a package received so far, stored under its hash, so that a download can go on from another
/// address and after a restart.
pub struct Download {
    path: PathBuf,
    file: File,
    have: u64,
    wanted: u64,
}

impl Download {
    /// Goes on with what there is in `folder`.
    pub(super) fn open(folder: &Path, package: &Package) -> Result<Self, InstallError> {
        let path = folder.join(format!("{}.part", package.sha256));
        let failed = |error: io::Error| InstallError::at(&path)(error);
        let file = files::append_private(&path).map_err(failed)?;
        let have = file.metadata().map_err(failed)?.len();
        let mut download = Self { path, file, have, wanted: package.bytes };
        if download.have > download.wanted {
            download.restart()?;
        }
        Ok(download)
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that have come.
    pub const fn have(&self) -> u64 {
        self.have
    }

    /// Bytes that are still to come.
    pub const fn missing(&self) -> u64 {
        self.wanted.saturating_sub(self.have)
    }

    /// Adds what has come; more than is wanted is the caller's to refuse.
    ///
    /// # Errors
    /// It cannot be written; what was there before is kept.
    pub fn add(&mut self, piece: &[u8]) -> Result<(), InstallError> {
        let written = self.file.write_all(piece);
        written.map_err(|error| {
            // A part of the piece may have been written.
            self.have = self.file.metadata().map_or(self.have, |about| about.len());
            InstallError::at(&self.path)(error)
        })?;
        self.have += piece.len() as u64;
        Ok(())
    }

    /// Throws away what has come.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn restart(&mut self) -> Result<(), InstallError> {
        self.file.set_len(0).map_err(InstallError::at(&self.path))?;
        self.have = 0;
        Ok(())
    }

    /// Hash of the bytes received so far. Reads all of them: not for the runtime's own threads.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn digest_at(path: &Path) -> Result<Digest, InstallError> {
        Digest::of_file(path).map_err(InstallError::at(path))
    }

    /// Removes the download, which is no longer needed.
    pub(super) fn forget(folder: &Path, package: &Package) {
        // It would only take up room.
        _ = fs::remove_file(folder.join(format!("{}.part", package.sha256)));
    }
}
