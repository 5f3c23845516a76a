//! Unfinished deletions in the file.
//!
//! Entry: [`Deletions`] of [`Sqlite`]. **Never**: overwrites a later deletion with an earlier one.

use futures::FutureExt;
use rusqlite::{Connection, Row, params};

use super::{
    super::{Deletion, Deletions, ForgetFrom, StoreFuture},
    failure,
    rows::{json, parsed},
    store::Sqlite,
};
use crate::domain::{Owner, SessionId};

impl Deletions for Sqlite {
    fn put_deletion(&self, deletion: Deletion) -> StoreFuture<'_, ()> {
        let put = move |db: &Connection| {
            let sql = "INSERT INTO deletion (owner, player, session, until, names, asker, erased,
                 files) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                 ON CONFLICT DO UPDATE SET until = excluded.until, names = excluded.names,
                 asker = excluded.asker, erased = excluded.erased, files = excluded.files
                 WHERE excluded.until >= until";
            let Deletion { from, player, before, names, asker, erased, files, .. } = deletion;
            let (owner, session) = key(from);
            let (names, files) = (json(&names)?, json(&files)?);
            let given = params![owner, player, session, before, names, asker, erased, files];
            db.execute(sql, given).map(drop).map_err(failure)
        };
        self.writer.write(put).boxed()
    }

    fn deletions(&self) -> StoreFuture<'_, Vec<Deletion>> {
        let all = |db: &Connection| {
            let sql = "SELECT owner, player, session, until, names, asker, erased, files
                 FROM deletion ORDER BY until, owner, player, session";
            let mut all = db.prepare_cached(sql).map_err(failure)?;
            let all = all.query_map([], deletion).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            Ok(all.map_err(failure)?.into_iter().flatten().collect())
        };
        self.readers.read(all).boxed()
    }

    fn purge_removed(&self) -> StoreFuture<'_, ()> {
        self.checkpoint().boxed()
    }

    fn remove_deletion(&self, deletion: Deletion) -> StoreFuture<'_, ()> {
        let remove = move |db: &Connection| {
            let sql = "DELETE FROM deletion
                 WHERE owner = ? AND player = ? AND session = ? AND until <= ?";
            let Deletion { from, player, before, .. } = deletion;
            let (owner, session) = key(from);
            let given = params![owner, player, session, before];
            db.execute(sql, given).map(drop).map_err(failure)
        };
        async move {
            self.writer.write(remove).await?;
            self.checkpoint_if_free().await;
            Ok(())
        }
        .boxed()
    }
}

fn key(from: ForgetFrom) -> (String, String) {
    (from.owner.word(), from.session.map(|session| session.0).unwrap_or_default())
}

/// `None`: an owner unknown to this version.
fn deletion(row: &Row<'_>) -> rusqlite::Result<Option<Deletion>> {
    let Some(owner) = Owner::of_word(&row.get::<_, String>(0)?) else { return Ok(None) };
    let session = Some(row.get(2)?).filter(|session: &String| !session.is_empty());
    Ok(Some(Deletion {
        from: ForgetFrom { owner, session: session.map(SessionId) },
        player: row.get(1)?,
        before: row.get(3)?,
        names: parsed(row, 4)?,
        asker: row.get(5)?,
        erased: row.get(6)?,
        files: parsed(row, 7)?,
        named: false,
        lines: 0,
    }))
}
