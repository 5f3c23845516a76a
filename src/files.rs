//! Files of our own, written whole or not at all.
//!
//! Entry functions: [`replace`], [`replace_private`]. **Never**: leaves half a file, or what it was
//! written to before.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Puts `content` in place of what is at `path`; its folder is made where there is none. It is on
/// the disk before the old one goes.
///
/// # Errors
/// The folder or the file cannot be written; what was there before is there still.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder_of(path))?;
    in_one_step(path, |part| fill(fs::File::create(part)?, content))
}

/// The same for what is nobody else's business: only the owner may read the file, and a folder that
/// has to be made.
///
/// # Errors
/// As for [`replace`].
pub fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(folder_of(path))?;
    in_one_step(path, |part| {
        // What a killed process left behind may have other permissions.
        _ = fs::remove_file(part);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        fill(options.open(part)?, content)
    })
}

fn fill(mut file: fs::File, content: &[u8]) -> io::Result<()> {
    file.write_all(content)?;
    file.sync_all()
}

/// Has `write` make a file beside `path`, which then takes its place.
fn in_one_step(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let part = beside(path);
    write(&part).and_then(|()| fs::rename(&part, path)).inspect_err(|_| {
        // What is left of it helps nobody; the first error is the one to tell.
        _ = fs::remove_file(&part);
    })
}

/// A name beside `path` that no other process of this folder writes to.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b.json");
        for content in ["one", "two"] {
            replace(&path, content.as_bytes()).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("there"), content);
        }
        fs::create_dir(folder.path().join("a/taken")).expect("a folder");
        assert!(replace(&folder.path().join("a/taken"), b"x").is_err());
        assert_eq!(fs::read_dir(folder.path().join("a")).expect("a folder").count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_private_is_readable_by_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("logins/home.json");
        fs::create_dir(path.parent().expect("a folder")).expect("a folder");
        // Left behind by a killed process, for all to read.
        fs::write(beside(&path), "old").expect("written");
        replace_private(&path, b"s3cret").expect("written");
        let mode = fs::metadata(&path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode, fs::read(&path).expect("there")), (0o600, b"s3cret".to_vec()));
        assert!(!beside(&path).exists());
    }
}
