//! Access tokens in PostgreSQL.
//!
//! Entry: [`AccessTokens`] of [`Postgres`].

use tokio_postgres::Row;

use super::{
    sql::{Sql, json, plain, read},
    store::{Postgres, within},
};
use crate::{
    domain::{AccessRole, Owner},
    memory::{AccessTokens, Error, KeptToken, StoreFuture},
};

const SELECT: &str = "SELECT id, hash, owner, role, tools, made, ends FROM token";

impl AccessTokens for Postgres {
    fn add_token(&self, token: KeptToken) -> StoreFuture<'_, ()> {
        Box::pin(within(async move {
            let KeptToken { id, hash, owner, role, tools, made, ends } = token;
            let tools = tools.map(|all| all.iter().map(|tool| plain(tool)).collect::<Vec<_>>());
            let mut sql =
                Sql::new("INSERT INTO token (id, hash, owner, role, tools, made, ends) VALUES (");
            sql.bind(plain(&id)).push(", ").bind(plain(&hash)).push(", ").bind(owner.word());
            sql.push(", ").bind(role.word()).push(", ").bind(json(&tools)?);
            sql.push(", ").bind(made).push(", ").bind(ends).push(")");
            sql.execute(&self.client().await?).await.map(drop)
        }))
    }

    fn tokens(&self, owner: Option<Owner>) -> StoreFuture<'_, Vec<KeptToken>> {
        Box::pin(within(async move {
            let mut sql = Sql::new(SELECT);
            if let Some(owner) = owner {
                sql.push(" WHERE owner = ").bind(owner.word());
            }
            sql.push(" ORDER BY made, id COLLATE \"C\"");
            self.found(&sql).await
        }))
    }

    fn token<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Option<KeptToken>> {
        Box::pin(within(async move {
            let mut sql = Sql::new(SELECT);
            sql.push(" WHERE hash = ").bind(plain(hash));
            Ok(self.found(&sql).await?.pop())
        }))
    }

    fn remove_token<'a>(&'a self, id: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(within(async move {
            let mut sql = Sql::new("DELETE FROM token WHERE id = ");
            sql.bind(plain(id));
            Ok(sql.execute(&self.client().await?).await? > 0)
        }))
    }
}

impl Postgres {
    async fn found(&self, sql: &Sql) -> Result<Vec<KeptToken>, Error> {
        let rows = sql.query(&self.client().await?).await?;
        let all: Result<Vec<_>, Error> = rows.iter().map(row_of).collect();
        Ok(all?.into_iter().flatten().collect())
    }
}

/// `None`: an owner or a role unknown to this version.
fn row_of(row: &Row) -> Result<Option<KeptToken>, Error> {
    let (owner, role) = (Owner::of_word(row.try_get(2)?), AccessRole::of_word(row.try_get(3)?));
    let (Some(owner), Some(role)) = (owner, role) else { return Ok(None) };
    Ok(Some(KeptToken {
        id: row.try_get(0)?,
        hash: row.try_get(1)?,
        owner,
        role,
        tools: read(row, 4)?,
        made: row.try_get(5)?,
        ends: row.try_get(6)?,
    }))
}
