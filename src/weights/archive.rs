//! Extracts only the needed paths from packages.
//!
//! Entry function: [`unpack`]. A package's names are compared, never used as paths; its declared
//! sizes reserve nothing.

use std::{
    cell::Cell,
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::Path,
    rc::Rc,
};

use flate2::read::GzDecoder;
use zip::{ZipArchive, result::ZipError};

use super::{
    error::InstallError,
    growing::{Growing, TakeError},
    set::Package,
};

/// Most bytes read for a zip's list, which is held in memory: enough for about 100,000 names.
const ZIP_LIST: u64 = 4 * 1024 * 1024;
/// Longest unpacked `.tgz`, as a multiple of its own length.
const TGZ_GROWTH: u64 = 50;

/// Extracts from the package at `path` the next parts that `growing` needs.
pub fn unpack(path: &Path, package: &Package, growing: &mut Growing) -> Result<(), InstallError> {
    let file = File::open(path).map_err(InstallError::at(path))?;
    let ending = package.file.to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|end| ending.ends_with(end));
    let unpacked = if ends(&[".whl", ".zip"]) {
        zip(file, growing)
    } else if ends(&[".tgz", ".tar.gz"]) {
        tgz(file, package.bytes, growing)
    } else {
        plain(file, package, growing)
    };
    unpacked.map_err(|error| match error {
        TakeError::Install(error) => error,
        TakeError::Reading(error) => {
            InstallError::Package { package: package.file.clone(), why: error.to_string() }
        }
    })
}

fn zip(file: File, growing: &mut Growing) -> Result<(), TakeError> {
    let broken = |error: ZipError| TakeError::Reading(io::Error::other(error.to_string()));
    let budget = Budget::new(ZIP_LIST);
    let reader = Budgeted::new(BufReader::new(file), budget.clone());
    let mut archive = ZipArchive::new(reader).map_err(broken)?;
    // From here on the extracted length is the bound.
    budget.set(u64::MAX);
    for index in 0..growing.len() {
        while let Some(path) = growing.next_path(index) {
            match archive.by_name(path) {
                Ok(mut entry) => growing.take(index, &mut entry)?,
                Err(ZipError::FileNotFound) => break,
                Err(error) => return Err(broken(error)),
            }
        }
    }
    Ok(())
}

fn tgz(file: File, bytes: u64, growing: &mut Growing) -> Result<(), TakeError> {
    let budget = Budget::new(bytes.saturating_mul(TGZ_GROWTH));
    let unpacked = Budgeted::new(GzDecoder::new(BufReader::new(file)), budget);
    let mut archive = tar::Archive::new(unpacked);
    // Raw: long names and other extensions would be held in memory; no file needed here has any.
    for entry in archive.entries().map_err(TakeError::Reading)?.raw(true) {
        let mut entry = entry.map_err(TakeError::Reading)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        if let Some(index) = growing.needing(&entry.path_bytes()) {
            growing.take(index, &mut entry)?;
            if growing.is_complete() {
                break;
            }
        }
    }
    Ok(())
}

fn plain(mut file: File, package: &Package, growing: &mut Growing) -> Result<(), TakeError> {
    match growing.needing(package.file.as_bytes()) {
        Some(index) => growing.take(index, &mut file),
        None => Ok(()),
    }
}

/// A reader with a limit: bounds an archive reader's input and so its memory.
struct Budgeted<R> {
    inner: R,
    left: Budget,
}

/// Bytes that may still be read; clones share it.
#[derive(Clone)]
struct Budget(Rc<Cell<u64>>);

impl Budget {
    fn new(bytes: u64) -> Self {
        Self(Rc::new(Cell::new(bytes)))
    }

    fn set(&self, bytes: u64) {
        self.0.set(bytes);
    }
}

impl<R> Budgeted<R> {
    fn new(inner: R, left: Budget) -> Self {
        Self { inner, left }
    }
}

impl<R: Read> Read for Budgeted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.left.0.get();
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(into.len());
        let Some(into) = into.get_mut(..most) else { return Ok(0) };
        let read = self.inner.read(into)?;
        if read == 0 && left == 0 {
            return Err(io::Error::other("it exceeds the size limit of such packages"));
        }
        self.left.0.set(left.saturating_sub(read as u64));
        Ok(read)
    }
}

impl<R: Seek> Seek for Budgeted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}
