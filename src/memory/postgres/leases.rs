//! Leases of shards in PostgreSQL.
//!
//! Entry: [`Leases`] of [`Postgres`]. A renewal locks its node's row first, then its leases, and
//! passes over rows that others have locked, so no two wait for each other. **Never**: uses a clock
//! other than the server's.

use std::{sync::atomic::Ordering, time::Duration};

use deadpool_postgres::{Client, Transaction};
use tokio_postgres::Row;

use super::{
    fence::Fence,
    migrate::{self, LOCK, STEPS},
    sql::{Sql, count, number, plain},
    store::{Postgres, within},
};
use crate::memory::{Error, IDENTIFY_APART, Lease, Leases, Node, NodeStatus, StoreFuture};

impl Leases for Postgres {
    fn renew(&self, node: Node, ttl: Duration, takes: bool) -> StoreFuture<'_, Vec<Lease>> {
        Box::pin(within(async move {
            let mut client = self.renewing().await?;
            self.is_renewing.store(true, Ordering::Relaxed);
            // Apart, so that no table is locked while the schema is updated.
            let lives = is_living(&client, &node).await?;
            let work = client.transaction().await?;
            if !lives {
                enter(&work, &node).await?;
            }
            extend(&work, &node, ttl).await?;
            if takes {
                take(&work, &node).await?;
            }
            let leases = held(&work, &node.run).await?;
            work.commit().await?;
            self.is_renewing.store(false, Ordering::Relaxed);
            self.set_fence(Fence { run: node.run, shards: node.shards, leases: leases.clone() });
            Ok(leases)
        }))
    }

    fn give_back(&self, run: String, shards: Vec<u32>) -> StoreFuture<'_, ()> {
        Box::pin(within(async move {
            let run = plain(&run);
            let shards: Vec<i64> = shards.into_iter().map(i64::from).collect();
            let mut client = self.renewing().await?;
            let work = client.transaction().await?;
            let mut own = Sql::new("SELECT 1 FROM node WHERE run = ");
            own.bind(run.clone()).push(" FOR UPDATE").query(&work).await?;
            let mut end = Sql::new("UPDATE shard_lease SET expires = clock_timestamp()");
            end.push(" WHERE owner = ").bind(run.clone()).push(" AND expires > clock_timestamp()");
            end.push(" AND shard = ANY(").bind(shards).push(")").execute(&work).await?;
            if held(&work, &run).await?.is_empty() {
                let mut ended = Sql::new("DELETE FROM node WHERE run = ");
                ended.bind(run).execute(&work).await?;
            }
            Ok(work.commit().await?)
        }))
    }

    fn identify(&self, bucket: u32) -> StoreFuture<'_, Duration> {
        Box::pin(within(async move {
            let apart = IDENTIFY_APART.as_secs_f64();
            let mut sql = Sql::new("INSERT INTO identify_slot AS it (bucket, next_at) VALUES (");
            sql.bind(i64::from(bucket)).push(", clock_timestamp() + make_interval(secs => ");
            // Later than if all shards wait, some of them again: the clock was set back meanwhile.
            sql.bind(apart).push(
                ")) ON CONFLICT (bucket) DO UPDATE SET next_at = CASE WHEN it.next_at > \
                 clock_timestamp() + (SELECT count(*) + 16 FROM shard_lease) * \
                 make_interval(secs => ",
            );
            sql.bind(apart).push(
                ") THEN clock_timestamp() ELSE greatest(it.next_at, clock_timestamp()) END \
                 + make_interval(secs => ",
            );
            sql.bind(apart)
                .push(") RETURNING extract(epoch FROM it.next_at - clock_timestamp())::float8");
            let rows = sql.query(&self.renewing().await?).await?;
            let next: f64 = rows.first().map_or(Ok(apart), |row| row.try_get(0))?;
            // Negative if it need not wait.
            Ok(Duration::try_from_secs_f64(next - apart).unwrap_or_default())
        }))
    }

    fn nodes(&self) -> StoreFuture<'_, Vec<NodeStatus>> {
        Box::pin(within(async move {
            let sql = Sql::new(
                "SELECT n.name, n.run, n.build, n.shards, n.tables, n.capacity, \
                 extract(epoch FROM clock_timestamp() - n.seen)::float8, l.shard, l.epoch, \
                 n.expires <= clock_timestamp(), n.application, n.connected, n.cut_off \
                 FROM node n \
                 LEFT JOIN shard_lease l ON l.owner = n.run AND l.expires > clock_timestamp() \
                 WHERE l.shard IS NOT NULL OR n.seen > clock_timestamp() - interval '1 minute' \
                 ORDER BY n.name COLLATE \"C\", n.run COLLATE \"C\", l.shard",
            );
            let mut all: Vec<NodeStatus> = Vec::new();
            for row in sql.query(&self.renewing().await?).await? {
                let status = status(&row)?;
                match all.last_mut().filter(|last| last.node.run == status.node.run) {
                    Some(last) => last.leases.extend(status.leases),
                    None => all.push(status),
                }
            }
            Ok(all)
        }))
    }
}

impl Postgres {
    /// A connection that no reader keeps busy: a late renewal silences the whole node. Not one of
    /// a renewal that was given up: it may hang until the system notices that it is cut off.
    async fn renewing(&self) -> Result<Client, Error> {
        if self.is_renewing.load(Ordering::Relaxed) {
            drop(self.renewals.retain(|_, _| false));
        }
        Ok(self.renewals.get().await?)
    }
}

async fn is_living(client: &Client, node: &Node) -> Result<bool, Error> {
    let mut living = Sql::new("SELECT 1 FROM node WHERE run = ");
    living.bind(plain(&node.run)).push(" AND shards = ").bind(i64::from(node.shards));
    living.push(" AND expires > clock_timestamp()");
    Ok(!living.query(client).await?.is_empty())
}

/// Lets in a node that was not living. One enters at a time, so that each sees the shards of those
/// before it, and none while the schema is updated, which it may not be able to use then.
async fn enter(work: &Transaction<'_>, node: &Node) -> Result<(), Error> {
    let (run, shards) = (plain(&node.run), i64::from(node.shards));
    let mut alone = Sql::new("SELECT pg_advisory_xact_lock(");
    alone.bind(LOCK).push(")").query(work).await?;
    migrate::check(work, &STEPS).await?;
    check_bot(work, node).await?;
    let mut other = Sql::new("SELECT name, shards FROM node WHERE run <> ");
    other.bind(run).push(" AND shards <> ").bind(shards);
    other.push(" AND expires > clock_timestamp() ORDER BY name LIMIT 1");
    if let Some(row) = other.query(work).await?.first() {
        let (name, theirs): (String, u32) = (row.try_get(0)?, small(row, 1)?);
        return Err(Error::Asked(format!(
            "node '{name}' runs with {theirs} shards, and this one with {shards} (set \
             'cluster.shards' to {theirs} here too, or end all other nodes first)"
        )));
    }
    let gone = Sql::new(
        "DELETE FROM node WHERE seen < clock_timestamp() - interval '1 minute' \
         AND expires <= clock_timestamp()",
    );
    gone.execute(work).await?;
    let mut all = Sql::new("INSERT INTO shard_lease (shard) SELECT generate_series(0::bigint, ");
    all.bind(shards).push("::bigint - 1) ON CONFLICT DO NOTHING").execute(work).await.map(drop)
}

/// Fails while a node of another bot lives: Discord servers whose shard it holds would have none.
async fn check_bot(work: &Transaction<'_>, node: &Node) -> Result<(), Error> {
    let own = node.application;
    let mut other = Sql::new("SELECT name, application FROM node WHERE application NOT IN (0, ");
    other.bind(number(own)?).push(") AND run <> ").bind(plain(&node.run));
    other.push(" AND expires > clock_timestamp() ORDER BY name LIMIT 1");
    let rows = other.query(work).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let (name, theirs): (String, u64) = (row.try_get(0)?, count(row, 1)?);
    Err(Error::Asked(format!(
        "node '{name}' serves another bot, with the application {theirs}, and this bot has the \
         application {own} (use a database for each bot: set 'memory.url' to another one here)"
    )))
}

/// Notes the node, and extends its leases to the same moment as its life.
async fn extend(work: &Transaction<'_>, node: &Node, ttl: Duration) -> Result<(), Error> {
    let mut sql = Sql::new(
        "WITH own AS (INSERT INTO node (run, name, build, shards, tables, capacity, application, \
         connected, cut_off, seen, expires) VALUES (",
    );
    sql.bind(plain(&node.run)).push(", ").bind(plain(&node.name)).push(", ");
    sql.bind(plain(&node.build)).push(", ").bind(i64::from(node.shards)).push(", ");
    sql.bind(i64::from(node.tables)).push(", ").bind(node.capacity.map(i64::from));
    sql.push(", ").bind(number(node.application)?).push(", ").bind(i64::from(node.connected));
    sql.push(", ").bind(node.is_cut_off);
    sql.push(", clock_timestamp(), clock_timestamp() + ");
    sql.push("make_interval(secs => ").bind(ttl.as_secs_f64()).push(
        ")) ON CONFLICT (run) DO UPDATE SET name = excluded.name, build = excluded.build, \
         shards = excluded.shards, tables = excluded.tables, capacity = excluded.capacity, \
         application = excluded.application, connected = excluded.connected, \
         cut_off = excluded.cut_off, seen = excluded.seen, expires = excluded.expires \
         RETURNING run, expires) \
         UPDATE shard_lease l SET expires = own.expires FROM own \
         WHERE l.owner = own.run AND l.expires > clock_timestamp()",
    );
    sql.execute(work).await.map(drop)
}

/// Takes free shards up to the node's share.
async fn take(work: &Transaction<'_>, node: &Node) -> Result<(), Error> {
    let run = plain(&node.run);
    let mut counted = Sql::new(
        "SELECT count(*), count(*) FILTER (WHERE (tables < capacity) IS NOT FALSE), \
         (SELECT count(*) FROM shard_lease WHERE owner = ",
    );
    counted.bind(run.clone()).push(" AND expires > clock_timestamp()) FROM node WHERE run <> ");
    counted.bind(run.clone()).push(" AND expires > clock_timestamp() AND NOT cut_off");
    let rows = counted.query(work).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let (others, open, held) = (count(row, 0)?, count(row, 1)?, count(row, 2)?);
    let room = node.share(others, open).saturating_sub(held);
    if room == 0 {
        return Ok(());
    }
    // Passes over rows that another node takes now; they do not count towards the limit.
    let mut sql = Sql::new("WITH free AS MATERIALIZED (SELECT shard FROM shard_lease ");
    sql.push("WHERE shard < ").bind(i64::from(node.shards));
    sql.push(" AND expires <= clock_timestamp() ORDER BY shard LIMIT ").bind(room.cast_signed());
    sql.push(
        " FOR UPDATE SKIP LOCKED) UPDATE shard_lease l SET owner = n.run, epoch = l.epoch + 1, \
         expires = n.expires FROM free f, node n WHERE l.shard = f.shard AND n.run = ",
    );
    sql.bind(run).execute(work).await.map(drop)
}

/// Leases of a run now, by shard.
async fn held(work: &Transaction<'_>, run: &str) -> Result<Vec<Lease>, Error> {
    let mut sql = Sql::new("SELECT shard, epoch FROM shard_lease WHERE owner = ");
    sql.bind(plain(run)).push(" AND expires > clock_timestamp() ORDER BY shard");
    let rows = sql.query(work).await?;
    rows.iter().map(|row| Ok(Lease { shard: small(row, 0)?, epoch: count(row, 1)? })).collect()
}

/// A node with one of its leases, if any.
fn status(row: &Row) -> Result<NodeStatus, Error> {
    let node = Node {
        name: row.try_get(0)?,
        run: row.try_get(1)?,
        build: row.try_get(2)?,
        shards: small(row, 3)?,
        tables: small(row, 4)?,
        capacity: row.try_get::<_, Option<i64>>(5)?.map(|_| small(row, 5)).transpose()?,
        application: count(row, 10)?,
        connected: small(row, 11)?,
        is_cut_off: row.try_get(12)?,
    };
    let leases = match row.try_get::<_, Option<i64>>(7)? {
        Some(_) => vec![Lease { shard: small(row, 7)?, epoch: count(row, 8)? }],
        None => Vec::new(),
    };
    let seen_ago = Duration::try_from_secs_f64(row.try_get(6)?).unwrap_or_default();
    Ok(NodeStatus { node, seen_ago, is_gone: row.try_get(9)?, leases })
}

fn small(row: &Row, column: usize) -> Result<u32, Error> {
    let number = count(row, column)?;
    u32::try_from(number).map_err(|_| Error::Damaged(format!("'{number}' is too large a number")))
}
