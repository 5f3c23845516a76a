//! Files of our own, written whole or not at all.
//!
//! Entry functions: [`replace`], [`replace_private`], [`append_private`], [`tighten`]. **Never**: leaves
//! half a file, or what it was written to before.

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
    private_folder(folder_of(path))?;
    in_one_step(path, |part| {
        // What a killed process left behind may have other permissions.
        _ = fs::remove_file(part);
        fill(private(fs::OpenOptions::new().write(true).create_new(true)).open(part)?, content)
    })
}

/// The file at `path`, for adding to it; where there is none it is made, with its folder, for its owner
/// alone.
///
/// # Errors
/// The folder or the file cannot be written.
pub fn append_private(path: &Path) -> io::Result<fs::File> {
    private_folder(folder_of(path))?;
    private(fs::OpenOptions::new().append(true).create(true)).open(path)
}

/// Takes the rights of everybody but the owner from `folder` and all that is in it, as far as it is
/// ours to change; of folders in it named in `closed`, from them alone. Links are left as they are.
pub fn tighten(folder: &Path, closed: &[&str]) {
    if !only_for_owner(folder) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_name().to_str() {
            Some(name) if closed.contains(&name) => _ = only_for_owner(&entry.path()),
            _ => tighten(&entry.path(), &[]),
        }
    }
}

/// Whether it is a folder, which has been closed to others if it was not before; files are too.
fn only_for_owner(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let Ok(about) = fs::symlink_metadata(path) else { return false };
    if about.is_symlink() {
        return false;
    }
    let mode = about.permissions().mode();
    if mode & 0o077 != 0 {
        // What belongs to somebody else is theirs to close.
        _ = fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700));
    }
    about.is_dir()
}

fn private_folder(folder: &Path) -> io::Result<()> {
    std::os::unix::fs::DirBuilderExt::mode(fs::DirBuilder::new().recursive(true), 0o700)
        .create(folder)
}

fn private(options: &mut fs::OpenOptions) -> &mut fs::OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
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

    #[test]
    fn what_others_could_read_is_closed_to_them() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for made in ["data/sessions", "data/servers/x"] {
            fs::create_dir_all(at(made)).expect("a folder");
        }
        for made in ["data/sessions/a.json", "data/servers/x/tool", "outside"] {
            fs::write(at(made), "x").expect("a file");
            fs::set_permissions(at(made), fs::Permissions::from_mode(0o755)).expect("ours");
        }
        symlink(at("outside"), at("data/link")).expect("a link");
        tighten(&at("data"), &["servers"]);
        let mode = |name: &str| fs::metadata(at(name)).expect("there").permissions().mode() & 0o777;
        for (name, wanted) in [
            ("data", 0o700),
            ("data/sessions", 0o700),
            ("data/sessions/a.json", 0o700),
            ("data/servers", 0o700),
            ("data/servers/x/tool", 0o755),
            ("outside", 0o755),
        ] {
            assert_eq!(mode(name), wanted, "{name}");
        }
    }
}
