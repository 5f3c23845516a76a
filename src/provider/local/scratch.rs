//! A private temporary file that is gone when its value is.
//!
//! Entry type: [`ScratchFile`]. The C library reads models from files only.
//! **Never**: following links, other people's eyes.

use std::{
    env, fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// Names tried before giving up; strangers may have taken some.
const ATTEMPTS: u32 = 100;

/// A file that only this user may read, deleted on drop.
pub struct ScratchFile {
    /// Where it is.
    path: PathBuf,
}

impl ScratchFile {
    /// Writes `content` to a new file.
    ///
    /// # Errors
    /// The folder for temporary files is full or may not be written.
    pub fn new(content: &[u8]) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("glyphoxa-{}-{number}.tmp", process::id()));
            match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(mut file) => {
                    let scratch = Self { path };
                    file.write_all(content)?;
                    return Ok(scratch);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        // Nothing can be done about a file that somebody else deleted.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_and_then_gone() {
        let file = ScratchFile::new(b"words").unwrap();
        let path = file.path().to_owned();
        assert_eq!(fs::read(&path).unwrap(), b"words");
        drop(file);
        assert!(!path.exists());
    }
}
