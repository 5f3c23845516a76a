//! The store: one writer, several readers, one file.
//!
//! Entry type: [`Sqlite`].

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use futures::FutureExt;
use rusqlite::{Connection, OptionalExtension, Row, params};
use tokio::time::Instant;

use super::{
    super::{Error, GuildRecord, Health, Lease, Node, Scope, Settings, StoreFuture},
    PLACE,
    connect::{connect, not_emptied, own},
    engine::{Readers, Writer},
    failure,
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
    pub(super) node: Mutex<OneNode>,
}

/// The process itself as a node.
#[derive(Default)]
pub(super) struct OneNode {
    /// Itself, and when it renewed last.
    pub(super) renewed: Option<(Node, Instant)>,
    pub(super) leases: Vec<Lease>,
    /// By bucket: when its next identify may be sent.
    pub(super) identifies: BTreeMap<u32, Instant>,
    /// Lines of Discord servers are refused, as PostgreSQL does without their lease.
    #[cfg(test)]
    pub(super) is_fenced: bool,
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
        own(path).map_err(|error| {
            // Our own errors name the fix.
            let fix = error.raw_os_error().map(|_| format!(" ({PLACE})")).unwrap_or_default();
            Error::Away(format!("cannot open '{}': {error}{fix}", path.display()))
        })?;
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
            node: Mutex::default(),
        })
    }

    /// Makes writes fail as if the store were away, or succeed again.
    #[cfg(test)]
    pub fn set_away(&self, is_away: bool) {
        self.writer.away.store(is_away, std::sync::atomic::Ordering::SeqCst);
    }

    /// Makes writes wait until they may go on.
    #[cfg(test)]
    pub fn set_silent(&self, is_silent: bool) {
        self.writer.silent.send_replace(is_silent);
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

impl Settings for Sqlite {
    fn scopes(&self) -> StoreFuture<'_, Vec<Scope>> {
        let all = |db: &Connection| {
            let mut keys = db.prepare_cached("SELECT key FROM campaign").map_err(failure)?;
            let keys = keys.query_map([], |row| row.get::<_, String>(0).map(Scope::from));
            let scopes: Result<BTreeSet<Scope>, _> = keys.and_then(Iterator::collect);
            Ok(scopes.map_err(failure)?.into_iter().collect())
        };
        self.readers.read(all).boxed()
    }

    fn guild(&self, guild: u64) -> StoreFuture<'_, Option<GuildRecord>> {
        let look = move |db: &Connection| {
            let sql = "SELECT revision, settings FROM guild WHERE id = ?";
            let read = |row: &Row<'_>| Ok(GuildRecord { revision: row.get(0)?, text: row.get(1)? });
            db.query_row(sql, [guild.cast_signed()], read).optional().map_err(failure)
        };
        self.readers.read(look).boxed()
    }

    fn put_guild(&self, guild: u64, record: GuildRecord) -> StoreFuture<'_, ()> {
        let put = move |db: &Connection| {
            let sql = "INSERT INTO guild (id, revision, settings) VALUES (?, ?, ?)
                 ON CONFLICT DO UPDATE SET revision = excluded.revision,
                 settings = excluded.settings WHERE excluded.revision > revision";
            let GuildRecord { revision, text } = record;
            db.execute(sql, params![guild.cast_signed(), revision.cast_signed(), text])
                .map_err(failure)?;
            Ok(())
        };
        self.writer.write(put).boxed()
    }

    fn health(&self) -> StoreFuture<'_, Health> {
        let (place, schema) = (self.path.display().to_string(), self.schema);
        let look = move |db: &Connection| {
            let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
            let bytes = db.query_row(sql, [], |row| row.get(0)).map_err(failure)?;
            let engine = format!("SQLite {}", rusqlite::version());
            Ok(Health { engine, place, schema, bytes })
        };
        self.readers.read(look).boxed()
    }
}
