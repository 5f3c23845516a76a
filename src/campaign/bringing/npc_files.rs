//! The folder of NPC files: what is there, what an import writes into it, and back again.
//!
//! Entry types: [`NpcFiles`], [`NewFiles`]. A file that the game master has changed is never written; a new
//! one never takes the place of another.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::written::{Mark, hash};
use crate::{domain::file_stem, files};

/// Longest NPC file, in bytes.
const FILE_MAX: u64 = 10 * 1024 * 1024;
/// Longest file name without its ending, in bytes.
const NAME_MAX: usize = 80;
/// Room for a hash and its hyphen.
const HASHED: usize = 17;

#[derive(Debug, Default)]
pub struct NpcFiles {
    folder: PathBuf,
    /// Files made here, by the hash of their source.
    made: BTreeMap<String, MadeFile>,
    /// Names of all files in lower case, and of those that are planned.
    names: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeFile {
    pub path: PathBuf,
    /// Name of the NPC in it, as far as it is in a line of its own.
    pub name: Option<String>,
    pub aliases: Vec<String>,
    /// Its content, without the first line.
    pub content: String,
    /// It is no longer as it was made.
    pub is_edited: bool,
}

impl NpcFiles {
    /// Those in `folder`, which may not be there yet.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut found = Self { folder: folder.to_owned(), ..Self::default() };
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            let Some(name) = path.file_name().and_then(|it| it.to_str()) else { continue };
            found.names.insert(name.to_lowercase());
            let is_yaml = path.extension().is_some_and(|it| it == "yaml" || it == "yml");
            // Unreadable files are not ours.
            let text = Some(&path).filter(|_| is_yaml && !name.starts_with('.'));
            let text = text.and_then(|path| files::read(path, FILE_MAX).ok());
            let Some(text) = text.and_then(|it| String::from_utf8(it).ok()) else { continue };
            if let Some((mark, content)) = Mark::of(&text) {
                let is_edited = !mark.is_as_made(content);
                let (name, aliases) = (name_in(content), aliases_in(content));
                let content = content.to_owned();
                found
                    .made
                    .insert(mark.source, MadeFile { path, name, aliases, content, is_edited });
            }
        }
        Ok(found)
    }

    /// The file that was made of the draft with this source.
    pub fn made_of(&self, source: &str) -> Option<&MadeFile> {
        self.made.get(&hash(source))
    }

    pub fn all(&self) -> impl Iterator<Item = &MadeFile> {
        self.made.values()
    }

    pub fn path_for(&mut self, name: &str, source: &str) -> PathBuf {
        let stem = file_stem(name, NAME_MAX - HASHED);
        let digits = hash(source);
        let numbered = format!("{stem}-{digits}.yaml");
        let file = match stem.is_empty() {
            true => format!("npc-{digits}.yaml"),
            false if self.names.contains(&format!("{stem}.yaml")) => numbered,
            false => format!("{stem}.yaml"),
        };
        self.names.insert(file.clone());
        self.folder.join(file)
    }
}

/// The name in a file as it is made here; also one typed without quotation marks.
fn name_in(content: &str) -> Option<String> {
    let written = content.lines().find_map(|line| line.strip_prefix("name:"))?.trim();
    let name = serde_json::from_str::<String>(written);
    let name = name.unwrap_or_else(|_| written.trim_matches(['"', '\'']).to_owned());
    Some(name.replace("$${", "${")).filter(|name| !name.is_empty())
}

/// The other names in a file as it is made here.
fn aliases_in(content: &str) -> Vec<String> {
    let written = content.lines().find_map(|line| line.strip_prefix("aliases:"));
    let aliases = written.and_then(|it| serde_json::from_str::<Vec<String>>(it).ok());
    aliases.unwrap_or_default().into_iter().map(|it| it.replace("$${", "${")).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    pub path: PathBuf,
    pub text: String,
    /// Content expected there now; `None`: no file.
    pub before: Option<String>,
}

/// Files that were written and can be taken back.
#[derive(Debug, Default)]
pub struct NewFiles(Vec<NewFile>);

impl NewFiles {
    /// Writes all or none of `files`.
    pub fn write(files: Vec<NewFile>) -> Result<Self, NotWritten> {
        let mut written = Self::default();
        for file in files {
            match write(&file) {
                Ok(()) => written.0.push(file),
                Err(source) => {
                    written.take_back();
                    return Err(NotWritten { path: file.path, source });
                }
            }
        }
        Ok(written)
    }

    pub fn take_back(self) {
        for file in self.0 {
            // The first error is the one to tell.
            _ = match &file.before {
                Some(before) => files::replace(&file.path, before.as_bytes()),
                None => fs::remove_file(&file.path),
            };
        }
    }
}

/// Reason a file was not written; the others were taken back.
#[derive(Debug, thiserror::Error)]
#[error("cannot write '{}': {source} (check the folder npc_dir, then import again)", path.display())]
pub struct NotWritten {
    path: PathBuf,
    source: io::Error,
}

fn write(file: &NewFile) -> io::Result<()> {
    let is_as_planned = match &file.before {
        Some(before) => files::read(&file.path, FILE_MAX)? == before.as_bytes(),
        None => fs::symlink_metadata(&file.path).is_err(),
    };
    if !is_as_planned {
        let changed = "it has changed since the import was planned";
        return Err(io::Error::new(ErrorKind::AlreadyExists, changed));
    }
    if let Some(folder) = file.path.parent() {
        files::private_folder(folder)?;
    }
    files::replace(&file.path, file.text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::bringing::written::marked;

    #[test]
    fn names_of_files_come_from_an_allow_list() {
        let mut files = NpcFiles::default();
        let mut path = |name: &str| files.path_for(name, name).display().to_string();
        assert_eq!(path("Amanda || Blunt Rogue"), "amanda-blunt-rogue.yaml");
        assert_eq!(path("../../etc/passwd\0"), "etc-passwd.yaml");
        assert_eq!(path("\u{202e}Luna\u{200b}"), "luna.yaml");
        let again = path("Luna!");
        assert!(again.starts_with("luna-") && again.len() == "luna-.yaml".len() + 16, "{again}");
        let hashed = path("…/…");
        assert!(hashed.starts_with("npc-"), "{hashed}");
        assert!(path(&"Ä".repeat(500)).len() < 80);
        assert_eq!(path(".hidden"), "hidden.yaml");
    }

    #[test]
    fn changed_file_is_known_as_edited() {
        let folder = tempfile::tempdir().unwrap();
        let text = marked("card:a", "name: A\n");
        fs::write(folder.path().join("a.yaml"), &text).unwrap();
        fs::write(folder.path().join("b.yaml"), marked("card:b", "name: B\n") + "# mine\n")
            .unwrap();
        fs::write(folder.path().join("c.yaml"), "name: C\n").unwrap();
        let files = NpcFiles::read(folder.path()).unwrap();
        assert!(!files.made_of("card:a").unwrap().is_edited);
        assert!(files.made_of("card:b").unwrap().is_edited);
        assert_eq!(files.made_of("card:b").unwrap().name.as_deref(), Some("B"));
        assert_eq!(name_in("a: 1\nname: \"A \\\"$${B}\\\"\"\n").unwrap(), "A \"${B}\"");
        assert_eq!(files.made_of("card:c"), None);
        assert_eq!(NpcFiles::read(&folder.path().join("none")).unwrap().names.len(), 0);
    }

    #[test]
    fn failed_writing_takes_everything_back() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("old.yaml"), "old").unwrap();
        fs::write(at("taken.yaml"), "theirs").unwrap();
        let new = |name: &str, before: Option<&str>| NewFile {
            path: at(name),
            text: "new".to_owned(),
            before: before.map(str::to_owned),
        };
        let all =
            vec![new("old.yaml", Some("old")), new("new.yaml", None), new("taken.yaml", None)];
        let error = NewFiles::write(all).unwrap_err().to_string();
        assert!(error.contains("taken.yaml"), "{error}");
        assert_eq!(fs::read_to_string(at("old.yaml")).unwrap(), "old");
        assert!(!at("new.yaml").exists());
        assert_eq!(fs::read_to_string(at("taken.yaml")).unwrap(), "theirs");
        NewFiles::write(vec![new("old.yaml", Some("old")), new("new.yaml", None)]).unwrap();
        assert_eq!(fs::read_to_string(at("new.yaml")).unwrap(), "new");
    }
}
