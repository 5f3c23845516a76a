//! Packages, read for the paths that are needed and for nothing else.
//!
//! Entry function: [`unpack`]. Names inside a package are compared, never used as paths; what one says
//! about sizes reserves nothing.

use std::{
    fs::File,
    io::{self, BufReader},
    path::Path,
};

use flate2::read::GzDecoder;
use zip::{ZipArchive, result::ZipError};

use super::{
    budget::{Budget, Budgeted},
    error::InstallError,
    growing::{Growing, TakeError},
    set::Package,
};

/// Most bytes read of a zip to find its list, enough for about 100,000 names; a list is kept in memory.
const ZIP_LIST: u64 = 4 * 1024 * 1024;
/// A `.tgz` unpacks to at most so many times its own length.
const TGZ_GROWTH: u64 = 50;

/// Takes from the package in the file at `path` what `growing` needs next of it.
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
    // From here on the length of what is taken is the bound.
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
    // Raw: long names and other extensions would be kept in memory; no file needed here has any.
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
