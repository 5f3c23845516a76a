//! States of tables in PostgreSQL.
//!
//! Entry: [`KeptTables`] of [`Postgres`]. **Never**: replaces a later revision by an earlier one.

use super::{
    sql::{Sql, plain},
    store::{Postgres, within},
};
use crate::{
    domain::Owner,
    memory::{KeptTable, KeptTables, StoreFuture},
};

impl KeptTables for Postgres {
    fn kept_ids(&self, owner: Owner) -> StoreFuture<'_, Vec<String>> {
        Box::pin(within(async move {
            let mut sql = Sql::new("SELECT session FROM kept_table WHERE owner = ");
            sql.bind(owner.word()).push(" ORDER BY session COLLATE \"C\"");
            let rows = sql.query(&self.client().await?).await?;
            let ids: Result<_, _> = rows.iter().map(|row| row.try_get(0)).collect();
            Ok(ids?)
        }))
    }

    fn kept_table<'a>(
        &'a self,
        owner: Owner,
        session: &'a str,
    ) -> StoreFuture<'a, Option<KeptTable>> {
        Box::pin(within(async move {
            let mut sql = Sql::new("SELECT revision, state FROM kept_table");
            one(&mut sql, owner, session);
            let rows = sql.query(&self.client().await?).await?;
            let Some(row) = rows.first() else { return Ok(None) };
            let revision = row.try_get::<_, i64>(0)?.cast_unsigned();
            Ok(Some(KeptTable { revision, text: row.try_get(1)? }))
        }))
    }

    fn put_kept_table<'a>(
        &'a self,
        owner: Owner,
        session: &'a str,
        table: KeptTable,
    ) -> StoreFuture<'a, bool> {
        Box::pin(within(async move {
            let mut client = self.client().await?;
            let work = client.transaction().await?;
            if let Some(lease) = self.needed_lease(owner)? {
                lease.hold(&work).await?;
            }
            let mut sql =
                Sql::new("INSERT INTO kept_table AS it (owner, session, revision, state) VALUES (");
            sql.bind(owner.word()).push(", ").bind(plain(session)).push(", ");
            sql.bind(table.revision.cast_signed()).push(", ").bind(plain(&table.text)).push(
                ") ON CONFLICT (owner, session) DO UPDATE SET revision = excluded.revision, \
                 state = excluded.state WHERE excluded.revision > it.revision",
            );
            let is_stored = sql.execute(&work).await? > 0;
            work.commit().await?;
            Ok(is_stored)
        }))
    }

    fn remove_kept_table<'a>(&'a self, owner: Owner, session: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(within(async move {
            let mut sql = Sql::new("DELETE FROM kept_table");
            one(&mut sql, owner, session);
            Ok(sql.execute(&self.client().await?).await? > 0)
        }))
    }
}

/// Narrows a statement to one session of `owner`.
fn one(sql: &mut Sql, owner: Owner, session: &str) {
    sql.push(" WHERE owner = ").bind(owner.word());
    sql.push(" AND session = ").bind(plain(session));
}
