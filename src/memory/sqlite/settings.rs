//! How the file is, and whose campaigns are in it.
//!
//! Entry: [`Settings`] of [`Sqlite`]. **Never**: changes anything.

use futures::FutureExt;
use rusqlite::Connection;

use super::{
    super::{Answer, CampaignKey, Health, Settings},
    Sqlite, failure,
};

impl Settings for Sqlite {
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
