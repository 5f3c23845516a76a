//! The schema, step by step.
//!
//! Entry function: [`migrate`]. **Never**: changes a file written by a newer program.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::{super::Error, failure};
use crate::domain::fnv1a;

/// Steps from 1. Released steps never change.
pub const STEPS: &[&str] = &[
    include_str!("schema/0001.sql"),
    include_str!("schema/0002.sql"),
    include_str!("schema/0003.sql"),
    include_str!("schema/0004.sql"),
    include_str!("schema/0005.sql"),
    include_str!("schema/0006.sql"),
    include_str!("schema/0007.sql"),
    include_str!("schema/0008.sql"),
    include_str!("schema/0009.sql"),
    include_str!("schema/0010.sql"),
    include_str!("schema/0011.sql"),
    include_str!("schema/0012.sql"),
    include_str!("schema/0013.sql"),
];

/// Applies the missing `steps`, each in its own transaction; returns the schema's number. Fails on
/// a newer or another program's file.
pub fn migrate(db: &mut Connection, steps: &[&str]) -> Result<u32, Error> {
    prepare(db)?;
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    for (version, sql) in (1..).zip(steps) {
        let step = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failure)?;
        // Another process may have done it meanwhile.
        let newest: u32 = step
            .query_row("SELECT coalesce(max(version), 0) FROM migration", [], |row| row.get(0))
            .map_err(failure)?;
        if newest > known {
            return Err(Error::Newer { found: newest, known });
        }
        let made: Option<String> = step
            .query_row("SELECT checksum FROM migration WHERE version = ?", [version], |row| {
                row.get(0)
            })
            .optional()
            .map_err(failure)?;
        match made {
            Some(made) if made == checksum(sql) => {}
            Some(_) => return Err(Error::Foreign(version)),
            None => {
                step.execute_batch(sql).map_err(failure)?;
                step.execute(
                    "INSERT INTO migration (version, checksum) VALUES (?, ?)",
                    params![version, checksum(sql)],
                )
                .map_err(failure)?;
                step.commit().map_err(failure)?;
            }
        }
    }
    Ok(known)
}

/// Owner of the tables in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    None,
    Ours,
    Others,
}

pub fn tables(db: &Connection) -> Result<Tables, Error> {
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, u32>(0)).map_err(failure);
    let columns = "SELECT count(*) FROM pragma_table_info('migration') \
                   WHERE name IN ('version', 'checksum')";
    // In this order: another process may create the list, its first table, meanwhile.
    if count("SELECT count(*) FROM sqlite_schema")? == 0 {
        return Ok(Tables::None);
    }
    Ok(if count(columns)? == 2 { Tables::Ours } else { Tables::Others })
}

fn prepare(db: &Connection) -> Result<(), Error> {
    if tables(db)? == Tables::Others {
        return Err(Error::Asked(
            "the file of 'memory.path' is the database of another program (give another path)"
                .to_owned(),
        ));
    }
    db.execute_batch(
        "CREATE TABLE IF NOT EXISTS migration (
            version INTEGER PRIMARY KEY, checksum TEXT NOT NULL
        ) STRICT",
    )
    .map_err(failure)
}

/// Hash of a step, independent of line ends.
fn checksum(sql: &str) -> String {
    format!("{:016x}", fnv1a(sql.bytes().filter(|byte| *byte != b'\r')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "CREATE TABLE note (text TEXT);";
    const SECOND: &str = "ALTER TABLE note ADD COLUMN mark TEXT NOT NULL DEFAULT 'old';";

    fn count(db: &Connection) -> u32 {
        db.query_row("SELECT count(*) FROM note WHERE mark = 'old'", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn file_upgrade_preserves_data_and_runs_once() {
        let mut db = Connection::open_in_memory().unwrap();
        assert_eq!(migrate(&mut db, &[FIRST]).unwrap(), 1);
        db.execute_batch("INSERT INTO note VALUES ('kept')").unwrap();
        for _ in 0..2 {
            assert_eq!(migrate(&mut db, &[FIRST, SECOND]).unwrap(), 2);
            assert_eq!(count(&db), 1);
        }
    }

    #[test]
    fn newer_and_foreign_files_are_refused() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[FIRST, SECOND]).unwrap();
        assert!(matches!(migrate(&mut db, &[FIRST]), Err(Error::Newer { found: 2, known: 1 })));
        assert!(matches!(migrate(&mut db, &[SECOND, FIRST]), Err(Error::Foreign(1))));

        let mut other = Connection::open_in_memory().unwrap();
        other.execute_batch("CREATE TABLE theirs (a)").unwrap();
        let error = migrate(&mut other, &[FIRST]).unwrap_err();
        assert!(error.to_string().contains("another program"), "{error}");
    }

    #[test]
    fn step_that_fails_leaves_nothing_behind() {
        let mut db = Connection::open_in_memory().unwrap();
        let broken = "CREATE TABLE half (a); CREATE TABLE half (a);";
        assert!(migrate(&mut db, &[FIRST, broken]).is_err());
        assert!(db.prepare("SELECT * FROM half").is_err());
        assert_eq!(migrate(&mut db, &[FIRST, SECOND]).unwrap(), 2);
    }
}
