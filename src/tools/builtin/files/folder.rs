//! One campaign's folder on disk. **Never**: follows a path out of the folder.

use std::{
    io::{ErrorKind, Read, Write},
    path::{Component, Path, PathBuf},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, DirBuilder, DirBuilderExt, OpenOptions, OpenOptionsExt},
};

use crate::files::private_folder;

pub const BYTES_MAX: usize = 1 << 20;
/// Most files and folders of a campaign.
const ENTRIES_MAX: usize = 1_000;
/// Most bytes of a campaign.
const TOTAL_MAX: u64 = 64 << 20;
/// Deepest nesting of folders.
const DEPTH_MAX: usize = 8;
/// Longest path, in bytes.
const PATH_MAX: usize = 512;
/// Names listed in the error for a missing file.
const TOLD: usize = 20;
/// Prefix of temporary files and replaced versions.
const UNFINISHED: &str = ".glyphoxa-";
/// Replaced versions kept of a file; no tool reads them.
const KEPT: usize = 8;

/// The folder need not exist yet.
#[derive(Debug)]
pub struct FolderOf {
    base: PathBuf,
    name: String,
}

/// Reason a file was not read or written, as text for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("'{path}' is no path inside the campaign's folder ({way_out})")]
    Path { path: String, way_out: &'static str },
    #[error("there is no file '{path}' ({known})")]
    Missing { path: String, known: String },
    /// A folder, device or pipe.
    #[error("'{0}' is no file")]
    NoFile(String),
    #[error("'{0}' is no text (only text files can be read)")]
    Binary(String),
    #[error("'{0}' is larger than 1 MiB")]
    TooLarge(String),
    #[error("the content is longer than 1 MiB (write less)")]
    TooLong,
    #[error("the campaign's folder is full: it has 1,000 files (write into one that is there)")]
    TooMany,
    #[error("the campaign's folder is full: it holds 64 MiB (write less)")]
    Full,
    /// The call was cancelled.
    #[error("the call ended before the file was written")]
    GivenUp,
    #[error("'{path}' could not be {what}: {error}")]
    Io {
        path: String,
        /// Participle of the failed action ("read").
        what: &'static str,
        /// The system's error in our words.
        error: String,
    },
}

impl FolderOf {
    pub const fn new(base: PathBuf, name: String) -> Self {
        Self { base, name }
    }

    /// Text of the file at `path`, at most [`BYTES_MAX`].
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
            // Opening a pipe would block.
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

    /// Writes `content` to the file at `path`, whole or not at all, unless `given_up` returns true
    /// first. Returns true if it replaced a file.
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

/// Writes a new file beside the old one and renames it; `Err(None)`: given up.
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
        // The next writer overwrites a file that could not be removed.
        let _ = folder.remove_file(&unfinished);
    }
    written
}

/// Keeps the file about to be replaced, so that a person can undo it, and drops the oldest of
/// [`KEPT`] versions. Skips links: their target is not replaced.
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

/// Checks that a file of `new` bytes fits; `old` is the size of the replaced one. `Err(Err(_))`: a
/// disk error.
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

/// Adds up entries and bytes; stops early above the limits.
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

fn outside(path: &str) -> Fault {
    Fault::Path { path: path.to_owned(), way_out: "no absolute path and no .." }
}

fn fault(path: &str, what: &'static str, error: &std::io::Error) -> Fault {
    let told = match error.kind() {
        // cap-std's error for a link out of the folder has no OS error number.
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

/// First [`TOLD`] visible entries, for the error about a missing file.
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
