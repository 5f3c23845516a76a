//! State of the store in PostgreSQL, its scopes, and the settings of guilds.
//!
//! Entry: [`Settings`] of [`Postgres`]. **Never**: reveals a password, or overwrites a later
//! revision with an earlier one.

use std::collections::BTreeSet;

use tokio_postgres::Row;

use super::{
    migrate,
    sql::{Sql, plain},
    store::{Postgres, within},
};
use crate::memory::{Error, GuildRecord, Health, Scope, Settings, StoreFuture};

impl Settings for Postgres {
    fn scopes(&self) -> StoreFuture<'_, Vec<Scope>> {
        Box::pin(within(async move {
            let sql = Sql::new(
                "SELECT scope FROM session UNION SELECT scope FROM item \
                 UNION SELECT scope FROM entity UNION SELECT scope FROM run \
                 UNION SELECT scope FROM schedule",
            );
            let rows = sql.query(&self.client().await?).await?;
            let key = |row: &Row| Ok(Scope::of_key(row.try_get(0)?));
            let scopes: Result<BTreeSet<Scope>, Error> = rows.iter().map(key).collect();
            Ok(scopes?.into_iter().collect())
        }))
    }

    fn guild(&self, guild: u64) -> StoreFuture<'_, Option<GuildRecord>> {
        Box::pin(within(async move {
            let mut sql = Sql::new("SELECT revision, settings FROM guild WHERE id = ");
            sql.bind(guild.cast_signed());
            let rows = sql.query(&self.client().await?).await?;
            let Some(row) = rows.first() else { return Ok(None) };
            let revision = row.try_get::<_, i64>(0)?.cast_unsigned();
            Ok(Some(GuildRecord { revision, text: row.try_get(1)? }))
        }))
    }

    fn put_guild(&self, guild: u64, record: GuildRecord) -> StoreFuture<'_, ()> {
        Box::pin(within(async move {
            let mut sql = Sql::new("INSERT INTO guild AS it (id, revision, settings) VALUES (");
            sql.bind(guild.cast_signed()).push(", ").bind(record.revision.cast_signed());
            sql.push(", ").bind(plain(&record.text)).push(
                ") ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, \
                 settings = excluded.settings WHERE excluded.revision > it.revision",
            );
            sql.query(&self.client().await?).await?;
            Ok(())
        }))
    }

    fn health(&self) -> StoreFuture<'_, Health> {
        Box::pin(within(async move {
            let sql = Sql::new(
                "SELECT current_setting('server_version'), \
                 (SELECT extversion FROM pg_extension WHERE extname = 'vector'), \
                 (SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c \
                 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r')",
            );
            let rows = sql.query(&self.client().await?).await?;
            let mut health = Health {
                engine: "PostgreSQL".to_owned(),
                place: self.address.to_string(),
                schema: u32::try_from(migrate::STEPS.len()).unwrap_or(u32::MAX),
                bytes: 0,
            };
            if let Some(row) = rows.first() {
                let (version, vector): (String, Option<String>) =
                    (row.try_get(0)?, row.try_get(1)?);
                let vector = vector.unwrap_or_default();
                health.engine = format!("PostgreSQL {version} with pgvector {vector}");
                let bytes: Option<i64> = row.try_get(2)?;
                health.bytes = u64::try_from(bytes.unwrap_or_default()).unwrap_or_default();
            }
            Ok(health)
        }))
    }
}
