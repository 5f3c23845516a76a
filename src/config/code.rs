//! Digest of the files that a folder's programs may run: a changed file needs new agreement. Entry
//! type: [`Code`].
//!
//! A program may read any file, so all count, except stored data, git's files, texts, pictures and
//! sounds. A file that a command names always counts: by name, or within stored data, models,
//! servers and git's folder by path. **Never**: follows a link.

use std::{
    collections::BTreeSet,
    fmt,
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::{demands::digest_of, stored};
use crate::weights::Digest;

/// Longer files count by size and time only.
const BYTES_MAX: u64 = 8 << 20;
/// A file counts as at least this many bytes.
const BYTES_LEAST: u64 = 8 << 10;
/// Most bytes read: at most 20,000 files. The rest count by size and time.
const ALL_MAX: u64 = 20_000 * BYTES_LEAST;
/// Extensions of files that are not programs.
const NO_CODE: &[&str] = &[
    "yaml", "yml", "md", "txt", "pdf", "csv", "log", "png", "jpg", "jpeg", "gif", "webp", "svg",
    "wav", "mp3", "ogg", "oga", "opus", "flac", "m4a", "aac",
];
/// Largest lag of file systems' clocks, in ms.
const CLOCK_LAG: i64 = 20;
const GIT: &str = ".git";

#[derive(Clone, Default, PartialEq, Eq)]
pub struct Code {
    /// Working directory of the programs.
    pub folder: PathBuf,
    /// Folder of stored data, excluded by its file names.
    pub data_dir: PathBuf,
    /// Words of all commands.
    pub words: BTreeSet<String>,
}

impl fmt::Debug for Code {
    /// Hides the words, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Code {
    /// Digest of the current files.
    pub fn digest(&self) -> String {
        let mut left = ALL_MAX;
        digest_of(self.files().into_iter().flat_map(|path| {
            let content = content(&path, &mut left).into_bytes();
            [path.into_os_string().into_encoded_bytes(), content]
        }))
    }

    /// Files changed since a Unix time in ms, relative to the folder; at most `most`.
    pub fn changed_since(&self, at: i64, most: usize) -> Vec<String> {
        let is_newer = |path: &PathBuf| {
            fs::symlink_metadata(path).is_ok_and(|about| {
                let changed = about.ctime() * 1_000 + about.ctime_nsec() / 1_000_000;
                changed + CLOCK_LAG >= at
            })
        };
        let seen =
            |path: PathBuf| path.strip_prefix(&self.folder).unwrap_or(&path).display().to_string();
        self.files().into_iter().filter(is_newer).take(most).map(seen).collect()
    }

    /// Files that programs may run, in path order.
    fn files(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        self.collect(&self.folder, &mut paths);
        paths.sort();
        paths
    }

    fn collect(&self, folder: &Path, paths: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_data = path.strip_prefix(&self.data_dir).is_ok_and(stored::is_name);
            if is_data || (is_folder && name == GIT) {
                self.collect_named(path, is_folder, paths);
            } else if is_folder {
                self.collect(&path, paths);
            } else if self.is_code(&path) {
                paths.push(path);
            }
        }
    }

    /// Adds only the files in `path` that commands name.
    fn collect_named(&self, path: PathBuf, is_folder: bool, paths: &mut Vec<PathBuf>) {
        if self.has_path(&path, ends) {
            match is_folder {
                true => self.collect(&path, paths),
                false => paths.push(path),
            }
        } else if is_folder && self.has_path(&path, |rest| rest.starts_with('/')) {
            for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                self.collect_named(entry.path(), is_folder, paths);
            }
        }
    }

    /// True if a command names `path` relative to the folder, and `fits` accepts the text after it.
    /// A path in `data_dir` may be relative to that too, except for a bare name.
    fn has_path(&self, path: &Path, fits: impl Fn(&str) -> bool) -> bool {
        let below = |folder: &Path| path.strip_prefix(folder).ok().and_then(Path::to_str);
        let whole = below(&self.folder).into_iter().map(|path| (path, false));
        let in_data = below(&self.data_dir).into_iter().map(|path| (path, !path.contains('/')));
        let seen: Vec<(&str, bool)> = whole.chain(in_data).collect();
        self.words.iter().any(|word| {
            let word = word.replace("/./", "/").replace("//", "/");
            seen.iter().any(|(path, is_bare)| {
                word.match_indices(path).any(|(at, _)| {
                    let (before, rest) = (&word[..at], &word[at + path.len()..]);
                    !before.ends_with(is_of_name) && fits(rest) && !(*is_bare && ends(rest))
                })
            })
        })
    }

    /// True unless the extension rules a program out and no command names the file.
    fn is_code(&self, path: &Path) -> bool {
        let end = path.extension().map(|it| it.to_string_lossy().to_ascii_lowercase());
        if !end.is_some_and(|end| NO_CODE.contains(&&*end)) {
            return true;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.words.iter().any(|word| word.contains(&*name))
    }
}

/// True if a path ends before `rest`, with or without a slash.
fn ends(rest: &str) -> bool {
    !rest.trim_start_matches('/').starts_with(is_of_name)
}

/// True if `char` continues a file name.
fn is_of_name(char: char) -> bool {
    char.is_alphanumeric() || "_-.".contains(char)
}

/// Hash of the file while `left` bytes may be read; else its size and time.
fn content(path: &Path, left: &mut u64) -> String {
    let Ok(about) = fs::symlink_metadata(path) else { return String::new() };
    if about.is_symlink() {
        let to = fs::read_link(path).unwrap_or_default();
        return format!("-> {}", to.display());
    }
    let rest = left.checked_sub(about.len().max(BYTES_LEAST));
    let hash = rest.filter(|_| about.len() <= BYTES_MAX).and_then(|rest| {
        *left = rest;
        Digest::of_file(path).ok()
    });
    hash.map_or_else(|| identity(&about), |hash| hash.to_string())
}

fn identity(about: &Metadata) -> String {
    format!("{} {} {}", about.len(), about.mtime(), about.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn named_script_in_data_changes_the_digest() {
        let scripts = ["data/models/run.sh", "data/servers/x/lib/run.js", "data/sessions/a.json"];
        for (command, name) in [
            ("./data/models/run.sh", scripts[0]),
            ("exec sh .//data/./models/run.sh;", scripts[0]),
            ("cd data && sh models/run.sh", scripts[0]),
            ("cd data/models/ && sh run.sh", scripts[0]),
            ("--module=$PWD/data/servers/x", scripts[1]),
            ("data/sessions/a.json", scripts[2]),
            (".git/hooks/x", ".git/hooks/x"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let (root, words) = (folder.path(), ["sh", command].map(str::to_owned).into());
            let code = Code { folder: root.to_owned(), data_dir: root.join("data"), words };
            let others = ["data/sessions/b.json", "data/memory.db", ".git/hooks/y"];
            let all = scripts.iter().chain(&others).chain([&".git/hooks/x"]);
            all.for_each(|name| put(root, name, "one"));
            let before = code.digest();
            others.iter().for_each(|name| put(root, name, "two"));
            assert_eq!(code.digest(), before, "{command}");
            put(root, name, "two");
            assert_ne!(code.digest(), before, "{command}");
        }
    }

    #[test]
    fn unnamed_data_is_left_out_of_the_digest() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        // Words as in commands of package launchers, whose caches in a server's home change at each start.
        let words = [
            "npx",
            "mcp-server-x",
            "git+https://example.org/x/y.git",
            "./other/memory.db",
            "--dir=./data",
            "--models=old-data/models",
        ];
        let words = words.map(str::to_owned).into();
        let code = Code { folder: root.to_owned(), data_dir: root.join("data"), words };
        let before = code.digest();
        for name in [
            "data/servers/x/.npm/mcp-server-x",
            "data/servers/x/npx",
            "data/memory.db",
            "data/models/a.onnx",
            ".git/index",
        ] {
            put(root, name, "one");
            assert_eq!(code.digest(), before, "{name}");
        }
    }

    #[test]
    fn code_changes_the_digest_texts_and_data_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let put = |name: &str, text: &str| put(root, name, text);
        let words = ["sh", "-c", "sh ./named.txt;"].map(str::to_owned).into();
        let code = Code { folder: root.to_owned(), data_dir: root.join("data"), words };
        let texts = ["npcs/a.yaml", "lore.MD", "map.png", "data/sessions/x.json", ".git/hooks/x"];
        let programs =
            ["a.sh", "node_modules/x/index.js", "lib/x.pyc", "named.txt", ".npmrc", "data/x.sh"];
        texts.iter().chain(&programs).for_each(|name| put(name, "one"));
        let before = code.digest();
        texts.iter().for_each(|name| put(name, "two"));
        assert_eq!(code.digest(), before);
        for name in programs {
            let before = code.digest();
            put(name, "two");
            assert_ne!(code.digest(), before, "{name}");
        }
        let before = code.digest();
        std::os::unix::fs::symlink("/bin/sh", root.join("linked")).unwrap();
        assert_ne!(code.digest(), before, "a link");
    }
}
