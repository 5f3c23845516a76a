//! The folder `data_dir` and its files. Entry functions: [`check`], [`close`], [`is_ours`].
//!
//! New files are private; earlier versions left some readable. A folder that holds only these names
//! is taken for ours, and its content is made private. **Never**: changes `data_dir` itself, which
//! another program may have created, or a folder that holds anything else.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::reading::Notes;
use crate::{
    files,
    yaml::{Fields, quoted},
};

/// Paths in `data_dir`; `*` is an id or a number. An unfinished file also has its process number
/// and `.part` at its end. `/` ends a folder whose content has its own permissions: model files,
/// which others may read, and private homes of servers' programs.
const STORED: [&str; 23] = [
    "discord/commands-*",
    "discord/guild-*.json",
    "figures.json",
    "figures.json.broken",
    "logins/*.json",
    "loudness.json",
    "mcp-approved.json",
    "mcp-pinned.json",
    "memory-waiting.*.jsonl",
    "memory-waiting.deletion.*.json",
    "memory.db",
    "memory.db-journal",
    "memory.db-shm",
    "memory.db-wal",
    "models/",
    "permits.json",
    "servers/",
    "sessions/*.calls.jsonl",
    "sessions/*.json",
    "sessions/*.lock",
    "voice-lists.json",
    "voices.json",
    "web.key",
];

/// Makes files and folders in `data_dir` private, if all of it is ours.
pub fn close(data_dir: &Path) {
    let ours = own(data_dir).unwrap_or_default();
    ours.iter().for_each(|path| files::close(path));
}

/// True if `data_dir` is a folder that holds only our names.
pub fn is_ours(data_dir: &Path) -> bool {
    own(data_dir).is_some()
}

/// True if `path`, relative to a data folder, is a stored file or folder.
pub fn is_name(path: &Path) -> bool {
    let Some(name) = path.to_str() else { return false };
    let is_folder = |path: &&str| path.strip_suffix('/') == Some(name);
    STORED.iter().any(|path| is_folder(path) || is_like(path, name))
}

/// Content of `data_dir`; `None`: not all of it is ours.
fn own(data_dir: &Path) -> Option<Vec<PathBuf>> {
    let mut ours = Vec::new();
    collect(data_dir, "", &mut ours).map(|()| ours)
}

/// Adds the content of `folder`, at `within` in `data_dir`. `None`: some of it is not ours.
fn collect(folder: &Path, within: &str, ours: &mut Vec<PathBuf>) -> Option<()> {
    for entry in fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        let name = format!("{within}{}", entry.file_name().to_str()?);
        let kind = entry.file_type().ok()?;
        let below = format!("{name}/");
        if kind.is_dir() && STORED.contains(&below.as_str()) {
            continue;
        }
        if kind.is_dir() && STORED.iter().any(|path| path.starts_with(&below)) {
            collect(&entry.path(), &below, ours)?;
        } else if !kind.is_file() || !STORED.iter().any(|path| is_like(path, &name)) {
            return None;
        }
        ours.push(entry.path());
    }
    Some(())
}

/// True if `name` matches `path`, or an unfinished file of it.
fn is_like(path: &str, name: &str) -> bool {
    let name = files::whole_of(name).unwrap_or(name);
    path.split_once('*').map_or(path == name, |(begin, end)| {
        name.strip_prefix(begin)
            .and_then(|rest| rest.strip_suffix(end))
            .is_some_and(|id| !id.is_empty() && !id.contains('/'))
    })
}

const KEY: &str = "data_dir";
/// Start of the warning about a folder that other users can use.
pub const SHARED: &str = "other users can ";

/// Checks the folder at `path`. A missing one is created on first use.
pub fn check(path: &Path, fields: &Fields<'_>, notes: &mut Notes) {
    if fields.is_broken(KEY) {
        return;
    }
    let shown = match fields.get(KEY) {
        Some(_) => fields.shown(KEY),
        None => quoted(&path.display().to_string()),
    };
    let (is_folder, mode) = match fs::metadata(path) {
        Ok(about) => (about.is_dir(), about.mode()),
        // A parent is a file.
        Err(error) if error.kind() == ErrorKind::NotADirectory => (false, 0),
        Err(_) => return,
    };
    if !is_folder {
        let way_out = "name a folder, or a path that does not exist yet";
        notes.problems.add(fields.place(KEY), format!("data_dir {shown} is not a folder"), way_out);
        return;
    }
    let may = match (mode & 0o044 != 0, mode & 0o022 != 0) {
        (_, true) => "read and change",
        (true, false) => "read",
        (false, false) => return,
    };
    let message = format!("{SHARED}{may} data_dir {shown}");
    notes.warnings.add(fields.place(KEY), message, "run chmod 700 on it to keep it private");
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Files of an earlier version, readable by all.
    const EARLIER: [&str; 11] = [
        "discord/guild-7.json",
        "logins/home.json",
        "memory-waiting.0.jsonl",
        "memory-waiting.deletion.00ff.json",
        "memory.db",
        "memory.db-journal",
        "permits.json",
        "sessions/friday.calls.jsonl",
        "sessions/friday.json",
        "sessions/friday.json.12.part",
        "sessions/friday.lock",
    ];

    /// Files, made readable by all, that remain so after [`close`].
    fn open_after_close(names: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        for name in names {
            let path = data.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
            for made in path.ancestors().take_while(|made| *made != folder.path()) {
                fs::set_permissions(made, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        close(&data);
        let mode = |name: &str| fs::metadata(data.join(name)).unwrap().permissions().mode();
        let mut all = names.to_vec();
        all.extend(["", "sessions", "servers"].into_iter().filter(|it| data.join(it).exists()));
        all.retain(|name| mode(name) & 0o077 != 0);
        all.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn files_of_earlier_versions_are_closed() {
        assert_eq!(open_after_close(&EARLIER), [""], "the folder itself may be somebody else's");
    }

    #[test]
    fn homes_of_servers_and_models_stay_as_they_are() {
        let others = ["servers/x/tool", "models/tiny/model.bin"];
        let open = open_after_close(&[&EARLIER[..], &others].concat());
        assert_eq!(open, [others[0], others[1], "", "servers"]);
    }

    #[test]
    fn folder_with_unknown_names_stays_as_it_is() {
        for unknown in
            ["index.html", "sessions/app.php", "sessions/x/y.json", "a.json.1.part", "models"]
        {
            let names = [&EARLIER[..], &[unknown]].concat();
            let open = open_after_close(&names);
            assert_eq!(open.len(), names.len() + 2, "{unknown}: {open:?}");
        }
    }
}
