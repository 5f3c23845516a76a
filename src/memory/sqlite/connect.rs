//! The file and connections to it.
//!
//! Entry function: [`connect`]. Only the file's owner may read it.

use std::{fs, path::Path, time::Duration};

use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
};

use super::{
    super::{Error, text::fold},
    failure,
    recognise::beside,
};

/// Longest wait of a write for another process.
const PATIENCE: Duration = Duration::from_secs(10);
const STATEMENTS: usize = 64;

/// Refuses an emptied file: SQLite would take it for a new one and delete its log. A new file has
/// neither a log nor stored conversations beside it, so either of them marks an empty file as
/// damaged.
pub fn not_emptied(path: &Path) -> Result<(), Error> {
    if !fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0) {
        return Ok(());
    }
    let has_log = fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
    let kept = fs::read_dir(path.with_file_name("sessions"));
    let is_kept = |name: &Path| name.extension().is_some_and(|it| it == "json");
    let has_kept = || kept.into_iter().flatten().flatten().any(|it| is_kept(&it.path()));
    match has_log || has_kept() {
        true => Err(Error::Damaged(format!(
            "'{}' is empty, although its log or conversations beside it are not",
            path.display()
        ))),
        false => Ok(()),
    }
}

/// Creates the file and its folder for their owner alone. Restricts an existing file, which is ours
/// or empty, and SQLite's files beside it.
pub fn own(path: &Path) -> std::io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    let parent = path.parent().unwrap_or(Path::new(""));
    let is_there = parent.exists();
    folder.create(parent)?;
    if !is_there {
        keep_folders(parent);
    }
    if fs::metadata(path).is_ok_and(|it| !it.is_file()) {
        // Opening a pipe would block.
        return Err(std::io::Error::other("it is not a regular file (set memory.path)"));
    }
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    drop(file);
    #[cfg(unix)]
    ["-wal", "-shm"].iter().for_each(|end| close(&beside(path, end)));
    Ok(())
}

/// Removes others' rights from a file made by SQLite, if it exists.
#[cfg(unix)]
fn close(path: &Path) {
    if fs::symlink_metadata(path).is_ok_and(|about| about.is_file()) {
        // Another process may remove it meanwhile.
        _ = fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600));
    }
}

/// Makes new folders survive a power cut: a folder is an entry in its parent.
fn keep_folders(folder: &Path) {
    for above in folder.ancestors().skip(1) {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let flushed = fs::File::open(above).and_then(|above| above.sync_all());
        if flushed.is_err() {
            // We created nothing in a folder that we cannot open.
            break;
        }
    }
}

pub fn connect(path: &Path) -> Result<Connection, Error> {
    let db = Connection::open(path).map_err(failure)?;
    db.busy_timeout(PATIENCE).map_err(failure)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    db.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON;
         PRAGMA temp_store = MEMORY;",
    )
    .map_err(failure)?;
    // Triggers fold words for the index with this function.
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    let folded = |given: &Context<'_>| Ok(fold(given.get_raw(0).as_str()?));
    db.create_scalar_function("fold", 1, flags, folded).map_err(failure)?;
    Ok(db)
}
