//! Packages in files, read for the members that are needed and for nothing else.
//!
//! Entry items: [`ZipReader`], [`tgz_members`].

use std::{
    fs::File,
    io::{self, BufReader, Read},
    ops::ControlFlow,
};

use flate2::read::GzDecoder;
use zip::{ZipArchive, result::ZipError};

use super::budget::{Budget, Budgeted};

pub struct ZipReader(ZipArchive<Budgeted<BufReader<File>>>);

impl ZipReader {
    /// The ZIP in `file`, of which at most `list` bytes are read to find its list, which is kept in memory.
    pub fn open(file: File, list: u64) -> io::Result<Self> {
        let budget = Budget::new(list);
        let reader = Budgeted::new(BufReader::new(file), budget.clone());
        let archive = ZipArchive::new(reader).map_err(|error| broken(&error))?;
        // From here on the length of what is taken is the bound, which is the caller's.
        budget.set(u64::MAX);
        Ok(Self(archive))
    }

    /// The member called `path`, unpacked while it is read; `None`: no member is.
    pub fn member(&mut self, path: &str) -> io::Result<Option<Box<dyn Read + '_>>> {
        match self.0.by_name(path) {
            Ok(member) => Ok(Some(Box::new(member))),
            Err(ZipError::FileNotFound) => Ok(None),
            Err(error) => Err(broken(&error)),
        }
    }
}

/// Takes a member by its path and content, and stops when it has enough.
type Each<'e, E> = dyn FnMut(&[u8], &mut dyn Read) -> Result<ControlFlow<()>, E> + 'e;

/// Hands the files of the `.tgz` in `file` to `each`, with their paths, until it has enough; at most `most`
/// bytes of it are unpacked.
pub fn tgz_members<E: From<io::Error>>(
    file: File,
    most: u64,
    each: &mut Each<'_, E>,
) -> Result<(), E> {
    let unpacked = Budgeted::new(GzDecoder::new(BufReader::new(file)), Budget::new(most));
    let mut archive = tar::Archive::new(unpacked);
    // Raw: long names and other extensions would be kept in memory; no file needed here has any.
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = entry.path_bytes().into_owned();
        if each(&path, &mut entry)?.is_break() {
            break;
        }
    }
    Ok(())
}

fn broken(error: &ZipError) -> io::Error {
    io::Error::other(error.to_string())
}
