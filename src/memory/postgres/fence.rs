//! Leases that writes for Discord servers need.
//!
//! Entry type: [`Fence`]. A write locks the row of its lease until it is committed, and a lease
//! changes hands by changing that row. **Never**: trusts this process's clock.

use deadpool_postgres::Transaction;

use super::sql::{Sql, plain};
use crate::memory::{Error, Lease, shard_of};

/// This run and its leases, as last renewed.
pub(super) struct Fence {
    pub(super) run: String,
    pub(super) shards: u32,
    pub(super) leases: Vec<Lease>,
}

/// A lease that must be held when a write is committed.
pub(super) struct NeededLease {
    pub(super) guild: u64,
    pub(super) shard: i64,
    pub(super) run: String,
    pub(super) epoch: i64,
}

impl Fence {
    /// The lease of a server's shard. Fails if this run does not hold it.
    pub(super) fn needed(&self, guild: u64) -> Result<NeededLease, Error> {
        let shard = shard_of(guild, self.shards);
        let lease = self.leases.iter().find(|lease| lease.shard == shard);
        let lease = lease.ok_or(Error::Fenced(guild))?;
        Ok(NeededLease {
            guild,
            shard: i64::from(shard),
            run: plain(&self.run),
            epoch: lease.epoch.cast_signed(),
        })
    }
}

impl NeededLease {
    /// Keeps the lease from others to the end of the transaction. Fails if it has ended.
    pub(super) async fn hold(self, work: &Transaction<'_>) -> Result<(), Error> {
        let mut sql = Sql::new("SELECT 1 FROM shard_lease WHERE shard = ");
        sql.bind(self.shard).push(" AND owner = ").bind(self.run);
        sql.push(" AND epoch = ").bind(self.epoch);
        sql.push(" AND expires > clock_timestamp() FOR SHARE");
        match sql.query(work).await?.is_empty() {
            true => Err(Error::Fenced(self.guild)),
            false => Ok(()),
        }
    }
}
