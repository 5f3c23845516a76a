//! States of tables in the file.
//!
//! Entry: [`KeptTables`] of [`Sqlite`]. **Never**: replaces a later revision by an earlier one.

use futures::FutureExt;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    super::{KeptTable, KeptTables, StoreFuture},
    failure, run,
    store::Sqlite,
};
use crate::domain::Owner;

impl KeptTables for Sqlite {
    fn kept_ids(&self, owner: Owner) -> StoreFuture<'_, Vec<String>> {
        let all = move |db: &Connection| {
            let sql = "SELECT session FROM kept_table WHERE owner = ? ORDER BY session";
            let mut ids = db.prepare_cached(sql).map_err(failure)?;
            let ids = ids.query_map([owner.word()], |row| row.get(0));
            ids.and_then(Iterator::collect).map_err(failure)
        };
        self.readers.read(all).boxed()
    }

    fn kept_table<'a>(
        &'a self,
        owner: Owner,
        session: &'a str,
    ) -> StoreFuture<'a, Option<KeptTable>> {
        let session = session.to_owned();
        let look = move |db: &Connection| {
            let sql = "SELECT revision, state FROM kept_table WHERE owner = ? AND session = ?";
            let read = |row: &Row<'_>| {
                let revision = row.get::<_, i64>(0)?.cast_unsigned();
                Ok(KeptTable { revision, text: row.get(1)? })
            };
            let given = params![owner.word(), session];
            db.query_row(sql, given, read).optional().map_err(failure)
        };
        self.readers.read(look).boxed()
    }

    fn put_kept_table<'a>(
        &'a self,
        owner: Owner,
        session: &'a str,
        table: KeptTable,
    ) -> StoreFuture<'a, bool> {
        let session = session.to_owned();
        let put = move |db: &Connection| {
            let sql = "INSERT INTO kept_table (owner, session, revision, state)
                 VALUES (?, ?, ?, ?)
                 ON CONFLICT DO UPDATE SET revision = excluded.revision, state = excluded.state
                 WHERE excluded.revision > revision";
            let KeptTable { revision, text } = table;
            let given = params![owner.word(), session, revision.cast_signed(), text];
            Ok(run(db, sql, given)? > 0)
        };
        self.writer.write(put).boxed()
    }

    fn remove_kept_table<'a>(&'a self, owner: Owner, session: &'a str) -> StoreFuture<'a, bool> {
        let session = session.to_owned();
        let remove = move |db: &Connection| {
            let sql = "DELETE FROM kept_table WHERE owner = ? AND session = ?";
            Ok(run(db, sql, params![owner.word(), session])? > 0)
        };
        self.writer.write(remove).boxed()
    }
}
