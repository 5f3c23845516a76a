//! Paths that a configuration names beyond its own folder.
//!
//! Entry type: [`Outside`]. **Never**: opens a folder for writing, or reads more than the beginning of a file.

use std::{
    collections::BTreeSet,
    fs,
    io::Read,
    path::{Component, Path, PathBuf},
};

use super::{
    checked::Config,
    demands::{Demand, Use},
    destinations::{is_one_variable, variables},
    memory::MemoryPlace,
    reading::Reading,
};
use crate::{files, logic::music::shipped_sound, tools::connection::Sandbox, yaml::Node};

/// Files and folders by which our own data folder is known.
const OURS: [&str; 6] =
    ["memory.db", "sessions", "discord", "permits.json", "loudness.json", "figures.json"];
/// A table that only our databases have, as it is created.
const TABLE: &[u8] = b"CREATE TABLE present_npc";
/// Bytes of a database in which its tables are looked for.
const BEGINNING: u64 = 256 * 1024;

/// A folder whose outside is asked about.
pub struct Outside {
    /// Without links.
    folder: PathBuf,
}

impl Outside {
    /// What lies outside `folder`.
    pub fn of(folder: &Path) -> Self {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Self { folder: real(folder) }
    }

    /// Paths that the server `name` may reach by its `sandbox`.
    pub fn opened(&self, name: &str, sandbox: &Sandbox) -> Vec<Demand> {
        let lines = match sandbox {
            Sandbox::Off => {
                let all = "let the program read and write everything that you can";
                vec![format!("{all} (sandbox: off of server '{name}')")]
            }
            Sandbox::Foreign => Vec::new(),
            Sandbox::Confined { read, write } => {
                let paths = read.iter().map(|path| ("read", path));
                let paths = paths.chain(write.iter().map(|path| ("read and write", path)));
                let line = |(what, path): (&str, &PathBuf)| {
                    let path = self.shown(path)?;
                    Some(format!("let the program {what} {path} (server '{name}')"))
                };
                paths.filter_map(line).collect()
            }
        };
        lines.into_iter().map(|line| Demand::new(Use::Play, line)).collect()
    }

    /// What the rest of a configuration names.
    pub fn demands(&self, root: &Node, config: &Config, reading: &Reading) -> Vec<Demand> {
        let mut lines = self.music(config, reading);
        if let Some(file_io) = &config.file_io
            && let Some(base) = self.shown(&file_io.base)
        {
            let what = if file_io.read_only { "read" } else { "read and write" };
            lines.push(format!("let NPCs {what} files in {base} (file_io)"));
        }
        let texts = reading.texts.iter().filter_map(|path| self.shown(path));
        lines.extend(texts.map(|path| format!("tell NPCs what is in {path}")));
        lines.extend(self.data(root, config, reading));
        lines.into_iter().map(|line| Demand::new(Use::Play, line)).collect()
    }

    /// Folders of music.
    fn music(&self, config: &Config, reading: &Reading) -> Vec<String> {
        let own = config.music.tracks.iter().filter(|it| shipped_sound(&it.file).is_none());
        let folders: BTreeSet<&Path> = own.filter_map(|track| track.file.parent()).collect();
        let named = reading.music.iter().map(|path| real(path));
        let named: BTreeSet<PathBuf> = named.filter(|path| self.is_outside(path)).collect();
        let linked = folders.into_iter().map(real).filter(|path| {
            self.is_outside(path) && !named.iter().any(|named| path.starts_with(named))
        });
        let linked: BTreeSet<PathBuf> = linked.collect();
        let all = named.iter().chain(&linked);
        all.map(|path| format!("play the music in '{}'", path.display())).collect()
    }

    /// A data folder and a database that others made.
    fn data(&self, root: &Node, config: &Config, reading: &Reading) -> Vec<String> {
        let mut lines = Vec::new();
        let (folder, written) = (&config.data_dir, root.inside(&["data_dir"]));
        if !written.is_some_and(|it| is_users_own(it, reading))
            && is_of_others(folder)
            && let Some(shown) = self.shown(folder)
        {
            let others = "which is there already and is not Glyphoxa's";
            lines.push(format!("keep its data in {shown}, {others} (data_dir)"));
        }
        if root.inside(&["memory", "path"]).is_some()
            && let MemoryPlace::File(path) = &config.memory.place
            && is_other_database(path)
            && let Some(shown) = self.shown(path)
        {
            let others = "which is there already and is not Glyphoxa's";
            lines.push(format!("keep its memory in {shown}, {others} (memory.path)"));
        }
        lines
    }

    /// The path in quotes; `None`: it is inside.
    fn shown(&self, path: &Path) -> Option<String> {
        let path = real(path);
        self.is_outside(&path).then(|| format!("'{}'", path.display()))
    }

    /// True if `real`, a path without links, is not in the folder.
    fn is_outside(&self, real: &Path) -> bool {
        !real.starts_with(&self.folder)
            || real.components().any(|part| part == Component::ParentDir)
    }
}

/// `path` without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        let real = above.canonicalize().ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    found.unwrap_or(path)
}

/// True if a variable of Glyphoxa's own holds what `node` says: the user has chosen it.
fn is_users_own(node: &Node, reading: &Reading) -> bool {
    let names = variables(node);
    let chosen = |name: &String| {
        let value = name.starts_with("GLYPHOXA_").then(|| reading.variable(name, "data_dir"));
        value.flatten().as_deref() == node.text()
    };
    is_one_variable(node) && names.iter().any(chosen)
}

/// True if something is at `folder` that we have not made: no folder, or one with other things alone.
fn is_of_others(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            entries.next().is_some() && !OURS.iter().any(|name| folder.join(name).exists())
        }
        Err(_) => folder.symlink_metadata().is_ok(),
    }
}

/// True if something is at `path` that is no database of ours; an empty file is nobody's.
fn is_other_database(path: &Path) -> bool {
    if path.symlink_metadata().is_err() {
        return false;
    }
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let beginning = |path: &Path| {
        let mut bytes = Vec::new();
        let read = files::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
        read.ok().map(|_| bytes)
    };
    let is_ours = |bytes: &Vec<u8>| bytes.windows(TABLE.len()).any(|part| part == TABLE);
    match beginning(path) {
        Some(bytes) if bytes.is_empty() || is_ours(&bytes) => false,
        Some(_) => !beginning(Path::new(&log)).is_some_and(|bytes| is_ours(&bytes)),
        None => true,
    }
}
