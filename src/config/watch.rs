//! Detects changes to the files that were read. Entry type: [`Watch`], polled.

use std::{
    collections::BTreeMap,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    files::{BYTES_MAX, Source},
    music::SOUNDS,
};
use crate::files;

/// A file changed this recently may change again with the same time, so its content is compared.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);

/// The files of one reading and their folders.
#[derive(Debug, Default)]
pub struct Watch {
    files: BTreeMap<PathBuf, Seen>,
    folders: BTreeMap<PathBuf, Listing>,
}

/// Last state of a folder.
#[derive(Debug, PartialEq, Eq)]
struct Listing {
    /// Includes subfolders; not if it is watched only for its files, among those of other programs.
    is_deep: bool,
    paths: Vec<PathBuf>,
}

/// Last state of a file; `None` throughout: it did not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    modified: Option<SystemTime>,
    length: u64,
    content: u64,
    /// Time at which its content was read.
    read_at: Option<SystemTime>,
}

impl Watch {
    /// Watches `files` as they are at `now`, and for new files in `folders` and beside them.
    pub fn new(files: &[PathBuf], folders: &[PathBuf], now: SystemTime) -> Self {
        let mut watch = Self::default();
        watch.add(files, folders, now);
        watch
    }

    /// Watches these too; known ones keep their state.
    pub fn add(&mut self, files: &[PathBuf], folders: &[PathBuf], now: SystemTime) {
        for file in files {
            self.files.entry(file.clone()).or_insert_with(|| Seen::read(file, now));
        }
        for folder in folders {
            self.folders.entry(folder.clone()).or_insert_with(|| Listing::of(folder, true));
        }
        for folder in files.iter().filter_map(|file| file.parent()) {
            self.folders.entry(folder.to_owned()).or_insert_with(|| Listing::of(folder, false));
        }
    }

    /// Watches only these; known ones keep their state.
    pub fn keep(&mut self, files: &[PathBuf], folders: &[PathBuf], now: SystemTime) {
        self.add(files, folders, now);
        self.files.retain(|file, _| files.contains(file));
        let beside = |folder: &PathBuf| files.iter().any(|it| it.parent() == Some(folder));
        self.folders.retain(|folder, _| folders.contains(folder) || beside(folder));
    }

    /// True if anything has changed since the last look.
    pub fn has_changed(&mut self, now: SystemTime) -> bool {
        let mut changed = false;
        for (path, seen) in &mut self.files {
            let current = seen.look(path, now);
            changed |= current.content != seen.content || current.length != seen.length;
            *seen = current;
        }
        for (folder, before) in &mut self.folders {
            let current = Listing::of(folder, before.is_deep);
            changed |= current != *before;
            *before = current;
        }
        changed
    }
}

impl Seen {
    /// The file now; reads its content only if needed.
    fn look(&self, path: &Path, now: SystemTime) -> Self {
        let Ok(meta) = fs::metadata(path) else { return Self::default() };
        let modified = meta.modified().ok();
        let settled = modified.zip(self.read_at).is_some_and(|(modified, read_at)| {
            read_at.duration_since(modified).is_ok_and(|age| age >= COARSEST_CLOCK)
        });
        if settled && modified == self.modified && meta.len() == self.length {
            return self.clone();
        }
        Self::read(path, now)
    }

    fn read(path: &Path, now: SystemTime) -> Self {
        let (Ok(meta), Ok(bytes)) = (fs::metadata(path), files::read(path, BYTES_MAX)) else {
            return Self::default();
        };
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        Self {
            modified: meta.modified().ok(),
            length: meta.len(),
            content: hasher.finish(),
            read_at: Some(now),
        }
    }
}

impl Listing {
    /// The readable files of a folder; empty if it is unreadable.
    fn of(folder: &Path, is_deep: bool) -> Self {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let extensions = [&["yaml", "yml", "json"], SOUNDS].concat();
        let mut paths = Source::Disk.list(folder, &extensions).unwrap_or_default();
        if is_deep {
            paths.extend(Source::Disk.folders(folder));
        }
        Self { is_deep, paths }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "files carry the time of the wall clock")]
    fn wall_clock() -> SystemTime {
        SystemTime::now()
    }

    #[test]
    fn writes_within_one_clock_tick_are_seen_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        fs::write(&file, "one").unwrap();
        let now = wall_clock();
        let mut watch = Watch::new(std::slice::from_ref(&file), &[], now);
        assert!(!watch.has_changed(now));
        let kept = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&file, "two").unwrap();
        fs::File::open(&file).unwrap().set_modified(kept).unwrap();
        assert!(watch.has_changed(now), "same length, same time, other content");
        assert!(!watch.has_changed(now));
        fs::write(folder.path().join("b.yaml"), "new").unwrap();
        assert!(watch.has_changed(now), "a file more");
        fs::remove_file(&file).unwrap();
        assert!(watch.has_changed(now), "a file less");
        assert!(!watch.has_changed(now));
    }

    #[test]
    fn new_folder_or_sound_file_is_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let now = wall_clock();
        let mut watch = Watch::new(&[], &[folder.path().to_owned()], now);
        fs::create_dir(folder.path().join("tavern")).unwrap();
        assert!(watch.has_changed(now));
        fs::write(folder.path().join("lute.mp3"), "").unwrap();
        assert!(watch.has_changed(now));
        fs::write(folder.path().join("notes.txt"), "").unwrap();
        assert!(!watch.has_changed(now));
    }

    #[test]
    fn touching_a_file_is_no_change() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        fs::write(&file, "one").unwrap();
        let now = wall_clock();
        let mut watch = Watch::new(std::slice::from_ref(&file), &[], now);
        fs::write(&file, "one").unwrap();
        assert!(!watch.has_changed(now + Duration::from_secs(60)));
    }
}
