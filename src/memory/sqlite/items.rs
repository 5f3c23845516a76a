//! Items and searches for them.
//!
//! Entry: [`Index`] of [`Sqlite`]. **Never**: keeps a vector of a changed text.

use std::sync::Arc;

use futures::FutureExt;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params, params_from_iter};

use super::{
    super::{
        Error, Index, Item, ItemFilter, ItemHit, ItemKind, ItemQuery, Scope, StoreFuture, Vector,
        VectorQuery, Viewer, text::words,
    },
    campaign, campaign_made, failure,
    rows::{Eyes, ITEM, item, json, limit, name_of, seen_by},
    store::Sqlite,
    vectors,
};

impl Index for Sqlite {
    fn put_items<'a>(&'a self, scope: &'a Scope, items: Vec<Item>) -> StoreFuture<'a, u64> {
        let key = scope.key();
        let work = move |db: &Connection| {
            let campaign = campaign_made(db, &key)?;
            let mut written = 0;
            for item in &items {
                written += u64::from(put(db, campaign, item)?);
            }
            Ok(written)
        };
        self.writer.write(work).boxed()
    }

    fn items<'a>(
        &'a self,
        scope: &'a Scope,
        filter: ItemFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Item>> {
        let key = scope.key();
        self.readers.read(move |db| items(db, &key, &filter, &viewer)).boxed()
    }

    fn put_vectors<'a>(
        &'a self,
        scope: &'a Scope,
        model: &'a str,
        vectors: Vec<Vector>,
    ) -> StoreFuture<'a, u64> {
        let (key, model) = (scope.key(), model.to_owned());
        self.writer.write(move |db| vectors::put(db, &key, &model, &vectors)).boxed()
    }

    fn nearest<'a>(
        &'a self,
        scope: &'a Scope,
        query: VectorQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<ItemHit>> {
        let (key, matrices) = (scope.key(), Arc::clone(&self.matrices));
        self.readers.read(move |db| vectors::nearest(db, &key, &query, &viewer, &matrices)).boxed()
    }

    fn search_items<'a>(
        &'a self,
        scope: &'a Scope,
        query: ItemQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<ItemHit>> {
        let key = scope.key();
        self.readers.read(move |db| search(db, &key, &query, &viewer)).boxed()
    }

    fn keep_vectors_of<'a>(&'a self, scope: &'a Scope, model: &'a str) -> StoreFuture<'a, u64> {
        let (key, model) = (scope.key(), model.to_owned());
        self.writer.write(move |db| vectors::keep(db, &key, &model)).boxed()
    }
}

fn put(db: &Connection, campaign: i64, item: &Item) -> Result<bool, Error> {
    let session = match &item.session {
        None => None,
        Some(key) => {
            let sql = "SELECT id FROM session WHERE campaign = ? AND key = ?";
            let id: Option<i64> = db
                .query_row(sql, params![campaign, key], |row| row.get(0))
                .optional()
                .map_err(failure)?;
            if id.is_none() || !is_whole(db, id, item.lines)? {
                return Ok(false);
            }
            id
        }
    };
    let sql = "DELETE FROM vector WHERE item IN (
                   SELECT id FROM item WHERE campaign = ? AND key = ? AND text <> ?)";
    db.execute(sql, params![campaign, item.id, item.text]).map_err(failure)?;
    let mut put = db
        .prepare_cached(
            "INSERT INTO item (campaign, key, kind, text, session, first, last, visibility,
                 seen_by, status, made)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (campaign, key) DO UPDATE SET
                 kind = excluded.kind, text = excluded.text, session = excluded.session,
                 first = excluded.first, last = excluded.last, visibility = excluded.visibility,
                 seen_by = excluded.seen_by, status = excluded.status, made = excluded.made
             RETURNING id",
        )
        .map_err(failure)?;
    let (first, last) = item.lines.unzip();
    let given = params![
        campaign,
        item.id,
        name_of(&item.kind)?,
        item.text,
        session,
        first,
        last,
        json(&item.visibility)?,
        seen_by(&item.visibility),
        name_of(&item.status)?,
        item.made,
    ];
    let id: i64 = put.query_row(given, |row| row.get(0)).map_err(failure)?;
    db.execute("DELETE FROM witness WHERE item = ?", [id]).map_err(failure)?;
    if let Some(session) = session {
        attest(db, id, session, item)?;
    }
    Ok(true)
}

fn is_whole(
    db: &Connection,
    session: Option<i64>,
    lines: Option<(u64, u64)>,
) -> Result<bool, Error> {
    let Some((first, last)) = lines else { return Ok(true) };
    let sql = "SELECT count(*) FROM line WHERE session = ? AND seq BETWEEN ? AND ? AND gone = 0";
    let there: u64 =
        db.query_row(sql, params![session, first, last], |row| row.get(0)).map_err(failure)?;
    Ok(first <= last && there == last - first + 1)
}

/// Records the people present at all lines of an item, and that a chunk contains them.
fn attest(db: &Connection, id: i64, session: i64, item: &Item) -> Result<(), Error> {
    let (first, last) = item.lines.unwrap_or((0, i64::MAX as u64));
    let mut witnesses = db
        .prepare_cached(
            "INSERT INTO witness (item, name)
             SELECT ?1, n.name FROM (
                 SELECT presence, count(*) AS lines FROM line
                 WHERE session = ?2 AND seq BETWEEN ?3 AND ?4 AND gone = 0 AND seen_by = '*'
                 GROUP BY presence
             ) heard JOIN present_npc n ON n.presence = heard.presence
             GROUP BY n.name HAVING sum(heard.lines) = (
                 SELECT count(*) FROM line
                 WHERE session = ?2 AND seq BETWEEN ?3 AND ?4 AND gone = 0)",
        )
        .map_err(failure)?;
    witnesses.execute(params![id, session, first, last]).map_err(failure)?;
    if item.kind == ItemKind::Chunk {
        let sql = "UPDATE line SET indexed = 1 WHERE session = ? AND seq BETWEEN ? AND ?";
        db.execute(sql, params![session, first, last]).map_err(failure)?;
    }
    Ok(())
}

fn items(
    db: &Connection,
    key: &str,
    filter: &ItemFilter,
    viewer: &Viewer,
) -> Result<Vec<Item>, Error> {
    let eyes = Eyes::from(viewer);
    let status = if matches!(viewer, Viewer::Dm) { "1" } else { eyes.counting() };
    let mut sql = format!(
        "SELECT {ITEM} FROM item i LEFT JOIN session s ON s.id = i.session
         WHERE i.campaign = ?2 AND {status} AND {}",
        eyes.item()
    );
    let mut given: Vec<Box<dyn ToSql>> = vec![Box::new(eyes.name), Box::new(campaign(db, key)?)];
    let mut when = |condition: &str, value: String| {
        given.push(Box::new(value));
        sql.push_str(&condition.replace("?_", &format!("?{}", given.len())));
    };
    if let Some(ids) = &filter.ids {
        when(" AND i.key IN (SELECT value FROM json_each(?_))", json(ids)?);
    }
    if !filter.kinds.is_empty() {
        when(" AND i.kind IN (SELECT value FROM json_each(?_))", json(&filter.kinds)?);
    }
    if let Some(status) = &filter.status {
        when(" AND i.status = ?_", name_of(status)?);
    }
    if let Some(session) = &filter.session {
        when(" AND s.key = ?_", session.clone());
    }
    if let Some(model) = &filter.without {
        when(
            " AND i.status <> 'rejected' AND NOT EXISTS (
                 SELECT 1 FROM vector v WHERE v.item = i.id AND v.model = ?_)",
            model.clone(),
        );
    }
    sql.push_str(&format!(" ORDER BY i.made, i.id LIMIT {}", limit(filter.limit)));
    let mut found = db.prepare_cached(&sql).map_err(failure)?;
    let found = found.query_map(params_from_iter(given), item);
    found.and_then(Iterator::collect).map_err(failure)
}

fn search(
    db: &Connection,
    key: &str,
    query: &ItemQuery,
    viewer: &Viewer,
) -> Result<Vec<ItemHit>, Error> {
    let words = words(&query.text);
    let campaign = campaign(db, key)?;
    if words.is_empty() || campaign < 0 {
        return Ok(Vec::new());
    }
    let eyes = Eyes::from(viewer);
    let sql = format!(
        "SELECT {ITEM}, -bm25(item_text, 0.0, 1.0) AS score
         FROM item_text CROSS JOIN item i ON i.id = item_text.rowid
         LEFT JOIN session s ON s.id = i.session
         WHERE item_text MATCH ?2 AND {} AND {} AND (?3 IS NULL OR s.key = ?3)
         AND (?4 = '[]' OR i.kind IN (SELECT value FROM json_each(?4)))
         ORDER BY score DESC, i.id DESC LIMIT ?5",
        eyes.counting(),
        eyes.item()
    );
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let given = params![
        eyes.name,
        matching(campaign, &words),
        query.session,
        json(&query.kinds)?,
        limit(query.limit),
    ];
    let mut found = db.prepare_cached(&sql).map_err(failure)?;
    let found = found.query_map(given, |row: &Row<'_>| {
        Ok(ItemHit { item: item(row)?, score: row.get("score")? })
    });
    found.and_then(Iterator::collect).map_err(failure)
}

/// Query for items of a campaign with any of `words`, which are letters and digits.
fn matching(campaign: i64, words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("campaign : \"c{campaign}\" AND text : ({})", words.join(" OR "))
}
