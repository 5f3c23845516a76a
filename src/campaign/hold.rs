//! The lock of a stored session among programs. Entry type: [`SessionHold`].

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::file_error::FileError;
use crate::files;

/// Keeps other programs from playing or deleting a session. Released when the process ends, too.
#[derive(Debug)]
pub struct SessionHold {
    path: PathBuf,
    _file: fs::File,
}

impl SessionHold {
    /// Takes the lock; `None` if another program has it. Succeeds on file systems without locks.
    pub(super) fn take(path: PathBuf) -> Result<Option<Self>, FileError> {
        loop {
            let file = files::append_private(&path).map_err(FileError::on("lock", &path))?;
            match file.try_lock() {
                Err(fs::TryLockError::WouldBlock) => return Ok(None),
                // The previous holder has deleted the file meanwhile.
                Ok(()) if !is_at(&file, &path) => {}
                Ok(()) | Err(fs::TryLockError::Error(_)) => {
                    return Ok(Some(Self { path, _file: file }));
                }
            }
        }
    }
}

impl Drop for SessionHold {
    fn drop(&mut self) {
        // Still locked, so no other program holds it.
        _ = fs::remove_file(&self.path);
    }
}

fn is_at(file: &fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |about: fs::Metadata| (about.dev(), about.ino());
    let here = file.metadata().map(identity).ok();
    here.is_some() && here == fs::metadata(path).map(identity).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions/friday.lock");
        let hold = SessionHold::take(path.clone()).unwrap().expect("nobody plays");
        assert!(SessionHold::take(path.clone()).unwrap().is_none());
        drop(hold);
        assert!(!path.exists());
        assert!(SessionHold::take(path).unwrap().is_some());
    }

    #[test]
    fn lock_file_left_by_crash_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("friday.lock");
        fs::write(&path, "").unwrap();
        assert!(SessionHold::take(path).unwrap().is_some());
    }
}
