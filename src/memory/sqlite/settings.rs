//! State of the file, its campaigns, and the settings of guilds.
//!
//! Entry: [`Settings`] of [`Sqlite`]. **Never**: overwrites a later revision with an earlier one.

use std::collections::BTreeSet;

use futures::FutureExt;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    super::{GuildRecord, Health, Scope, Settings, StoreFuture},
    failure::failure,
    store::Sqlite,
};

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
