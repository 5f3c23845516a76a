//! The schema's steps, each done once.
//!
//! Programs of neighbouring versions run beside each other while a bot is updated node by node. A
//! step whose text begins with `-- readable from 13` promises that a program with 13 steps reads
//! and writes correctly after it: it adds tables, indexes, or columns with defaults, and nothing
//! that earlier programs had to fill or delete. Such a program then starts on the newer schema;
//! without that line it is refused, and the step waits until no node runs. A later step, once no
//! such program is left, takes away what only they needed.
//!
//! Entry function: [`migrate`]. **Never**: leaves a step half done, or changes a newer schema.

use deadpool_postgres::{Client, Transaction};

use crate::{domain::fnv1a, memory::Error};

/// All steps, oldest first; released ones never change.
pub(super) const STEPS: [&str; 14] = [
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
    include_str!("migrations/0013.sql"),
    include_str!("migrations/0014.sql"),
];

/// Held by a program that migrates, and by a node that enters ("glyphoxa" in ASCII).
pub(super) const LOCK: i64 = 0x676c_7970_686f_7861;
/// The oldest supported PostgreSQL.
const SERVER_MIN: i32 = 15;
/// First schema with nodes. Earlier programs leave no sign that they run.
const NODES: usize = 13;
/// First words of a step that earlier programs can use.
const READABLE: &str = "-- readable from ";
const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_step (\
     number integer PRIMARY KEY, checksum bigint NOT NULL, done timestamptz NOT NULL DEFAULT now())";
/// Steps that a program must at least have to use this one; NULL: this one too.
const COLUMN: &str = "ALTER TABLE schema_step ADD COLUMN IF NOT EXISTS readable_from integer";

/// Does the missing steps, all or none. Fails on an old server, a missing extension, a foreign
/// schema, a newer one that is not readable from here, or while nodes run that could not go on.
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
    if done < steps.len() {
        check_nodes(&work, steps, done).await?;
        work.batch_execute(COLUMN).await?;
    }
    for (number, step) in (1_i32..).zip(steps).skip(done) {
        work.batch_execute(step).await?;
        let keep = "INSERT INTO schema_step (number, checksum, readable_from) VALUES ($1, $2, $3)";
        work.execute(keep, &[&number, &checksum(step), &readable_from(step)]).await?;
    }
    Ok(work.commit().await?)
}

/// Returns how many steps are done. Fails on a foreign schema, or one that needs more than `steps`.
pub(super) async fn check(work: &Transaction<'_>, steps: &[&str]) -> Result<usize, Error> {
    // Programs before the column made tables without it.
    let all = "SELECT number, checksum, (to_jsonb(it) ->> 'readable_from')::integer \
               FROM schema_step it ORDER BY number";
    let rows = work.query(all, &[]).await?;
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    let (mut last, mut needed) = (0, 0);
    for row in &rows {
        let number = u32::try_from(row.try_get::<_, i32>(0)?).unwrap_or_default();
        let from = row.try_get::<_, Option<i32>>(2)?.and_then(|from| u32::try_from(from).ok());
        last = last.max(number);
        if number > known {
            needed = needed.max(from.unwrap_or(number));
        }
    }
    if needed > known {
        return Err(Error::Newer { found: last, known });
    }
    for ((number, step), row) in (1_u32..).zip(steps).zip(&rows) {
        if row.try_get::<_, i64>(1)? != checksum(step) {
            return Err(Error::Foreign(number));
        }
    }
    Ok(rows.len())
}

/// Fails while a node runs that could not use the schema after `steps`, of which `done` are done.
async fn check_nodes(work: &Transaction<'_>, steps: &[&str], done: usize) -> Result<(), Error> {
    let known = i32::try_from(done).unwrap_or(i32::MAX);
    let mut missing = (1_i32..).zip(steps).skip(done);
    let is_readable = missing.all(|(number, step)| readable_from(step).unwrap_or(number) <= known);
    if is_readable || done < NODES {
        return Ok(());
    }
    let living = "SELECT name, build FROM node WHERE expires > clock_timestamp() \
                  ORDER BY name LIMIT 1";
    let Some(row) = work.query_opt(living, &[]).await? else { return Ok(()) };
    let (name, build): (String, String) = (row.try_get(0)?, row.try_get(1)?);
    Err(Error::Asked(format!(
        "node '{name}' runs glyphoxa {build}, which cannot use the memory once this one has updated \
         it (stop all nodes, and start this one once their leases have ended: cluster.lease_s)"
    )))
}

/// Steps that a program must have to use a schema with `step`; `None`: `step` too.
fn readable_from(step: &str) -> Option<i32> {
    step.strip_prefix(READABLE)?.lines().next()?.trim().parse().ok()
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
