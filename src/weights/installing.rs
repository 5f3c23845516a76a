//! Installs and removes whole sets.
//!
//! Entry type: [`Installing`], one at a time per folder.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use super::{
    archive::unpack,
    download::Download,
    error::InstallError,
    growing::Growing,
    manifest::{FILE, Manifest, NOTICE},
    set::{Package, WeightSet},
};
use crate::files;

/// Lock file of the folder.
const LOCK: &str = ".lock";
/// Folder of partial downloads.
const PARTS: &str = ".parts";
/// Prefix of folders being filled.
const NEW: &str = ".new-";
/// Prefix of replaced folders.
const OLD: &str = ".old-";
const MEGA: u64 = 1_000_000;

/// The only writer of a folder of weights.
pub struct Installing {
    folder: PathBuf,
    parts: PathBuf,
    /// Released by the system however we end.
    _lock: File,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    pub path: PathBuf,
    pub bytes: u64,
}

impl Installing {
    /// Locks `folder`, creates it if missing, and removes a killed process's remains except partial
    /// downloads. Fails if another process holds the lock.
    pub fn begin(folder: &Path) -> Result<Self, InstallError> {
        let path = folder.join(LOCK);
        let lock = files::append_private(&path).map_err(InstallError::at(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(InstallError::Busy(folder.to_owned())),
            Err(TryLockError::Error(error)) => return Err(InstallError::at(&path)(error)),
        }
        for entry in fs::read_dir(folder).map_err(InstallError::at(folder))?.flatten() {
            let name = entry.file_name();
            let is_half =
                name.to_str().is_some_and(|it| it.starts_with(NEW) || it.starts_with(OLD));
            if is_half {
                fs::remove_dir_all(entry.path()).map_err(InstallError::at(&entry.path()))?;
            }
        }
        Ok(Self { folder: folder.to_owned(), parts: folder.join(PARTS), _lock: lock })
    }

    /// Opens the download of `package` with the bytes received so far.
    pub fn download(&self, package: &Package) -> Result<Download, InstallError> {
        Download::open(&self.parts, package)
    }

    /// Checks the free space for the rest of the packages of `set` and for its files.
    pub fn room_for(&self, set: &WeightSet) -> Result<(), InstallError> {
        let missing = |package: &Package| self.download(package).map(|it| it.missing());
        let mut wanted = set.disk_bytes();
        for package in &set.packages {
            wanted = wanted.saturating_add(missing(package)?);
        }
        // If the system does not know, writing will fail later.
        let Ok(about) = rustix::fs::statvfs(&self.folder) else { return Ok(()) };
        let free = about.f_bavail.saturating_mul(about.f_frsize);
        if free >= wanted {
            return Ok(());
        }
        let (folder, wanted, free) = (self.folder.clone(), wanted.div_ceil(MEGA), free / MEGA);
        Err(InstallError::NoRoom { folder, wanted, free })
    }

    /// Extracts the files of `set` from its complete packages, puts them in place and removes the
    /// packages. On failure the previous files stay. Not for the runtime's threads.
    pub fn install(&self, set: &WeightSet) -> Result<PathBuf, InstallError> {
        let new = self.folder.join(format!("{NEW}{}", set.name));
        let filled = self.fill(set, &new).and_then(|()| self.put(set, &new));
        if filled.is_err() {
            // The next installation removes it otherwise.
            _ = fs::remove_dir_all(&new);
        }
        // Files that did not fit on the disk may fit next time.
        if !matches!(filled, Err(InstallError::Disk { .. })) {
            self.forget(set);
        }
        filled
    }

    /// Removes the set `name`, if any.
    pub fn remove(
        &self,
        name: &str,
        set: Option<&WeightSet>,
    ) -> Result<Vec<Removed>, InstallError> {
        if let Some(set) = set {
            self.forget(set);
        }
        let folder = self.folder.join(name);
        own(&folder, name)?;
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(InstallError::at(&folder)(error)),
        };
        let length = |entry: fs::DirEntry| Removed {
            path: entry.path(),
            bytes: entry.metadata().map_or(0, |about| about.len()),
        };
        let mut removed: Vec<Removed> = entries.flatten().map(length).collect();
        removed.sort_by(|one, other| one.path.cmp(&other.path));
        // In one step, so that no reader finds half of it.
        let old = self.folder.join(format!("{OLD}{name}"));
        fs::rename(&folder, &old).map_err(InstallError::at(&folder))?;
        fs::remove_dir_all(&old).map_err(InstallError::at(&old))?;
        Ok(removed)
    }

    fn fill(&self, set: &WeightSet, new: &Path) -> Result<(), InstallError> {
        let mut growing = Growing::begin(new, &set.files)?;
        for package in &set.packages {
            let download = self.download(package)?;
            unpack(download.path(), package, &mut growing)?;
        }
        growing.finish()?;
        if !set.notice.is_empty() {
            write(&new.join(NOTICE), set.notice.as_bytes())?;
        }
        let manifest = serde_json::to_vec_pretty(&Manifest::of(set)).map_err(io::Error::other);
        let path = new.join(FILE);
        write(&path, &manifest.map_err(InstallError::at(&path))?)
    }

    /// Replaces the previous folder.
    fn put(&self, set: &WeightSet, new: &Path) -> Result<PathBuf, InstallError> {
        let (folder, old) =
            (self.folder.join(&set.name), self.folder.join(format!("{OLD}{}", set.name)));
        own(&folder, &set.name)?;
        if folder.exists() {
            fs::rename(&folder, &old).map_err(InstallError::at(&folder))?;
        }
        if let Err(error) = fs::rename(new, &folder) {
            // The first error is reported.
            _ = fs::rename(&old, &folder);
            return Err(InstallError::at(&folder)(error));
        }
        // The next installation removes the rest.
        _ = fs::remove_dir_all(&old);
        Ok(folder)
    }

    fn forget(&self, set: &WeightSet) {
        for package in set.packages.iter().chain(&set.published) {
            Download::forget(&self.parts, package);
        }
        // It may contain other downloads.
        _ = fs::remove_dir(&self.parts);
    }
}

/// Checks that `folder` may be replaced: missing, empty, or installed as `name` according to its
/// manifest.
fn own(folder: &Path, name: &str) -> Result<(), InstallError> {
    let is_gone = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_gone || Manifest::read(folder).is_ok_and(|it| it.name == name) {
        return Ok(());
    }
    Err(InstallError::NotOurs(folder.to_owned()))
}

fn write(path: &Path, content: &[u8]) -> Result<(), InstallError> {
    files::replace_private(path, content).map_err(InstallError::at(path))
}
