//! One campaign's folder on disk.
//!
//! Entry type: [`FolderOf`]. **Never**: follows a path out of the folder.

use std::{
    io::{ErrorKind, Read, Write},
    path::{Component, Path, PathBuf},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, DirBuilder, DirBuilderExt, OpenOptions, OpenOptionsExt},
};

use crate::files::private_folder;

/// Largest file, in bytes.
pub const BYTES_MAX: usize = 1 << 20;
/// Most files and folders of a campaign.
const ENTRIES_MAX: usize = 1_000;
/// Most bytes of a campaign.
const TOTAL_MAX: u64 = 64 << 20;
/// Folders inside each other.
const DEPTH_MAX: usize = 8;
/// Longest path, in bytes.
const PATH_MAX: usize = 512;
/// Names told to somebody who asks for a file that is not there.
const TOLD: usize = 20;
/// Beginning of the names of files that are being written, and of what was replaced.
const UNFINISHED: &str = ".glyphoxa-";
/// Versions of a file that are kept after they were replaced; no tool reads them.
const KEPT: usize = 8;

/// A folder that may not be there yet.
#[derive(Debug)]
pub struct FolderOf {
    base: PathBuf,
    name: String,
}

/// Reason a file was not read or written; the text is for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The path itself.
    #[error("'{path}' is no path inside the campaign's folder ({way_out})")]
    Path {
        /// Path as given.
        path: String,
        /// Hint at a valid path.
        way_out: &'static str,
    },
    /// Nothing is there.
    #[error("there is no file '{path}' ({known})")]
    Missing {
        /// Path as given.
        path: String,
        /// Entries of the folder, in words.
        known: String,
    },
    /// It is a folder, a device or a pipe.
    #[error("'{0}' is no file")]
    NoFile(String),
    /// The file at this path is not text.
    #[error("'{0}' is no text (only text files can be read)")]
    Binary(String),
    /// A file to be read is too large.
    #[error("'{0}' is larger than 1 MiB")]
    TooLarge(String),
    /// A text to be written is too long.
    #[error("the content is longer than 1 MiB (write less)")]
    TooLong,
    /// The folder holds as many files as it may.
    #[error("the campaign's folder is full: it has 1,000 files (write into one that is there)")]
    TooMany,
    /// The folder holds as many bytes as it may.
    #[error("the campaign's folder is full: it holds 64 MiB (write less)")]
    Full,
    /// The call is over.
    #[error("the call ended before the file was written")]
    GivenUp,
    /// The disk or its permissions.
    #[error("'{path}' could not be {what}: {error}")]
    Io {
        /// Path as given.
        path: String,
        /// The failed action, as a participle ("read").
        what: &'static str,
        /// The system's error in our words.
        error: String,
    },
}

impl FolderOf {
    /// The folder `name` in `base`.
    pub const fn new(base: PathBuf, name: String) -> Self {
        Self { base, name }
    }

    /// The text of the file at `path`.
    ///
    /// # Errors
    /// The path leads out of the folder, no text file of at most 1 MiB is there, or the disk refuses.
    pub fn read(&self, path: &str) -> Result<String, Fault> {
        let inside = checked(path)?;
        let failed = |error| fault(path, "read", &error);
        let folder = Dir::open_ambient_dir(&self.base, ambient_authority())
            .and_then(|base| base.open_dir(&self.name));
        let folder = match folder {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let known = "the folder is empty".to_owned();
                return Err(Fault::Missing { path: path.to_owned(), known });
            }
            folder => folder.map_err(failed)?,
        };
        let file = folder.metadata(inside).and_then(|about| {
            // A pipe would be waited for.
            about.is_file().then(|| folder.open(inside)).transpose()
        });
        let file = match file {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Fault::Missing { path: path.to_owned(), known: known(&folder) });
            }
            file => file.map_err(failed)?.ok_or_else(|| Fault::NoFile(path.to_owned()))?,
        };
        let mut bytes = Vec::new();
        let most = u64::try_from(BYTES_MAX + 1).unwrap_or(u64::MAX);
        file.take(most).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() > BYTES_MAX {
            return Err(Fault::TooLarge(path.to_owned()));
        }
        let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        text.ok_or_else(|| Fault::Binary(path.to_owned()))
    }

    /// Writes `content` to the file at `path`, whole or not at all, unless `given_up` says so
    /// before the end; `true`: it replaced a file.
    ///
    /// # Errors
    /// The path or the size is not allowed, or the disk refuses.
    pub fn write(
        &self,
        path: &str,
        content: &str,
        given_up: &dyn Fn() -> bool,
    ) -> Result<bool, Fault> {
        let inside = checked(path)?;
        if content.len() > BYTES_MAX {
            return Err(Fault::TooLong);
        }
        let failed = |error| fault(path, "written", &error);
        private_folder(&self.base).map_err(failed)?;
        let base = Dir::open_ambient_dir(&self.base, ambient_authority()).map_err(failed)?;
        let mut private = DirBuilder::new();
        private.recursive(true).mode(0o700);
        base.create_dir_with(&self.name, &private).map_err(failed)?;
        let folder = base.open_dir(&self.name).map_err(failed)?;
        let old = match folder.symlink_metadata(inside) {
            Ok(about) if about.is_dir() => return Err(Fault::NoFile(path.to_owned())),
            Ok(about) => Some(about.len()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        room(&folder, inside, content.len(), old).map_err(|full| full.unwrap_or_else(failed))?;
        let (parent, name) = (inside.parent().unwrap_or(Path::new("")), inside.file_name());
        let name = name.ok_or_else(|| outside(path))?;
        let target = if parent.as_os_str().is_empty() {
            folder
        } else {
            folder.create_dir_with(parent, &private).map_err(failed)?;
            folder.open_dir(parent).map_err(failed)?
        };
        replace(&target, Path::new(name), content, given_up)
            .map_err(|error| error.map_or(Fault::GivenUp, failed))?;
        Ok(old.is_some())
    }
}

/// Writes a new file beside the old one and puts it in its place; `Err(None)`: given up.
fn replace(
    folder: &Dir,
    name: &Path,
    content: &str,
    given_up: &dyn Fn() -> bool,
) -> Result<(), Option<std::io::Error>> {
    let unfinished = format!("{UNFINISHED}{}.tmp", std::process::id());
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = folder
        .open_with(&unfinished, &options)
        .and_then(|mut file| file.write_all(content.as_bytes()))
        .map_err(Some)
        .and_then(|()| if given_up() { Err(None) } else { Ok(()) })
        .and_then(|()| keep(folder, name).map_err(Some))
        .and_then(|()| folder.rename(&unfinished, folder, name).map_err(Some));
    if written.is_err() {
        // A file that cannot be removed is overwritten by the next writer.
        let _ = folder.remove_file(&unfinished);
    }
    written
}

/// Keeps what is about to be replaced, so that a person can undo it; the oldest of [`KEPT`] versions
/// goes. A link leads elsewhere, where nothing is replaced.
fn keep(folder: &Dir, name: &Path) -> Result<(), std::io::Error> {
    if !folder.symlink_metadata(name).is_ok_and(|about| about.is_file()) {
        return Ok(());
    }
    let kept = |age: usize| format!("{UNFINISHED}{}.{age}", name.display());
    for age in (1..KEPT).rev() {
        match folder.rename(kept(age), folder, kept(age + 1)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    folder.copy(name, folder, kept(1)).map(|_| ())
}

/// Checks that a file of `new` bytes still fits; `old` is the size of the one it replaces.
/// `Err(Err(_))` is the disk's.
fn room(
    folder: &Dir,
    inside: &Path,
    new: usize,
    old: Option<u64>,
) -> Result<(), Result<Fault, std::io::Error>> {
    let mut usage = Usage::default();
    count(folder, DEPTH_MAX, &mut usage).map_err(Err)?;
    let folders = inside.parent().into_iter().flat_map(Path::ancestors);
    let missing = folders.filter(|it| !it.as_os_str().is_empty() && !folder.exists(it)).count();
    let more = missing + usize::from(old.is_none());
    if more > 0 && usage.entries + more > ENTRIES_MAX {
        return Err(Ok(Fault::TooMany));
    }
    let total = usage.bytes.saturating_sub(old.unwrap_or_default())
        + u64::try_from(new).unwrap_or(u64::MAX);
    if total > TOTAL_MAX {
        return Err(Ok(Fault::Full));
    }
    Ok(())
}

/// Entries and bytes of a folder.
#[derive(Default)]
struct Usage {
    entries: usize,
    bytes: u64,
}

/// Adds up entries and bytes; stops counting when there are too many.
fn count(folder: &Dir, depth: usize, usage: &mut Usage) -> Result<(), std::io::Error> {
    for entry in folder.entries()? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
            continue;
        }
        usage.entries += 1;
        if usage.entries > ENTRIES_MAX {
            return Ok(());
        }
        let about = entry.metadata()?;
        usage.bytes += about.len();
        if about.is_dir() && depth > 0 {
            count(&entry.open_dir()?, depth - 1, usage)?;
        }
    }
    Ok(())
}

/// A path that may lead to a file of the folder.
fn checked(path: &str) -> Result<&Path, Fault> {
    let wrong = |way_out| Err(Fault::Path { path: path.chars().take(80).collect(), way_out });
    let inside = Path::new(path);
    if path.trim().is_empty() || path.ends_with('/') {
        return wrong("name a file, such as notes.txt");
    }
    if path.len() > PATH_MAX || path.contains(['\0', '\\']) || path.chars().any(char::is_control) {
        return wrong("plain names with / between them");
    }
    let plain = |it: Component| matches!(it, Component::Normal(_) | Component::CurDir);
    if !inside.components().all(plain) {
        return wrong("no absolute path and no ..");
    }
    if inside.components().count() > DEPTH_MAX {
        return wrong("at most 7 folders inside each other");
    }
    let hidden =
        |it: Component| it.as_os_str().as_encoded_bytes().starts_with(UNFINISHED.as_bytes());
    if inside.components().any(hidden) {
        return wrong("another name");
    }
    Ok(inside)
}

/// A path that leads out of the folder.
fn outside(path: &str) -> Fault {
    Fault::Path { path: path.to_owned(), way_out: "no absolute path and no .." }
}

/// An error of the system in our words.
fn fault(path: &str, what: &'static str, error: &std::io::Error) -> Fault {
    let told = match error.kind() {
        // cap-std's error for a link that leads out has no number of the system.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => return outside(path),
        ErrorKind::PermissionDenied => "no permission".to_owned(),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "a part of its path is no folder".to_owned()
        }
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        _ => error.to_string().to_lowercase(),
    };
    Fault::Io { path: path.to_owned(), what, error: told }
}

/// The first [`TOLD`] visible entries of the folder in words, for errors about a missing file.
fn known(folder: &Dir) -> String {
    let entries = folder.entries().into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir { format!("{name}/") } else { name }
        })
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    let more = names.len().saturating_sub(TOLD);
    names.truncate(TOLD);
    match (names.is_empty(), more) {
        (true, _) => "the folder is empty".to_owned(),
        (_, 0) => format!("there is: {}", names.join(", ")),
        (_, more) => format!("there is: {}, and {more} more", names.join(", ")),
    }
}
