//! The schema's steps, each done once.
//!
//! Entry function: [`migrate`]. **Never**: leaves a step half done, or changes a newer schema.

use deadpool_postgres::{Client, Transaction};

use crate::{domain::fnv1a, memory::Error};

/// All steps, oldest first; released ones never change.
pub(super) const STEPS: [&str; 13] = [
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
    include_str!("migrations/0007.sql"),
    include_str!("migrations/0008.sql"),
    include_str!("migrations/0009.sql"),
    include_str!("migrations/0010.sql"),
    include_str!("migrations/0011.sql"),
    include_str!("migrations/0012.sql"),
    include_str!("migrations/0014.sql"),
];

/// Held by the program that migrates ("glyphoxa" in ASCII).
const LOCK: i64 = 0x676c_7970_686f_7861;
/// The oldest supported PostgreSQL.
const SERVER_MIN: i32 = 15;
const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_step (\
     number integer PRIMARY KEY, checksum bigint NOT NULL, done timestamptz NOT NULL DEFAULT now())";

/// Does the missing steps, all or none. Fails on an old server, a missing extension, or a newer or
/// foreign schema.
pub(super) async fn migrate(client: &mut Client, steps: &[&str]) -> Result<(), Error> {
    let version =
        client.query_one("SELECT current_setting('server_version_num')::int / 10000", &[]);
    let version: i32 = version.await?.try_get(0)?;
    if version < SERVER_MIN {
        let text = format!("version {version} is too old (update it to {SERVER_MIN} or newer)");
        return Err(Error::Asked(text));
    }
    let work = client.transaction().await?;
    // Held to the end of the transaction.
    work.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    work.batch_execute("SET LOCAL client_min_messages = warning").await?;
    extend(&work).await?;
    work.batch_execute(TABLE).await?;
    let done = check(&work, steps).await?;
    for (number, step) in (1_i32..).zip(steps).skip(done) {
        work.batch_execute(step).await?;
        let keep = "INSERT INTO schema_step (number, checksum) VALUES ($1, $2)";
        work.execute(keep, &[&number, &checksum(step)]).await?;
    }
    Ok(work.commit().await?)
}

async fn check(work: &Transaction<'_>, steps: &[&str]) -> Result<usize, Error> {
    let rows = work.query("SELECT number, checksum FROM schema_step ORDER BY number", &[]).await?;
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    let mut last = 0;
    for row in &rows {
        let number = u32::try_from(row.try_get::<_, i32>(0)?).unwrap_or_default();
        last = last.max(number);
    }
    if last > known {
        return Err(Error::Newer { found: last, known });
    }
    for ((number, step), row) in (1_u32..).zip(steps).zip(&rows) {
        if row.try_get::<_, i64>(1)? != checksum(step) {
            return Err(Error::Foreign(number));
        }
    }
    Ok(rows.len())
}

/// Creates the extension before its type is used.
async fn extend(work: &Transaction<'_>) -> Result<(), Error> {
    let there = work.query_opt("SELECT 1 FROM pg_extension WHERE extname = 'vector'", &[]).await?;
    if there.is_some() {
        return Ok(());
    }
    work.batch_execute("CREATE EXTENSION vector").await.map_err(|error| {
        let Some(said) = error.as_db_error() else { return error.into() };
        let way = "install pgvector on the server and have its administrator run CREATE EXTENSION \
                   vector in this database";
        Error::Asked(format!("{} ({way})", said.message()))
    })
}

/// Hash of a step's text, independent of line ends.
fn checksum(step: &str) -> i64 {
    fnv1a(step.bytes().filter(|byte| *byte != b'\r')).cast_signed()
}
