//! Opens others' files without waiting, and writes our own files completely or not at all.
//!
//! Entry functions: [`open`], [`read`], [`read_own`], [`replace`], [`replace_private`],
//! [`append_private`], [`private_folder`], [`close`], [`whole_of`]. **Never**: waits for a pipe,
//! replaces anything but a regular file, or leaves half a file.

use std::{
    fs,
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;

/// Longest file of our own, in bytes.
const OWN_MAX: u64 = 1 << 30;
const NO_FILE: &str = "this is a pipe, a device or a socket, not a regular file";

/// Opens the regular file at `path`, following links, without blocking. A folder is
/// [`ErrorKind::IsADirectory`]; a pipe, a device or a socket, which might block or never end, is
/// [`ErrorKind::InvalidInput`].
pub fn open(path: &Path) -> io::Result<fs::File> {
    // Opening a device may already have an effect.
    regular(&fs::metadata(path)?)?;
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut options = fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true), flags);
    let file = options.open(path)?;
    // It may have been replaced since.
    regular(&file.metadata()?)?;
    Ok(file)
}

/// The content of the regular file at `path`; [`ErrorKind::FileTooLarge`] above `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        true => Ok(bytes),
        false => Err(io::Error::new(
            ErrorKind::FileTooLarge,
            format!("this file is larger than {} MiB", most >> 20),
        )),
    }
}

/// [`read`] for a file of our own, of at most [`OWN_MAX`] bytes.
pub fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    read(path, OWN_MAX)
}

fn regular(about: &fs::Metadata) -> io::Result<()> {
    if about.is_file() {
        return Ok(());
    }
    Err(match about.is_dir() {
        true => io::Error::new(ErrorKind::IsADirectory, "this is a folder"),
        false => io::Error::new(ErrorKind::InvalidInput, NO_FILE),
    })
}

/// Replaces the file at `path` by `content`, flushed to the disk before the old file goes. A link
/// stays and its target is replaced. On failure the old file stays.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    in_one_step(path, |part| fill(fs::File::create_new(part)?, content))
}

/// Checks that [`replace`] could write to `path` now.
pub fn replaceable(path: &Path) -> io::Result<()> {
    let part = beside(&target(path)?);
    clear(&part)?;
    fs::File::create_new(&part)?;
    fs::remove_file(part)
}

/// [`replace`] for private files: only the owner may read the file and a newly created folder.
pub fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    private_folder(folder_of(path))?;
    in_one_step(path, |part| {
        fill(private(fs::OpenOptions::new().write(true).create_new(true)).open(part)?, content)
    })
}

/// Opens the file at `path` for appending; creates it and its folder for their owner alone.
pub fn append_private(path: &Path) -> io::Result<fs::File> {
    private_folder(folder_of(path))?;
    // Opening a device may already have an effect.
    if let Ok(about) = fs::metadata(path) {
        regular(&about)?;
    }
    let mut options = fs::OpenOptions::new();
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    let file = private(options.append(true).create(true)).open(path)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

/// Removes other users' rights to the file or folder at `path`, if its owner runs this program.
/// Leaves links, files with a second name, pipes and devices unchanged.
pub fn close(path: &Path) {
    // Another user's file is theirs to change.
    _ = closed(path);
}

fn closed(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
    let is_open = |about: &fs::Metadata| {
        let is_ours = about.is_dir() || (about.is_file() && about.nlink() == 1);
        is_ours && about.mode() & 0o077 != 0
    };
    // Opening a device may already have an effect.
    if !is_open(&fs::symlink_metadata(path)?) {
        return Ok(());
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let about = file.metadata()?;
    // It may have been replaced since.
    if is_open(&about) {
        file.set_permissions(fs::Permissions::from_mode(about.mode() & 0o700))?;
    }
    Ok(())
}

/// Creates `folder` and its missing parents for their owner alone. An existing folder stays as it
/// is.
pub fn private_folder(folder: &Path) -> io::Result<()> {
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

/// Lets `write` make a file beside `path`, then renames it.
fn in_one_step(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let path = target(path)?;
    let part = beside(&path);
    clear(&part)?;
    write(&part).and_then(|()| fs::rename(&part, &path)).map_err(|error| {
        // Its remains are useless; the first error is reported.
        _ = fs::remove_file(&part);
        with_way_out(error)
    })
}

/// Adds the fix to the error of a full disk.
fn with_way_out(error: io::Error) -> io::Error {
    match error.kind() {
        kind @ (ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
            io::Error::new(kind, format!("{error} (make room; the previous content is unchanged)"))
        }
        _ => error,
    }
}

/// The file behind `path`: a regular one, a link's target, or a new one.
fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error),
        Ok(about) if about.is_symlink() => {
            let path = path.canonicalize()?;
            regular(&fs::metadata(&path)?).map(|()| path)
        }
        Ok(about) => regular(&about).map(|()| path.to_owned()),
    }
}

/// Removes a killed process's remains, which may be a link or have other permissions.
fn clear(part: &Path) -> io::Result<()> {
    match fs::remove_file(part) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The target of the unfinished file `name`; `None`: not an unfinished file.
pub fn whole_of(name: &str) -> Option<&str> {
    let (whole, process) = name.strip_suffix(".part")?.rsplit_once('.')?;
    let is_number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(whole)
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
    fn files_are_replaced_whole_without_leftovers() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b.json");
        assert!(replace(&path, b"x").is_err(), "there is no such folder");
        fs::create_dir(folder.path().join("a")).expect("a folder");
        for content in ["one", "two"] {
            replace(&path, content.as_bytes()).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("there"), content);
        }
        fs::create_dir(folder.path().join("a/taken")).expect("a folder");
        assert!(replace(&folder.path().join("a/taken"), b"x").is_err());
        assert_eq!(fs::read_dir(folder.path().join("a")).expect("a folder").count(), 2);
    }

    #[test]
    fn pipe_or_device_is_neither_opened_nor_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let made = rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode);
        made.expect("a pipe");
        let socket = folder.path().join("socket");
        let _listens = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
        for path in [&pipe, &socket, &link, Path::new("/dev/zero")] {
            let error = open(path).expect_err("no file");
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{path:?}: {error}");
            for written in [replace(path, b"x"), replace_private(path, b"x"), replaceable(path)] {
                assert_eq!(written.expect_err("no file").to_string(), NO_FILE, "{path:?}");
            }
        }
        assert_eq!(open(folder.path()).expect_err("a folder").kind(), ErrorKind::IsADirectory);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 3, "nothing beside");
    }

    #[test]
    fn full_disk_leaves_a_file_and_says_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        fs::write(&path, "old").expect("written");
        // Every write to this device finds the disk full.
        let full = |_: &Path| fill(fs::File::options().write(true).open("/dev/full")?, b"new");
        let told = in_one_step(&path, full).expect_err("full").to_string();
        assert!(told.contains("(make room;"), "{told}");
        assert_eq!(fs::read(&path).expect("there"), b"old");
    }

    #[test]
    fn longer_file_than_is_wanted_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        fs::write(&path, "four").expect("written");
        assert_eq!(read(&path, 4).expect("read"), b"four");
        assert_eq!(read(&path, 3).expect_err("longer").kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn link_stays_and_its_file_is_replaced_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("kept")).expect("a folder");
        fs::write(at("kept/real.wav"), "old").expect("written");
        std::os::unix::fs::symlink("kept/real.wav", at("link.wav")).expect("a link");
        std::os::unix::fs::symlink("nowhere", at("lost.wav")).expect("a link");
        replace(&at("link.wav"), b"new").expect("written");
        assert_eq!(fs::read(at("kept/real.wav")).expect("there"), b"new");
        assert!(fs::symlink_metadata(at("link.wav")).expect("there").is_symlink());
        // A link planted in place of the part is not followed.
        std::os::unix::fs::symlink("kept/real.wav", beside(&at("other"))).expect("a link");
        replace(&at("other"), b"other").expect("written");
        assert_eq!(fs::read(at("kept/real.wav")).expect("there"), b"new");
        assert!(replace(&at("lost.wav"), b"x").is_err(), "it leads nowhere");
        assert!(!at("nowhere").exists());
    }

    #[test]
    fn private_files_are_readable_by_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("logins/home.json");
        fs::create_dir(path.parent().expect("a folder")).expect("a folder");
        // Left by a killed process, readable by all.
        fs::write(beside(&path), "old").expect("written");
        replace_private(&path, b"s3cret").expect("written");
        let mode = fs::metadata(&path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode, fs::read(&path).expect("there")), (0o600, b"s3cret".to_vec()));
        assert!(!beside(&path).exists());
        let part = beside(&path);
        assert_eq!(whole_of(part.to_str().expect("a name")), path.to_str());
        assert_eq!([whole_of("home.json"), whole_of("a.b.part"), whole_of("a..part")], [None; 3]);
    }

    #[test]
    fn close_changes_one_file_or_folder_alone() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("data")).expect("a folder");
        for made in ["data/a.json", "outside", "twice"] {
            fs::write(at(made), "x").expect("a file");
        }
        symlink(at("outside"), at("link")).expect("a link");
        fs::hard_link(at("twice"), at("again")).expect("a second name");
        let pipe = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), pipe).expect("a pipe");
        for made in ["data", "data/a.json", "outside", "twice", "pipe"] {
            fs::set_permissions(at(made), fs::Permissions::from_mode(0o755)).expect("ours");
        }
        for named in ["data", "link", "again", "pipe", "missing"] {
            close(&at(named));
        }
        let mode = |name: &str| fs::metadata(at(name)).expect("there").permissions().mode() & 0o777;
        for (name, wanted) in [
            ("data", 0o700),
            ("data/a.json", 0o755),
            ("outside", 0o755),
            ("twice", 0o755),
            ("pipe", 0o755),
        ] {
            assert_eq!(mode(name), wanted, "{name}");
        }
        close(&at("data/a.json"));
        assert_eq!(mode("data/a.json"), 0o700);
    }
}
