//! The store: one writer, several readers, one file.
//!
//! Entry type: [`Sqlite`].

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::Connection;

use super::{
    super::Error,
    connect::{connect, not_emptied, own},
    engine::{Readers, Writer},
    failure::failure,
    migrate::{STEPS, migrate},
    recognise::recognise,
    vectors::Matrices,
};

/// The first version without rare corruption when the WAL is reset.
const OLDEST: i32 = 3_051_003;

/// The store in one file. Dropping it waits for running writes.
pub struct Sqlite {
    pub(super) writer: Writer,
    pub(super) readers: Readers,
    pub(super) path: PathBuf,
    pub(super) schema: u32,
    pub(super) matrices: Matrices,
}

impl Sqlite {
    /// Opens or creates the file at `path` and its folder, and updates the schema. Blocks. Fails on
    /// a read-only, newer, damaged or foreign file, and leaves foreign files unchanged.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if rusqlite::version_number() < OLDEST {
            return Err(Error::Failed(format!("SQLite {} is too old", rusqlite::version())));
        }
        not_emptied(path)?;
        recognise(path)?;
        own(path)
            .map_err(|error| Error::Away(format!("cannot open '{}': {error}", path.display())))?;
        Self::with(connect(path)?, path)
    }

    pub(super) fn with(mut writer: Connection, path: &Path) -> Result<Self, Error> {
        let schema = migrate(&mut writer, STEPS)?;
        let readers = Readers::open(path)?;
        Ok(Self {
            writer: Writer::start(writer)?,
            readers,
            path: path.to_owned(),
            schema,
            matrices: Matrices::default(),
        })
    }

    /// Makes writes fail as if the store were away, or succeed again.
    #[cfg(test)]
    pub fn set_away(&self, is_away: bool) {
        self.writer.away.store(is_away, std::sync::atomic::Ordering::SeqCst);
    }

    /// Like [`Self::checkpoint`], but ignores failure: removed words then stay in the log until the
    /// next checkpoint or the last close.
    pub(super) async fn checkpoint_if_free(&self) {
        // A deletion also calls `purge_removed`, and is not done while that fails.
        _ = self.checkpoint().await;
    }

    /// Empties the log beside the file, which may hold removed data. Fails if another program reads
    /// it for too long.
    pub(super) async fn checkpoint(&self) -> Result<(), Error> {
        let path = self.path.clone();
        let empty = move || {
            let db = connect(&path)?;
            db.busy_timeout(Duration::from_secs(1)).map_err(failure)?;
            let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
            let is_busy: bool = db.query_row(sql, [], |row| row.get(0)).map_err(failure)?;
            match is_busy {
                false => Ok(()),
                true => Err(Error::Away(
                    "another program reads it, so what was deleted is still in its log (end that \
                     program)"
                        .to_owned(),
                )),
            }
        };
        let done = tokio::task::spawn_blocking(empty).await;
        done.map_err(|error| Error::Failed(error.to_string()))?
    }
}
