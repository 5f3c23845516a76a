//! Paths that a configuration names outside its own folder. Entry type: [`Outside`].

use std::{
    collections::BTreeSet,
    path::{Component, Path, PathBuf},
};

use super::{
    checked::Config,
    demands::{Demand, Use},
    destinations::{is_one_variable, variables},
    memory::MemoryPlace,
    reading::Reading,
    state, stored,
};
use crate::{
    launch::real, logic::music::shipped_sound, memory::recognise, tools::connection::Sandbox,
    yaml::Node,
};

/// Existing data of another program.
const OTHERS: &str = "which is there already and is not Glyphoxa's";
/// Contents of a data folder that need agreement.
const BROUGHT: &str = "sessions, servers that were added, and permissions";

pub struct Outside {
    /// Without links.
    folder: PathBuf,
    /// Paths that programs cannot see unless named, without links.
    hidden: Vec<PathBuf>,
}

impl Outside {
    /// Paths outside `folder`, whose configuration is `config`.
    pub fn of(folder: &Path, config: &Config, reading: &Reading) -> Self {
        let hidden = reading.files.iter().chain([&config.npc_dir]);
        let mut hidden: Vec<PathBuf> = hidden.map(|it| real(it)).collect();
        hidden.extend(config.file_io.iter().map(|it| real(&it.base)));
        if let MemoryPlace::File(path) = &config.memory.place {
            hidden.push(real(path));
        }
        Self { folder: real(folder), hidden }
    }

    /// Paths that the server `name` may reach by its `sandbox` and its command's `arguments`.
    pub fn opened(&self, name: &str, sandbox: &Sandbox, arguments: &[String]) -> Vec<Demand> {
        let lines = match sandbox {
            Sandbox::Off => {
                let all = "let the program read and write everything that you can";
                vec![format!("{all} (sandbox: off of server '{name}')")]
            }
            Sandbox::Foreign => Vec::new(),
            Sandbox::Confined { read, write } => {
                let paths = read.iter().map(|path| (false, path));
                let paths = paths.chain(write.iter().map(|path| (true, path)));
                let line = |(writes, path): (bool, &PathBuf)| {
                    let path = real(path);
                    (self.is_outside(&path) || self.is_hidden(&path)).then_some((writes, path))
                };
                let reached = paths.filter_map(line);
                let reached = reached.chain(arguments.iter().filter_map(|it| self.argument(it)));
                let reached: BTreeSet<(bool, PathBuf)> = reached.collect();
                let line = |(writes, path): &(bool, PathBuf)| {
                    let what = if *writes { "read and write" } else { "read" };
                    format!("let the program {what} {} (server '{name}')", self.named(path))
                };
                reached.iter().map(line).collect()
            }
        };
        lines.into_iter().map(|line| Demand::new(Use::Play, line)).collect()
    }

    /// The outside path that an argument opens, as launching reads it, and whether for writing.
    fn argument(&self, argument: &str) -> Option<(bool, PathBuf)> {
        let value = argument.split_once('=').map_or(argument, |(_, value)| value);
        let path = self.folder.join(value).canonicalize().ok().filter(|_| !value.is_empty())?;
        self.is_outside(&path).then(|| (path.is_dir(), path))
    }

    /// True if `real`, a path in the folder, is hidden from programs that do not name it.
    fn is_hidden(&self, real: &Path) -> bool {
        let within = real.strip_prefix(&self.folder).unwrap_or(real);
        let has_dot = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
        within.components().any(has_dot) || self.hidden.iter().any(|it| real.starts_with(it))
    }

    /// Demands of the rest of a configuration.
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
        lines.extend(self.files(reading));
        let data = self.data(root, config, reading).into_iter();
        let data = data.map(|line| Demand::new(Use::Remember, line));
        lines.into_iter().map(|line| Demand::new(Use::Play, line)).chain(data).collect()
    }

    /// Folders of files that are read, apart from texts and music.
    fn files(&self, reading: &Reading) -> Vec<String> {
        let music: Vec<PathBuf> = reading.music.iter().map(|path| real(path)).collect();
        // The user who names the first one knows its place.
        let files = reading.files.iter().skip(1).filter(|path| !reading.texts.contains(path));
        let folders = files.filter_map(|path| Some(real(path).parent()?.to_owned()));
        let is_asked = |path: &PathBuf| {
            self.is_outside(path) && !music.iter().any(|music| path.starts_with(music))
        };
        let folders: BTreeSet<PathBuf> = folders.filter(is_asked).collect();
        folders.iter().map(|path| format!("tell NPCs what is in '{}'", path.display())).collect()
    }

    fn music(&self, config: &Config, reading: &Reading) -> Vec<String> {
        let own = config.music.tracks.iter().filter(|it| shipped_sound(&it.file).is_none());
        let folders = own.filter_map(|track| Some(real(&track.file).parent()?.to_owned()));
        let named = reading.music.iter().map(|path| real(path));
        let named: BTreeSet<PathBuf> = named.filter(|path| self.is_outside(path)).collect();
        let linked = folders.filter(|path| {
            self.is_outside(path) && !named.iter().any(|named| path.starts_with(named))
        });
        let linked: BTreeSet<PathBuf> = linked.collect();
        let all = named.iter().chain(&linked);
        all.map(|path| format!("play the music in '{}'", path.display())).collect()
    }

    /// Existing data that was not created here.
    fn data(&self, root: &Node, config: &Config, reading: &Reading) -> Vec<String> {
        let mut lines = Vec::new();
        let known = reading.files.first().and_then(|file| state::known(file));
        let folder = real(&config.data_dir);
        let is_new = |path: &Path| known.as_ref().is_some_and(|known| !known.contains(path));
        let is_asked = |path: &Path| is_new(path) && !state::is_empty(path);
        let is_chosen = root.inside(&["data_dir"]).is_some_and(|it| is_users_own(it, reading));
        if !is_chosen && is_asked(&folder) {
            let shown = self.named(&folder);
            lines.push(match self.is_outside(&folder) && !stored::is_ours(&folder) {
                true => format!("keep its data in {shown}, {OTHERS} (data_dir)"),
                false => format!("use what is already in {shown}: {BROUGHT} (data_dir)"),
            });
        }
        if root.inside(&["memory", "path"]).is_some()
            && let MemoryPlace::File(path) = &config.memory.place
        {
            let place = real(path);
            let shown = self.named(&place);
            if self.is_outside(&place) && recognise(path).is_err() {
                lines.push(format!("keep its memory in {shown}, {OTHERS} (memory.path)"));
            } else if is_asked(&place) && !place.starts_with(&folder) {
                lines.push(format!("use the memory that is already in {shown} (memory.path)"));
            }
        }
        lines
    }

    /// `real`, a path without links, quoted; relative if in the folder.
    fn named(&self, real: &Path) -> String {
        let own = real.strip_prefix(&self.folder).ok().filter(|it| !it.as_os_str().is_empty());
        format!("'{}'", own.unwrap_or(real).display())
    }

    /// The path, quoted; `None`: it is inside.
    fn shown(&self, path: &Path) -> Option<String> {
        let path = real(path);
        self.is_outside(&path).then(|| format!("'{}'", path.display()))
    }

    /// True if `real`, a path without links, is not in the folder.
    pub fn is_outside(&self, real: &Path) -> bool {
        !real.starts_with(&self.folder)
            || real.components().any(|part| part == Component::ParentDir)
    }
}

/// True if one of Glyphoxa's own variables holds the value of `node`: the user has chosen it.
fn is_users_own(node: &Node, reading: &Reading) -> bool {
    let names = variables(node);
    let chosen = |name: &String| {
        let value = name.starts_with("GLYPHOXA_").then(|| reading.variable(name, "data_dir"));
        value.flatten().as_deref() == node.text()
    };
    is_one_variable(node) && names.iter().any(chosen)
}
