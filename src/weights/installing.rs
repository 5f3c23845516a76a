//! Sets put in place whole, and taken away.
//!
//! Entry type: [`Installing`], of which there is one at a time in a folder.

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

/// Held while something is written.
const LOCK: &str = ".lock";
/// Folder of packages that have come in part.
const PARTS: &str = ".parts";
/// Begins the names of folders that are being filled.
const NEW: &str = ".new-";
/// Begins the names of folders that have been replaced.
const OLD: &str = ".old-";
/// Bytes of a megabyte.
const MEGA: u64 = 1_000_000;

/// The only one who writes into a folder of weights.
pub struct Installing {
    folder: PathBuf,
    parts: PathBuf,
    /// Given back by the system whatever ends us.
    _lock: File,
}

/// A file that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Path of the file.
    pub path: PathBuf,
    /// Length in bytes.
    pub bytes: u64,
}

impl Installing {
    /// Locks `folder`, which is made where there is none, and clears away what a killed process has left
    /// half done; packages that have come in part stay.
    ///
    /// # Errors
    /// It cannot be written to, or another process is at it.
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

    /// Opens the download of `package`, which holds the bytes received so far.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn download(&self, package: &Package) -> Result<Download, InstallError> {
        Download::open(&self.parts, package)
    }

    /// Checks that there is room for the rest of the packages of `set` and for its files.
    ///
    /// # Errors
    /// Too little room is free, or a download cannot be opened.
    pub fn room_for(&self, set: &WeightSet) -> Result<(), InstallError> {
        let missing = |package: &Package| self.download(package).map(|it| it.missing());
        let mut wanted = set.disk_bytes();
        for package in &set.packages {
            wanted = wanted.saturating_add(missing(package)?);
        }
        // Where the system cannot say, writing will.
        let Ok(about) = rustix::fs::statvfs(&self.folder) else { return Ok(()) };
        let free = about.f_bavail.saturating_mul(about.f_frsize);
        if free >= wanted {
            return Ok(());
        }
        let (folder, wanted, free) = (self.folder.clone(), wanted.div_ceil(MEGA), free / MEGA);
        Err(InstallError::NoRoom { folder, wanted, free })
    }

    /// Takes the files of `set` out of its packages, which have come whole, and puts them in place; the
    /// packages go. Not for the runtime's own threads.
    ///
    /// # Errors
    /// Nothing was put in place; what was there before is there still.
    pub fn install(&self, set: &WeightSet) -> Result<PathBuf, InstallError> {
        let new = self.folder.join(format!("{NEW}{}", set.name));
        let filled = self.fill(set, &new).and_then(|()| self.put(set, &new));
        if filled.is_err() {
            // The next one clears away what cannot be cleared away now.
            _ = fs::remove_dir_all(&new);
        }
        // Files that the disk had no room for may fit next time.
        if !matches!(filled, Err(InstallError::Disk { .. })) {
            self.forget(set);
        }
        filled
    }

    /// Takes away what there is of the set called `name`.
    ///
    /// # Errors
    /// It cannot be taken away.
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
        // In one step, so that nobody finds half of it.
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

    /// In place of what was there.
    fn put(&self, set: &WeightSet, new: &Path) -> Result<PathBuf, InstallError> {
        let (folder, old) =
            (self.folder.join(&set.name), self.folder.join(format!("{OLD}{}", set.name)));
        own(&folder, &set.name)?;
        if folder.exists() {
            fs::rename(&folder, &old).map_err(InstallError::at(&folder))?;
        }
        if let Err(error) = fs::rename(new, &folder) {
            // The first error is the one to tell.
            _ = fs::rename(&old, &folder);
            return Err(InstallError::at(&folder)(error));
        }
        // The next installation clears away the rest of it.
        _ = fs::remove_dir_all(&old);
        Ok(folder)
    }

    fn forget(&self, set: &WeightSet) {
        for package in set.packages.iter().chain(&set.published) {
            Download::forget(&self.parts, package);
        }
        // Others may still be on their way.
        _ = fs::remove_dir(&self.parts);
    }
}

/// Checks that `folder` may be replaced: it is not there, empty, or what was installed as `name`, by its
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
