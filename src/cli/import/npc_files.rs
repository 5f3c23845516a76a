//! NPC files of an export, which may come from others.
//!
//! Entry function: [`npc_files`]. **Never**: takes a file that would fill in a variable of this machine, or the
//! place of another file.

use std::{fs, path::Path};

use crate::{
    campaign::NewFile,
    domain::revealed_name,
    files,
    yaml::{self, Node, Problems, Value},
};

/// Folder in an export.
const FOLDER: &str = "npcs";
/// Longest file, in bytes.
const FILE_MAX: u64 = 10 * 1024 * 1024;
/// Longest name of a file, in bytes.
const NAME_MAX: usize = 100;
/// Most files.
const FILES_MAX: usize = 10_000;

/// Files to write, and what is left out and why.
#[derive(Debug, Default)]
pub struct NpcFiles {
    pub new: Vec<NewFile>,
    pub notes: Vec<String>,
}

/// The NPC files of the export in `folder` that `npc_dir` lacks.
pub fn npc_files(folder: &Path, npc_dir: &Path) -> NpcFiles {
    let mut found = NpcFiles::default();
    let Ok(entries) = fs::read_dir(folder.join(FOLDER)) else { return found };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.take(FILES_MAX).collect();
    names.sort();
    for name in names {
        match npc_file(&folder.join(FOLDER).join(&name), &npc_dir.join(&name), &name) {
            Ok(new) => found.new.extend(new),
            Err(why) => found.notes.push(format!("{FOLDER}/{}: {why}", revealed_name(&name))),
        }
    }
    found
}

/// `None`: it is there already.
fn npc_file(from: &Path, to: &Path, name: &str) -> Result<Option<NewFile>, String> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
    if !is_yaml || name.len() > NAME_MAX || name.starts_with('.') || !name.chars().all(is_plain) {
        return Err("this is no name of an NPC file".to_owned());
    }
    if !fs::symlink_metadata(from).is_ok_and(|about| about.is_file()) {
        return Err("links and folders are left out".to_owned());
    }
    let bytes = files::read(from, FILE_MAX).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "not UTF-8 text".to_owned())?;
    match files::read(to, FILE_MAX) {
        Ok(own) if own == text.as_bytes() => return Ok(None),
        Ok(_) => return Err("your folder has another file of this name, which stays".to_owned()),
        Err(_) if fs::symlink_metadata(to).is_ok() => {
            return Err("your folder has something of this name, which stays".to_owned());
        }
        Err(_) => {}
    }
    let node = yaml::parse(&text, &mut Problems::new(name));
    if node.is_some_and(|node| names_variable(&node)) {
        let way_out = "read it, then copy it into your folder of NPCs";
        return Err(format!("it names a variable of this machine ({way_out})"));
    }
    Ok(Some(NewFile { path: to.to_owned(), text, before: None }))
}

/// True if reading `node` as a configuration would fill in the environment.
fn names_variable(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => scalar.text.replace("$${", "").contains("${"),
        Value::List(items) => items.iter().any(names_variable),
        Value::Map(entries) => entries.iter().any(|entry| names_variable(&entry.node)),
        Value::Broken => false,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn npc_files_with_variables_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let (export, own) = (folder.path().join("export"), folder.path().join("npcs"));
        fs::create_dir_all(export.join(FOLDER)).unwrap();
        fs::create_dir_all(&own).unwrap();
        let write =
            |name: &str, text: &str| fs::write(export.join(FOLDER).join(name), text).unwrap();
        write("a.yaml", "name: A\npersonality: costs $${5}\n# ${DISCORD_TOKEN}\n");
        write("b.yaml", "name: B\npersonality: \"\\u0024{DISCORD_TOKEN}\"\n");
        write("c.yaml", "name: C\n");
        write("d.yaml", "name: D\n");
        write(".e.yaml", "name: E\n");
        write("f.sh", "");
        symlink("/etc/passwd", export.join(FOLDER).join("g.yaml")).unwrap();
        fs::write(own.join("c.yaml"), "name: C\n").unwrap();
        fs::write(own.join("d.yaml"), "name: Dora\n").unwrap();
        let NpcFiles { new, notes } = npc_files(&export, &own);
        assert_eq!(new.len(), 1, "{new:?}");
        assert_eq!(new[0].path, own.join("a.yaml"));
        let wrong = ["npcs/.e.yaml: ", "npcs/b.yaml: it names a var", "npcs/d.yaml: your folder"];
        for part in wrong.iter().chain(&["npcs/f.sh: ", "npcs/g.yaml: links"]) {
            assert!(notes.iter().any(|note| note.starts_with(part)), "{part}: {notes:?}");
        }
        assert_eq!(notes.len(), 5);
        assert!(npc_files(&own, &own).new.is_empty());
    }
}
