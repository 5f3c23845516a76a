//! The row of a scope. All its data carries the row's number, which keeps keys small.
//!
//! Entry functions: [`campaign`], [`campaign_made`].

use rusqlite::{Connection, OptionalExtension};

use super::{
    super::{Error, Scope},
    failure::failure,
};

/// The row id of a scope; -1, which no row has, if nothing is stored.
pub fn campaign(db: &Connection, key: &str) -> Result<i64, Error> {
    let mut known = db.prepare_cached("SELECT id FROM campaign WHERE key = ?").map_err(failure)?;
    let id = known.query_row([key], |row| row.get(0)).optional().map_err(failure)?;
    Ok(id.unwrap_or(-1))
}

/// The row id of a scope, inserted if necessary.
pub fn campaign_made(db: &Connection, key: &str) -> Result<i64, Error> {
    if Scope::of_key(key).campaign.0.is_empty() {
        return Err(Error::Asked("a campaign needs a name".to_owned()));
    }
    let known = campaign(db, key)?;
    if known >= 0 {
        return Ok(known);
    }
    db.execute("INSERT INTO campaign (key) VALUES (?)", [key]).map_err(failure)?;
    Ok(db.last_insert_rowid())
}
