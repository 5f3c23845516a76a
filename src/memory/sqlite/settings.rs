//! Guilds' documents, and how the file is.
//!
//! Entry: [`Settings`] of [`Sqlite`]. **Never**: looks into a document.

use futures::FutureExt;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::{
    super::{Answer, CampaignKey, Health, Settings},
    Sqlite, failure,
    rows::{json, parsed},
};

impl Settings for Sqlite {
    fn guild(&self, guild: u64) -> Answer<'_, Option<Value>> {
        let find = move |db: &Connection| {
            let sql = "SELECT document FROM guild WHERE id = ?";
            db.query_row(sql, [guild], |row| parsed(row, 0)).optional().map_err(failure)
        };
        self.readers.read(find).boxed()
    }

    fn put_guild(&self, guild: u64, document: Option<Value>) -> Answer<'_, ()> {
        let put = move |db: &Connection| {
            let done = match &document {
                Some(document) => db.execute(
                    "INSERT INTO guild (id, document) VALUES (?, ?)
                     ON CONFLICT (id) DO UPDATE SET document = excluded.document",
                    params![guild, json(document)?],
                ),
                None => db.execute("DELETE FROM guild WHERE id = ?", [guild]),
            };
            done.map(drop).map_err(failure)
        };
        self.writer.write(put).boxed()
    }

    fn campaigns(&self) -> Answer<'_, Vec<CampaignKey>> {
        let all = |db: &Connection| {
            let mut keys =
                db.prepare_cached("SELECT key FROM campaign ORDER BY key").map_err(failure)?;
            let keys = keys.query_map([], |row| row.get(0).map(CampaignKey));
            keys.and_then(Iterator::collect).map_err(failure)
        };
        self.readers.read(all).boxed()
    }

    fn health(&self) -> Answer<'_, Health> {
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
