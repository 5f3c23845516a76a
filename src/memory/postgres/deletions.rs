//! Unfinished deletions in PostgreSQL.
//!
//! Entry: [`Deletions`] of [`Postgres`]. **Never**: overwrites a later deletion with an earlier
//! one.

use tokio_postgres::Row;

use super::{
    sql::{Sql, json, plain, read},
    store::{Postgres, within},
};
use crate::{
    domain::{Owner, SessionId},
    memory::{Deletion, Deletions, Error, ForgetFrom, StoreFuture},
};

impl Deletions for Postgres {
    fn put_deletion(&self, deletion: Deletion) -> StoreFuture<'_, ()> {
        Box::pin(within(async move {
            let names: Vec<String> = deletion.names.iter().map(|name| plain(name)).collect();
            let mut sql = Sql::new(
                "INSERT INTO deletion AS it (owner, player, session, until, names, asker, erased, \
                 files) VALUES (",
            );
            sql.bind(deletion.from.owner.word()).push(", ").bind(plain(&deletion.player));
            sql.push(", ").bind(session(&deletion)).push(", ").bind(deletion.before);
            sql.push(", ").bind(json(&names)?).push(", ").bind(plain(&deletion.asker));
            sql.push(", ").bind(deletion.erased).push(", ").bind(json(&deletion.files)?).push(
                ") ON CONFLICT (owner, player, session) DO UPDATE SET until = excluded.until, \
                 names = excluded.names, asker = excluded.asker, erased = excluded.erased, \
                 files = excluded.files WHERE excluded.until >= it.until",
            );
            sql.execute(&self.client().await?).await.map(drop)
        }))
    }

    fn deletions(&self) -> StoreFuture<'_, Vec<Deletion>> {
        Box::pin(within(async move {
            let sql = Sql::new(
                "SELECT owner, player, session, until, names, asker, erased, files \
                 FROM deletion ORDER BY until, owner, player, session",
            );
            let rows = sql.query(&self.client().await?).await?;
            let all: Result<Vec<_>, Error> = rows.iter().map(row_of).collect();
            Ok(all?.into_iter().flatten().collect())
        }))
    }

    fn purge_removed(&self) -> StoreFuture<'_, ()> {
        // The server manages its own log.
        Box::pin(async { Ok(()) })
    }

    fn remove_deletion(&self, deletion: Deletion) -> StoreFuture<'_, ()> {
        Box::pin(within(async move {
            let mut sql = Sql::new("DELETE FROM deletion WHERE owner = ");
            sql.bind(deletion.from.owner.word())
                .push(" AND player = ")
                .bind(plain(&deletion.player));
            sql.push(" AND session = ").bind(session(&deletion));
            sql.push(" AND until <= ").bind(deletion.before);
            sql.execute(&self.client().await?).await.map(drop)
        }))
    }
}

fn session(deletion: &Deletion) -> String {
    deletion.from.session.as_ref().map(|session| plain(&session.0)).unwrap_or_default()
}

/// `None`: an owner unknown to this version.
fn row_of(row: &Row) -> Result<Option<Deletion>, Error> {
    let Some(owner) = Owner::of_word(row.try_get(0)?) else { return Ok(None) };
    let session = Some(row.try_get(2)?).filter(|session: &String| !session.is_empty());
    Ok(Some(Deletion {
        from: ForgetFrom { owner, session: session.map(SessionId) },
        player: row.try_get(1)?,
        before: row.try_get(3)?,
        names: read(row, 4)?,
        asker: row.try_get(5)?,
        erased: row.try_get(6)?,
        files: read(row, 7)?,
        named: false,
        lines: 0,
    }))
}
