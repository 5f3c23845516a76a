//! Access tokens in the file.
//!
//! Entry: [`AccessTokens`] of [`Sqlite`].

use futures::FutureExt;
use rusqlite::{Connection, Params, Row, params};

use super::{
    super::{AccessTokens, Error, KeptToken, StoreFuture},
    failure,
    rows::{json, parsed},
    run,
    store::Sqlite,
};
use crate::domain::{AccessRole, Owner};

const TOKEN: &str = "id, hash, owner, role, tools, made, ends";

impl AccessTokens for Sqlite {
    fn add_token(&self, token: KeptToken) -> StoreFuture<'_, ()> {
        let add = move |db: &Connection| {
            let sql = format!("INSERT INTO token ({TOKEN}) VALUES (?, ?, ?, ?, ?, ?, ?)");
            let KeptToken { id, hash, owner, role, tools, made, ends } = token;
            let (owner, role, tools) = (owner.word(), role.word(), json(&tools)?);
            run(db, &sql, params![id, hash, owner, role, tools, made, ends]).map(drop)
        };
        self.writer.write(add).boxed()
    }

    fn tokens(&self, owner: Option<Owner>) -> StoreFuture<'_, Vec<KeptToken>> {
        let all = move |db: &Connection| {
            let which = "WHERE ?1 IS NULL OR owner = ?1 ORDER BY made, id";
            found(db, which, params![owner.map(Owner::word)])
        };
        self.readers.read(all).boxed()
    }

    fn token<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Option<KeptToken>> {
        let look = async move {
            // Every request from outside asks.
            if let Some(found) = self.readers.read_here(|db| of_hash(db, hash)) {
                return Ok(found);
            }
            let hash = hash.to_owned();
            self.readers.read(move |db| of_hash(db, &hash)).await
        };
        look.boxed()
    }

    fn remove_token<'a>(&'a self, id: &'a str) -> StoreFuture<'a, bool> {
        let id = id.to_owned();
        let remove =
            move |db: &Connection| Ok(run(db, "DELETE FROM token WHERE id = ?", params![id])? > 0);
        self.writer.write(remove).boxed()
    }
}

fn of_hash(db: &Connection, hash: &str) -> Result<Option<KeptToken>, Error> {
    Ok(found(db, "WHERE hash = ?", params![hash])?.pop())
}

fn found(db: &Connection, which: &str, given: impl Params) -> Result<Vec<KeptToken>, Error> {
    let sql = format!("SELECT {TOKEN} FROM token {which}");
    let mut all = db.prepare_cached(&sql).map_err(failure)?;
    let all = all.query_map(given, token).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    Ok(all.map_err(failure)?.into_iter().flatten().collect())
}

/// `None`: an owner or a role unknown to this version.
fn token(row: &Row<'_>) -> rusqlite::Result<Option<KeptToken>> {
    let owner = Owner::of_word(&row.get::<_, String>(2)?);
    let role = AccessRole::of_word(&row.get::<_, String>(3)?);
    let (Some(owner), Some(role)) = (owner, role) else { return Ok(None) };
    Ok(Some(KeptToken {
        id: row.get(0)?,
        hash: row.get(1)?,
        owner,
        role,
        tools: parsed(row, 4)?,
        made: row.get(5)?,
        ends: row.get(6)?,
    }))
}
