//! The store in one file: SQLite in WAL mode, every commit flushed to the disk.
//!
//! Entry type: [`Sqlite`]. Several processes may have the file open at once; they take turns writing.
//! **Never**: uses the system's library, or lets anybody but the file's owner read it.

mod engine;
mod forget;
mod graph;
mod items;
mod lines;
mod migrate;
mod paths;
mod postings;
mod rows;
mod search;
mod settings;
mod vectors;

#[cfg(test)]
mod tests;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{
    Connection, ErrorCode, OptionalExtension,
    functions::{Context, FunctionFlags},
};

use super::{Error, text::fold};
use engine::{Readers, Writer};

/// The first version without the rare damage at the reset of the WAL.
const OLDEST: i32 = 3_051_003;
/// How long a write waits for another process.
const PATIENCE: Duration = Duration::from_secs(10);
/// Statements kept compiled by a connection.
const STATEMENTS: usize = 64;

/// The store in one file. Dropping it waits for the writes that are under way.
pub struct Sqlite {
    writer: Writer,
    readers: Readers,
    path: PathBuf,
    schema: u32,
    matrices: vectors::Matrices,
}

impl Sqlite {
    /// Opens the file at `path`, makes it and its folder where there is none, and brings it up to
    /// date. Blocks.
    ///
    /// # Errors
    /// It cannot be written, is newer, damaged or something else's.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if rusqlite::version_number() < OLDEST {
            return Err(Error::Failed(format!("SQLite {} is too old", rusqlite::version())));
        }
        own(path)
            .map_err(|error| Error::Away(format!("cannot open '{}': {error}", path.display())))?;
        Self::with(connect(path)?, path)
    }

    /// Brings the file up to date and writes it with `writer`.
    fn with(mut writer: Connection, path: &Path) -> Result<Self, Error> {
        let schema = migrate::migrate(&mut writer, migrate::STEPS)?;
        let readers = Readers::open(path)?;
        Ok(Self {
            writer: Writer::start(writer)?,
            readers,
            path: path.to_owned(),
            schema,
            matrices: vectors::Matrices::default(),
        })
    }

    /// Leaves nothing of what was removed in the log beside the file, unless somebody reads there.
    async fn checkpoint(&self) -> Result<(), Error> {
        let path = self.path.clone();
        let empty = move || {
            let db = connect(&path)?;
            db.busy_timeout(Duration::from_secs(1)).map_err(failure)?;
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(failure)
        };
        let done = tokio::task::spawn_blocking(empty).await;
        done.map_err(|error| Error::Failed(error.to_string()))?
    }
}

/// Makes the file, and its folder, for their owner alone.
fn own(path: &Path) -> std::io::Result<()> {
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
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    drop(file);
    Ok(())
}

/// Has new folders outlast a power cut: a folder is an entry in the one above it.
fn keep_folders(folder: &Path) {
    for above in folder.ancestors().skip(1) {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let flushed = fs::File::open(above).and_then(|above| above.sync_all());
        if flushed.is_err() {
            // Whoever may not open a folder has made none in it either.
            break;
        }
    }
}

/// A connection as all of them are.
fn connect(path: &Path) -> Result<Connection, Error> {
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
    // What the index of words is given, by triggers.
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    let folded = |given: &Context<'_>| Ok(fold(given.get_raw(0).as_str()?));
    db.create_scalar_function("fold", 1, flags, folded).map_err(failure)?;
    Ok(db)
}

/// What SQLite says, by what can be done about it.
fn failure(error: rusqlite::Error) -> Error {
    let code = error.sqlite_error_code();
    match code {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::OutOfMemory,
        ) => Error::Away(error.to_string()),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::Damaged(error.to_string())
        }
        _ => Error::Failed(error.to_string()),
    }
}

/// The row of a campaign; -1, which no row has, where there is nothing of it.
fn campaign(db: &Connection, key: &str) -> Result<i64, Error> {
    let mut known = db.prepare_cached("SELECT id FROM campaign WHERE key = ?").map_err(failure)?;
    let id = known.query_row([key], |row| row.get(0)).optional().map_err(failure)?;
    Ok(id.unwrap_or(-1))
}

/// The row of a campaign, made where there is none.
fn campaign_made(db: &Connection, key: &str) -> Result<i64, Error> {
    if key.is_empty() {
        return Err(Error::Asked("a campaign needs a name".to_owned()));
    }
    let known = campaign(db, key)?;
    if known >= 0 {
        return Ok(known);
    }
    db.execute("INSERT INTO campaign (key) VALUES (?)", [key]).map_err(failure)?;
    Ok(db.last_insert_rowid())
}
