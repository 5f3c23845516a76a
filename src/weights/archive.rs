//! Extracts only the needed paths from packages.
//!
//! Entry function: [`unpack`]. A package's names are compared, never used as paths; its declared
//! sizes reserve nothing.

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
