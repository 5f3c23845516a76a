//! The store in one file: SQLite in WAL mode, every commit flushed to the disk.
//!
//! Entry type: [`Sqlite`]. Several processes may open the file; they take turns writing. Only its
//! owner may read it. **Never**: uses the system's library.

mod automation;
mod connect;
mod deletions;
mod engine;
mod forget;
mod graph;
mod items;
mod kept_tables;
mod leases;
mod lines;
mod migrate;
mod paths;
mod postings;
mod recognise;
mod rows;
mod search;
mod spending;
mod store;
mod tokens;
mod vectors;

#[cfg(test)]
mod tests;

pub use recognise::recognise;
pub use store::Sqlite;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Params};

use super::{Error, Scope};

/// Way out of a place that cannot be written to.
const PLACE: &str = "use a folder that you can write to: data_dir, or memory.path";

pub fn failure(error: rusqlite::Error) -> Error {
    let code = error.sqlite_error_code();
    match code {
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
            let code = error.sqlite_error().map_or(0, |error| error.extended_code);
            disk(&format!("{error}, code {code}"))
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Away(format!(
            "{error} (another program is using it: try again in a minute, or end that program)"
        )),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            Error::Away(format!("{error} ({PLACE})"))
        }
        Some(ErrorCode::OutOfMemory) => Error::Away(error.to_string()),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::Damaged(error.to_string())
        }
        _ => Error::Failed(error.to_string()),
    }
}

/// The disk accepts no writes; nothing is lost meanwhile.
pub fn disk(why: &str) -> Error {
    Error::Away(format!(
        "cannot write to its disk: {why} (is it full? make room on the disk of 'data_dir'; waiting \
         lines are written then)"
    ))
}

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

/// Executes a statement; returns the number of changed rows.
pub fn run(db: &Connection, sql: &str, given: impl Params) -> Result<u64, Error> {
    let mut run = db.prepare_cached(sql).map_err(failure)?;
    let rows = run.execute(given).map_err(failure)?;
    Ok(u64::try_from(rows).unwrap_or(u64::MAX))
}
