//! Files that a confined program may reach without their folder.
//!
//! Entry type: [`HeldFile`]; [`replaced`] watches several. Landlock permits the file that exists
//! when the program starts, not its name: a replacement (an editor's renamed copy) stays closed
//! until the program restarts. **Never**: reads a file.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use tokio::time::sleep;

/// Polling interval. A new file counts once two polls in a row have seen it, so that a burst of
/// saves counts once.
const LOOK: Duration = Duration::from_secs(1);

/// A file as of its program's start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldFile {
    path: PathBuf,
    identity: Identity,
}

/// Distinguishes files of the same name, independent of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    device: u64,
    inode: u64,
    /// Since 1970; needed because inode numbers are reused. `None`: the file system does not record
    /// it.
    created: Option<Duration>,
}

impl Identity {
    fn of(about: &Metadata) -> Self {
        let created = about.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Self { device: about.dev(), inode: about.ino(), created }
    }
}

impl HeldFile {
    pub fn of(path: PathBuf) -> Option<Self> {
        let identity = Identity::of(&fs::metadata(&path).ok()?);
        Some(Self { path, identity })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Waits until one of `files` is replaced; returns its path. Never returns if `files` is empty.
/// Cancel safe.
pub async fn replaced(files: &[HeldFile]) -> &Path {
    if files.is_empty() {
        return std::future::pending().await;
    }
    let mut looks: Vec<Look<'_>> = files.iter().map(Look::at).collect();
    loop {
        sleep(LOOK).await;
        for look in &mut looks {
            let file = look.file;
            let about = tokio::fs::metadata(&file.path).await.ok();
            if look.is_replaced(about.as_ref().map(Identity::of)) {
                return &file.path;
            }
        }
    }
}

struct Look<'a> {
    file: &'a HeldFile,
    last: Option<Identity>,
    /// Set once a poll found no file.
    was_away: bool,
}

impl<'a> Look<'a> {
    const fn at(file: &'a HeldFile) -> Self {
        Self { file, last: None, was_away: false }
    }

    /// True if two polls in a row, the second being `now`, have seen the same new file.
    fn is_replaced(&mut self, now: Option<Identity>) -> bool {
        let has_settled = now.is_some() && now == self.last;
        self.was_away |= now.is_none();
        self.last = now;
        has_settled && (self.was_away || now != Some(self.file.identity))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn replaced_file_is_noticed_not_a_written_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let paths = ["a", "b"].map(at);
        for path in &paths {
            fs::write(path, "one").expect("a file");
        }
        let files = paths.clone().map(|path| HeldFile::of(path).expect("a file"));
        fs::write(&paths[1], "two").expect("a file");
        assert!(timeout(LONG, replaced(&files)).await.is_err(), "the program reads it on");
        fs::write(at(".b.tmp"), "three").expect("a file");
        fs::rename(at(".b.tmp"), &paths[1]).expect("a file");
        let which = timeout(LONG, replaced(&files)).await;
        assert_eq!(which.ok(), Some(paths[1].as_path()));
        assert!(timeout(LONG, replaced(&[])).await.is_err());
    }

    #[test]
    fn file_counts_once_it_stays_the_same() {
        let identity = |inode| Identity { device: 1, inode, created: None };
        let file = HeldFile { path: PathBuf::from("a"), identity: identity(1) };
        let looks = |all: &[Option<u64>]| {
            let mut look = Look::at(&file);
            all.iter().map(|it| look.is_replaced(it.map(identity))).collect::<Vec<_>>()
        };
        assert_eq!(looks(&[Some(1), Some(1)]), [false, false]);
        assert_eq!(looks(&[Some(2), Some(3), Some(3)]), [false, false, true]);
        // A removed file's number may be reused by the next.
        assert_eq!(looks(&[Some(1), None, None, Some(1), Some(1)])[3..], [false, true]);
    }
}
