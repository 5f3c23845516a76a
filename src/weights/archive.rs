//! Extracts only the needed paths from packages.
//!
//! Entry function: [`unpack`].

use std::{fs::File, ops::ControlFlow, path::Path};

use super::{
    error::InstallError,
    growing::{Growing, TakeError},
    set::Package,
};
use crate::archives::{ZipReader, tgz_members};

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
    let mut archive = ZipReader::open(file, ZIP_LIST)?;
    for index in 0..growing.len() {
        while let Some(path) = growing.next_path(index) {
            match archive.member(path)? {
                Some(mut member) => growing.take(index, &mut member)?,
                None => break,
            }
        }
    }
    Ok(())
}

fn tgz(file: File, bytes: u64, growing: &mut Growing) -> Result<(), TakeError> {
    tgz_members::<TakeError>(file, bytes.saturating_mul(TGZ_GROWTH), &mut |path, member| {
        if let Some(index) = growing.needing(path) {
            growing.take(index, member)?;
            if growing.is_complete() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}

fn plain(mut file: File, package: &Package, growing: &mut Growing) -> Result<(), TakeError> {
    match growing.needing(package.file.as_bytes()) {
        Some(index) => growing.take(index, &mut file),
        None => Ok(()),
    }
}
