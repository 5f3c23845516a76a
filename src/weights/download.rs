//! A package being downloaded.
//!
//! Entry type: [`Download`].

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{digest::Digest, error::InstallError, set::Package};
use crate::files;

/// The bytes of a package received so far, stored under its hash, so that a download can resume
/// from another address and after a restart.
pub struct Download {
    path: PathBuf,
    file: File,
    have: u64,
    wanted: u64,
}

impl Download {
    /// Resumes from the partial file in `folder`, if any.
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes received.
    pub const fn have(&self) -> u64 {
        self.have
    }

    /// Bytes still missing.
    pub const fn missing(&self) -> u64 {
        self.wanted.saturating_sub(self.have)
    }

    /// Appends received bytes; the caller refuses surplus ones. On failure earlier bytes stay.
    pub fn add(&mut self, piece: &[u8]) -> Result<(), InstallError> {
        let written = self.file.write_all(piece);
        written.map_err(|error| {
            // Part of the piece may have been written.
            self.have = self.file.metadata().map_or(self.have, |about| about.len());
            InstallError::at(&self.path)(error)
        })?;
        self.have += piece.len() as u64;
        Ok(())
    }

    pub fn restart(&mut self) -> Result<(), InstallError> {
        self.file.set_len(0).map_err(InstallError::at(&self.path))?;
        self.have = 0;
        Ok(())
    }

    /// Hash of the received bytes. Reads all of them: not for the runtime's threads.
    pub fn digest_at(path: &Path) -> Result<Digest, InstallError> {
        Digest::of_file(path).map_err(InstallError::at(path))
    }

    /// Removes the download.
    pub(super) fn forget(folder: &Path, package: &Package) {
        // Leftovers only take up space.
        _ = fs::remove_file(folder.join(format!("{}.part", package.sha256)));
    }
}
